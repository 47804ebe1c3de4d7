/*
 * Modules and kernels of the public API: handles checked before use.
 *
 * A kernel may also be an act (accel/launch.h), which is on every device: it has a
 * module of its own, of no image.
 *
 * Owns adsmModule and adsmKernel. A module keeps its image: it is loaded on the
 * loading thread's device at once, and on another one when a part of a call
 * runs there; where that device is lost, on another one instead. Handles are
 * looked up by value, so that a stale or foreign handle is an error and not a
 * crash; who uses one holds its module, which lives until it is unloaded and
 * nobody holds it. What is known of a kernel is in its record (code/code.h),
 * which its module's image has. Does not launch.
 *
 * Lock: one for all, rank MODULE. Failures set the error detail. Thread: any, no
 * lock of that rank or later held. Signal: never.
 */
#ifndef ADSM_CALL_KERNEL_H
#define ADSM_CALL_KERNEL_H

#include "accel/accel.h"
#include "code/code.h"

enum { ADSM_KERNEL_PARAMETERS = ADSM_PARAMETERS_MOST };

/** What a launch needs to know, valid until adsm_kernel_release. */
struct adsm_kernel_view {
    adsmKernel *kernel; /* NULL: holds nothing */
    struct adsm_accel
        *accel;   /* where the module was loaded first, or instead */
    void *handle; /* the driver's, there */
    const char *name;
    adsmReach reach;
    struct adsm_layout layout; /* of its parameters, if anybody can tell */
    adsmModule *module;
    uint64_t serial;            /* of the module: no two have the same */
    struct adsm_speed *speed;   /* of its parts, on each device */
    const struct adsm_act *act; /* it is one; NULL: it is a kernel */
};

/** Bytes of parameter `index`, which the kernel has; 0: nobody can tell. */
static inline unsigned
adsm_kernel_parameter(const struct adsm_kernel_view *kernel, int index)
{
    return kernel->layout.count < 0 ? 0 : kernel->layout.at[index].bytes;
}

/** Load `image` (a path when bytes is 0). Return: ADSM_OK; ADSM_E_NOT_FOUND,
 *  ADSM_E_INVALID: the file; ADSM_E_NOMEM; the device's refusal */
int adsm_module_load(struct adsm_accel *accel, const void *image, size_t bytes,
                     adsmModule **module);

/** Its handles are none any more; it is unloaded everywhere, by the last who
 *  holds one of its kernels if there are such. */
int adsm_module_unload(adsmModule *module);

/** Look up a kernel; the same name and reach gives the same handle. */
int adsm_kernel_get(adsmModule *module, const char *name, adsmReach reach,
                    adsmKernel **kernel);

/** A kernel that is an act, which lives until adsm_kernel_end_act has returned and
 *  nobody holds the kernel. `done`, where it is not NULL, is called with the act
 *  then. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_kernel_of_act(const struct adsm_act *act,
                       void (*done)(const struct adsm_act *act),
                       adsmKernel **kernel);

/** Its handle is none any more. ADSM_E_INVALID: it is none of an act. */
int adsm_kernel_end_act(const adsmKernel *kernel);

/** Describe a handle and hold its module; ADSM_E_INVALID when it is none (any
 *  more): then nothing is held. */
int adsm_kernel_hold(const adsmKernel *kernel, struct adsm_kernel_view *view);

/** Nothing of the view is used any more. */
void adsm_kernel_release(const struct adsm_kernel_view *view);

/**
 * The driver's handle of a kernel on `accel`, where its module is loaded if it
 * is not yet.
 *
 * Return: ADSM_OK; the device's refusal, with a detail that names the device
 */
int adsm_kernel_on(const struct adsm_kernel_view *view,
                   struct adsm_accel *accel, void **handle);

#endif

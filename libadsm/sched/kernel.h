/*
 * Modules and kernels of the public API: handles checked before use.
 *
 * Owns adsmModule and adsmKernel. A module is loaded into the accel of the
 * loading thread's device. Handles are looked up by value, so that a stale or
 * foreign handle is an error and not a crash. Lock: rank MODULE.
 */
#ifndef ADSM_SCHED_KERNEL_H
#define ADSM_SCHED_KERNEL_H

#include "accel/accel.h"

enum { ADSM_KERNEL_PARAMETERS = 256 };

/** What a launch needs to know; copied out so that no lock is held. */
struct adsm_kernel_view {
    struct adsm_accel *accel;
    void *handle; /* the driver's */
    const char *name;
    adsmReach reach;
    int parameters; /* -1: the driver cannot tell */
    const uint16_t *parameter_bytes;
};

/** Load `image` (a path when bytes is 0). Failures set the error detail. */
int adsm_module_load(struct adsm_accel *accel, const void *image, size_t bytes,
                     adsmModule **module);
int adsm_module_unload(adsmModule *module);

/** Look up a kernel; the same name and reach gives the same handle. */
int adsm_kernel_get(adsmModule *module, const char *name, adsmReach reach,
                    adsmKernel **kernel);

/** Describe a handle; ADSM_E_INVALID when it is none (any more). */
int adsm_kernel_view(const adsmKernel *kernel, struct adsm_kernel_view *view);

#endif

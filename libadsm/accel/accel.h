/*
 * Accelerator layer: what the layers above may ask of a device.
 *
 * One back end, the CUDA Driver API found by dlopen (accel/cuda/ops.c); another
 * accelerator is another `struct adsm_accel_ops`. An `accel` is one context of
 * one device: the primary context for the library's own API, the program's
 * context when CUDA calls of an unmodified program are served. Each has lanes:
 * streams on which the runtime itself works (launch, upload, download) and the
 * streams of the program that it was told about.
 *
 * Nothing here knows objects, blocks or protocols. Preconditions of every
 * function, not checked again below: pointers are not NULL, the accel is live.
 * Contexts are never created on the fault path.
 */
#ifndef ADSM_ACCEL_ACCEL_H
#define ADSM_ACCEL_ACCEL_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Device address: a type of its own so that it never mixes with host ones. */
struct adsm_daddr {
    uint64_t at;
};

static inline struct adsm_daddr adsm_daddr_add(struct adsm_daddr base,
                                               uint64_t offset)
{
    return (struct adsm_daddr){base.at + offset};
}

struct adsm_accel; /* opaque above this layer */

/** A stream as the driver knows it: CUstream in the CUDA back end. */
typedef void *adsm_stream;

/**
 * A point in the work of one lane of one accel: reached when all before it has
 * ended. Accels are never freed, so a fence may be kept as long as one likes:
 * those of an accel that was forgotten are reached.
 */
struct adsm_fence {
    struct adsm_accel *accel; /* NULL, or seq 0: nothing to wait for */
    uint32_t lane;            /* index in the accel */
    uint64_t seq;
};

/**
 * Find the driver, initialise it, count devices. Idempotent, thread-safe.
 *
 * Return: ADSM_OK; ADSM_E_NO_DEVICE (adsm_accel_why says what was tried)
 * Thread: any. Signal: never
 */
int adsm_accel_init(void) ADSM_MUST_CHECK;

/** Why the last adsm_accel_init failed, one sentence; "" when it did not. Thread:
 *  any, behind that. Signal: any handler */
const char *adsm_accel_why(void);

/** Number of visible devices (option ADSM_DEVICES applied); 0 before init.
 *  Thread: any. Signal: any handler */
int adsm_accel_devices(void);

/** Describe a device for adsm-info; name is at most `name_bytes` long. Thread:
 *  any. Signal: never */
int adsm_accel_describe(int device, char *name, size_t name_bytes,
                        size_t *total_bytes, size_t *free_bytes);

/**
 * The accel of a device's primary context; created at the first call.
 *
 * Return: ADSM_OK; ADSM_E_NO_DEVICE; ADSM_E_INVALID (no such device, text
 *         names the range); ADSM_E_DEVICE
 * Thread: any; takes the ACCEL lock. Signal: never
 */
int adsm_accel_open(int device, struct adsm_accel **accel) ADSM_MUST_CHECK;

/**
 * The accel of the CUDA context that is current in the calling thread
 * (interposition); created at the first call for that context.
 *
 * Thread: any; takes the ACCEL lock. Signal: never
 */
int adsm_accel_of_current(struct adsm_accel **accel) ADSM_MUST_CHECK;

/** The accel of a driver context handle, or NULL when none was made for it.
 *  Thread: any. Signal: any handler */
struct adsm_accel *adsm_accel_of_context(void *context);

/**
 * The accel's context is about to be destroyed: no look-up finds the accel any
 * more, since another context may get the same handle, and a hold of ours on a
 * primary context is given up. `attach` when it was not destroyed after all.
 *
 * Return: the context's handle
 * Thread: any. Signal: never
 */
void *adsm_accel_detach(struct adsm_accel *accel);
void adsm_accel_attach(struct adsm_accel *accel, void *context);

/** The context has been destroyed, and its work with it: waits end at once,
 *  nothing is asked of it any more. Thread: any. Signal: any handler */
void adsm_accel_end(struct adsm_accel *accel);

/** Drop all an accel holds; waits for its lanes where the context lives. Nobody
 *  may use it but to ask for fences. Thread: one; takes the ACCEL lock. Signal:
 *  never */
void adsm_accel_forget(struct adsm_accel *accel);

/** Memory of the accel's device, as the driver says. Thread: any. Signal:
 *  never */
int adsm_accel_memory(struct adsm_accel *accel, size_t *free_bytes,
                      size_t *total_bytes);

/** The driver's handle of the accel's context; NULL once that was detached.
 *  Thread: any. Signal: any handler */
void *adsm_accel_context(const struct adsm_accel *accel);

/** Index of the accel's device among the visible ones. Thread: any. Signal: any
 *  handler */
int adsm_accel_device(const struct adsm_accel *accel);

/** A number of the accel's own, small: they are numbered as they are made.
 *  Thread: any. Signal: any handler */
uint32_t adsm_accel_index(const struct adsm_accel *accel);

/** Device lost or context dead (sticky): ADSM_OK, ADSM_E_DEVICE(_LOST). Thread:
 *  any. Signal: any handler */
int adsm_accel_health(const struct adsm_accel *accel);

/** Text of the last driver error seen by the calling thread in this layer.
 *  Thread: any. Signal: any handler */
const char *adsm_accel_error_text(void);

/* ---- lanes and fences (accel/lane.c) ----------------------------------- */

/** The runtime's own launch stream, for adsmLaunch. Thread: any. Signal: any
 *  handler */
adsm_stream adsm_accel_launch_stream(struct adsm_accel *accel);

/**
 * Work was just submitted on `stream` (launch stream or one of the program's,
 * 0 = legacy default). Cheap: a mark; the event is recorded when somebody has
 * to wait, except where the stream handle means something else in another
 * thread (per-thread default stream), which records at once.
 *
 * Thread: any. Signal: fault path
 */
void adsm_lane_note(struct adsm_accel *accel, adsm_stream stream,
                    bool per_thread);

/** The program destroys `stream`: settle its lane first. Thread: any. Signal:
 *  never */
void adsm_lane_retire(struct adsm_accel *accel, adsm_stream stream);

/** Record a fence behind all work submitted so far on a stream of the accel.
 *  Thread: any. Signal: fault path */
int adsm_fence_record(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_fence *fence) ADSM_MUST_CHECK;

/**
 * Block until the fence is reached. ADSM_OK, or the device's error.
 * Thread: any. Signal: fault path
 */
int adsm_fence_wait(struct adsm_fence fence);

/** Whether the fence is reached, without blocking; true also where the device
 *  is dead, as the wait says. Thread: any. Signal: fault path */
bool adsm_fence_done(struct adsm_fence fence);

/** Record the fence's event now, so that who waits for it later does not wait
 *  for what is submitted to its lane meanwhile. Where none can be recorded he
 *  does. Thread: any. Signal: fault path */
void adsm_fence_mark(struct adsm_fence fence);

/**
 * Make later work on `stream` wait for the fence (no CPU wait).
 *
 * @accel @stream  who waits: a stream of this accel
 * @fence          of any accel, also another device's
 * Return: ADSM_OK; an error of either device
 * Thread: any. Signal: fault path
 */
int adsm_fence_order(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_fence fence) ADSM_MUST_CHECK;

/**
 * Block until all work noted on any lane but the copy lanes is done
 * (what an object that every kernel may touch has to wait for).
 * Free when nothing was noted since the last time. Thread: any. Signal: fault
 * path
 */
int adsm_lane_wait_noted(struct adsm_accel *accel);

/**
 * Wait for all that the lanes were given so far, in slices (base/slices.h)
 * between which handlers of the program run.
 *
 * Return: true when it is over; false: where no handler can run, or it cannot
 *         be known; the driver may be asked to wait
 * Thread: any. Signal: never
 */
bool adsm_accel_await(struct adsm_accel *accel);

/** Wait for everything on the context (cuCtxSynchronize). Thread: any. Signal:
 *  never */
int adsm_accel_synchronize(struct adsm_accel *accel);

/* ---- code (accel/cuda/code.c); launches are in accel/launch.h ----------
 * Thread: any. Signal: never. */

/** Load an image (PTX text, cubin, fat binary); `*module` is the handle.
 *  ADSM_E_INVALID with the driver's log in adsm_accel_error_text. */
int adsm_accel_module_load(struct adsm_accel *accel, const void *image,
                           size_t bytes, void **module) ADSM_MUST_CHECK;
int adsm_accel_module_unload(struct adsm_accel *accel, void *module);
int adsm_accel_kernel_get(struct adsm_accel *accel, void *module,
                          const char *name, void **kernel) ADSM_MUST_CHECK;

/** Parameter `index`: offset and size in bytes; ADSM_E_NOT_FOUND past the
 *  last one; ADSM_E_UNSUPPORTED when the driver cannot tell. */
int adsm_accel_kernel_parameter(struct adsm_accel *accel, void *kernel,
                                unsigned index, size_t *offset,
                                size_t *bytes) ADSM_MUST_CHECK;

#endif

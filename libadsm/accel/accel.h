/*
 * Accelerator layer: what the layers above may ask of a device. With it come the
 * words of the layer (types.h), the order of its work (fence.h) and the text of
 * the last failure (error.h); what is moved and what memory there is have headers
 * of their own.
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

#include "accel/error.h"
#include "accel/fence.h"
#include "accel/types.h"

struct adsm_accel_ops;

/** Use another back end than CUDA: unit tests bring a small one. Before the
 *  first adsm_accel_init. Thread: the only one. Signal: never */
void adsm_accel_replace(const struct adsm_accel_ops *other);

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

/**
 * The accel whose memory lies at a device address, whoever allocated it, and the
 * allocation; the accel is created at the first call for its context. Memory
 * that is no context's counts as the calling thread's, where that uses the same
 * device, or the primary context's.
 *
 * Return: ADSM_OK; ADSM_E_NOT_FOUND: the device alone has none there;
 *         ADSM_E_DEVICE
 * Thread: any; takes the ACCEL lock. Signal: fault path, where the interrupted
 *         code is not the driver's or malloc's
 */
int adsm_accel_of_memory(struct adsm_daddr at, struct adsm_accel **accel,
                         struct adsm_memory *memory) ADSM_MUST_CHECK;

/**
 * Wait for all work of the accel's context, whether or not it was noted. The
 * driver is asked now and then, not told to wait, for what was noted and for what
 * streams have that the default stream waits for: who gives way is not inside the
 * driver.
 *
 * @gives_way  asked in between: end the wait?
 * @over       gets whether it was not ended so
 * Return: ADSM_OK; the device's error
 * Thread: any. Signal: fault path
 */
int adsm_accel_wait(struct adsm_accel *accel, bool (*gives_way)(void),
                    bool *over) ADSM_MUST_CHECK;

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

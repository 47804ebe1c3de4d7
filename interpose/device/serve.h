/*
 * Whether there is anything to keep coherent, on which accelerator, and where the
 * program's addresses lie.
 */
#ifndef INTERPOSE_DEVICE_SERVE_H
#define INTERPOSE_DEVICE_SERVE_H

#include "accel/accel.h"
#include "interpose/plain.h"

/** Whether a hook has anything to do: objects exist, and the call is not the
 *  driver's own. */
bool device_is_serving(void);

/** Is the runtime up, or comes up now? What kept it from that is said once. */
bool device_is_up(void);

/**
 * The accel of the calling thread's context, which there is, for an allocation:
 * brings the runtime up at the first call. NULL: hand the call to the driver (no
 * runtime, or a strategy that cannot share addresses; said once).
 *
 * Return: ADSM_E_NOMEM: the host has no memory or no mappings for it just now,
 *         and memory of the driver's own would not be shared
 */
int device_serve(struct adsm_accel **accel);

/** Is any byte of the range in an object? */
static inline bool device_is_shared(uint64_t address, size_t bytes)
{
    return !hook_is_apart((const void *)address, bytes);
}

/** Is it an address of the runtime's: in an object, or in what it keeps device
 *  memory for? There the driver knows more than the program may hear of; but what
 *  is adopted it knows as the program does. */
bool device_is_ours(uint64_t address);

/** Device address of a shared address; any other address unchanged. */
uint64_t device_address(uint64_t address);

/** A context is about to be destroyed; it was. The objects go last: the driver
 *  stops the kernels and transfers that use them, and nobody else can. */
void device_part(struct adsm_accel *accel);
void device_parted(struct adsm_accel *accel);

#endif

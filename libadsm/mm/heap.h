/*
 * Allocation of shared memory: objects and, below ADSM_SLAB_MAX, slab slots.
 *
 * What adsmAlloc and the interposed cuMemAlloc share. Addresses returned are
 * host addresses A (equal to the device address except under translate).
 */
#ifndef ADSM_MM_HEAP_H
#define ADSM_MM_HEAP_H

#include "mm/object.h"

/** Who asks, which decides the first state of the blocks. */
enum adsm_origin {
    ADSM_FROM_API,      /* the protocol's first state                        */
    ADSM_FROM_CUDA,     /* the same, but never DIRTY: may stay on the device  */
    ADSM_FROM_SAFE,     /* as API, with an address of its own on the device  */
    ADSM_FROM_HOMELESS, /* as API, without memory of its own on any device */
};

/** Allocate; 512-byte aligned. Grows the rolling size (paper, section 4.3). */
int adsm_heap_alloc(struct adsm_accel *accel, size_t bytes,
                    enum adsm_origin origin, void **host);

/** Free exactly what was allocated; ADSM_E_NOT_SHARED for anything else
 *  (foreign, interior, freed), which changes nothing. */
int adsm_heap_free(void *host);

/** Base and size of the allocation that contains `address`. */
int adsm_heap_range(const void *address, void **base, size_t *bytes);

/** Device address of `address`; ADSM_E_NOT_SHARED; ADSM_E_UNSUPPORTED for an
 *  array without a home. Any handler. */
int adsm_heap_device(const void *address, struct adsm_daddr *device);

/** The accel's context is about to be destroyed: give up the host addresses
 *  that the driver takes back with it. */
void adsm_heap_withdraw(struct adsm_accel *accel);

/** Free everything of an accel whose context has gone. */
void adsm_heap_forget(struct adsm_accel *accel);

/** Number of live allocations. */
size_t adsm_heap_count(void);

#endif

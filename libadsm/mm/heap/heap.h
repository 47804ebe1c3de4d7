/*
 * Allocation of shared memory: objects and, below ADSM_SLAB_MAX, slab slots.
 *
 * What adsmAlloc and the interposed cuMemAlloc share. Addresses returned are
 * host addresses A (equal to the device address except under translate). Owns
 * the number of allocations; what they are is object.h's and slab.h's.
 *
 * Lock: none of its own. Thread: any, no lock of rank GATE or later held, where
 * nothing else is said. Signal: never, where nothing else is said.
 */
#ifndef ADSM_MM_HEAP_H
#define ADSM_MM_HEAP_H

#include "mm/object/kind.h"

/**
 * Allocate; 512-byte aligned. Grows the rolling size (paper, section 4.3).
 *
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM; ADSM_E_NOMEM; ADSM_E_LIMIT; a device's
 *         error: nothing was allocated
 */
int adsm_heap_alloc(struct adsm_accel *accel, size_t bytes,
                    const struct adsm_kind *kind, void **host) ADSM_MUST_CHECK;

/**
 * Memory of the program's becomes an object (adsm_object_give), until
 * adsm_heap_free.
 *
 * Return: as there; ADSM_E_INVALID also where some of it is shared
 */
int adsm_heap_give(struct adsm_accel *accel, void *host, size_t bytes,
                   bool homeless, const char **why) ADSM_MUST_CHECK;

/** Bytes of such an object that begins at an address; 0: there is none. */
size_t adsm_heap_given(const void *address);

/** Memory that the program allocated by itself becomes an object, as
 *  adsm_object_adopt has it. Signal: as adsm_address_find */
int adsm_heap_adopt(struct adsm_accel *accel, const struct adsm_span *span,
                    size_t bytes, size_t touch, bool waited) ADSM_MUST_CHECK;

/** The adopted object around an address is one no more. `keep`: its memory goes
 *  on, and has every byte then. Return: ADSM_OK; ADSM_E_NOT_SHARED: it was
 *  none */
int adsm_heap_disown(const void *host, bool keep);

/**
 * Free exactly what was allocated, after the work that uses it.
 *
 * Return: ADSM_OK; ADSM_E_NOT_SHARED for anything else (foreign, interior,
 *         freed), which changes nothing; a device's error: it is freed all the
 *         same
 */
int adsm_heap_free(void *host);

/** Base and size of the allocation that contains `address`. Return: ADSM_OK;
 *  ADSM_E_NOT_SHARED. Thread: any that holds no lock */
int adsm_heap_range(const void *address, void **base,
                    size_t *bytes) ADSM_MUST_CHECK;

/** Device address of `address`. Return: ADSM_OK; ADSM_E_NOT_SHARED;
 *  ADSM_E_UNSUPPORTED for an array without a home. Thread: any, no lock of an
 *  object or of a later rank held. Signal: fault path */
int adsm_heap_device(const void *address,
                     struct adsm_daddr *device) ADSM_MUST_CHECK;

/** The accel's context is about to be destroyed: give up the host addresses
 *  that the driver takes back with it. */
void adsm_heap_withdraw(struct adsm_accel *accel);

/** Free everything of an accel whose context has gone, and that nobody uses. */
void adsm_heap_forget(struct adsm_accel *accel);

/** Number of live allocations that are kept coherent. Thread: any. Signal: any handler */
size_t adsm_heap_count(void);

#endif

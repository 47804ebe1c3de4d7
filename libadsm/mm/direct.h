/*
 * Memory that the host and a device share (address strategy direct): what of it
 * is allocated, by address.
 *
 * There is nothing to keep coherent, so the engine does not hear of it: it is in
 * no object and no list, system calls and copies use it as plain memory, and a
 * call visits none of it. What remains of coherence is when to look: the host
 * does behind adsmSync, a kernel sees what was stored before its call.
 *
 * Small allocations lie in chunks, since a driver locks whole pages for each.
 *
 * Lock: one for all, rank OBJECT_LIST. Thread: any. Signal: never, where nothing
 * else is said.
 */
#ifndef ADSM_MM_DIRECT_H
#define ADSM_MM_DIRECT_H

#include "accel/address.h"

#include <stdatomic.h>

/** An allocation. */
struct adsm_direct {
    uint8_t *host;
    size_t bytes; /* as allocated */
    struct adsm_accel *accel;
    uint64_t id; /* no other has had it */
};

/** How many there are, so that who has none pays a load. */
extern _Atomic size_t adsm_direct_count;

/** Does the accel share the host's memory? Thread: any, no lock held */
bool adsm_direct_serves(struct adsm_accel *accel);

/**
 * Allocate; aligned to 512 bytes.
 *
 * Return: ADSM_OK; ADSM_E_UNSUPPORTED: ADSM_ADDRESS asks for what the device is
 *         not; ADSM_E_DEVICE_NOMEM; ADSM_E_NOMEM; a device's error
 */
int adsm_direct_alloc(struct adsm_accel *accel, size_t bytes,
                      void **host) ADSM_MUST_CHECK;

/** Free what begins at `host`, after all work of its accel. Return: ADSM_OK;
 *  ADSM_E_NOT_SHARED: nothing does; a device's error: it is freed all the same */
int adsm_direct_free(void *host);

/** The allocation around an address, if there is one. */
bool adsm_direct_look(const void *address, struct adsm_direct *found);

static inline bool adsm_direct_find(const void *address,
                                    struct adsm_direct *found)
{
    return atomic_load_explicit(&adsm_direct_count, memory_order_acquire) > 0 &&
           adsm_direct_look(address, found);
}

/** Is it in one? */
static inline bool adsm_direct_has(const void *address)
{
    struct adsm_direct found;
    return adsm_direct_find(address, &found);
}

/** As adsm_direct_has, and where the driver has memory for others in a chunk. */
bool adsm_direct_is_ours(const void *address);

/** The accel's context has gone, and its memory with it. */
void adsm_direct_forget(struct adsm_accel *accel);

/** In the child of a fork, which has none of it. Thread: the only one */
void adsm_direct_drop(void);

#endif

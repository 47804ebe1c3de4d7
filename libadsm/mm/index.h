/*
 * Address to object: a two-level radix table over 2 MiB chunks.
 *
 * Readers take no lock and allocate nothing, so the fault path and every
 * interposed libc call may look up; an address that is not ours costs two
 * loads. An object owns whole chunks of host addresses.
 */
#ifndef ADSM_MM_INDEX_H
#define ADSM_MM_INDEX_H

#include "mm/object.h"

enum { ADSM_CHUNK_SHIFT = 21, ADSM_INDEX_BITS = 13 };

/* [47..34] top, [33..21] leaf: 2^13 leaves of 16 GiB each. */
extern _Atomic(struct adsm_object *)
    *_Atomic adsm_index_top[1 << ADSM_INDEX_BITS];

/**
 * Object whose host range contains `address`, or NULL.
 *
 * The object may be freed at any moment unless the caller prevents it; to act
 * on it, use adsm_index_acquire.
 * Signal: any handler
 */
static inline struct adsm_object *adsm_index_find(const void *address)
{
    uintptr_t a = (uintptr_t)address >> ADSM_CHUNK_SHIFT;
    if (a >> (2 * ADSM_INDEX_BITS))
        return NULL;
    _Atomic(struct adsm_object *) *leaf = atomic_load_explicit(
        &adsm_index_top[a >> ADSM_INDEX_BITS], memory_order_acquire);
    if (!leaf)
        return NULL;
    return atomic_load_explicit(&leaf[a & ((1 << ADSM_INDEX_BITS) - 1)],
                                memory_order_acquire);
}

/**
 * As adsm_index_find, and hold the object's lock shared: it stays alive until
 * adsm_rwlock_release_shared(&object->lock). NULL when the address is not
 * inside a live object (past the end of the last block counts as not inside).
 * Signal: fault path
 */
struct adsm_object *adsm_index_acquire(const void *address);

/** Enter or remove all chunks of an object. ADSM_OK, ADSM_E_NOMEM. */
int adsm_index_insert(struct adsm_object *object);
void adsm_index_remove(struct adsm_object *object);

/** Empty it, in the child of a fork. Thread: the only one. Signal: never */
void adsm_index_forget(void);

#endif

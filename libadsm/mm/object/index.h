/*
 * Address to object: a two-level radix table over 2 MiB tracts, and a table of
 * pages for each tract that several objects share.
 *
 * Readers take no lock and allocate nothing, so the fault path and every
 * interposed libc call may look up; an address that is not ours costs two
 * loads. An object owns whole pages of host addresses. A table stays until one
 * object owns the whole tract.
 */
#ifndef ADSM_MM_INDEX_H
#define ADSM_MM_INDEX_H

#include "mm/object/object.h"

enum {
    ADSM_TRACT_SHIFT = 21,
    ADSM_INDEX_BITS = 13,
    ADSM_INDEX_SHIFT = ADSM_TRACT_SHIFT + ADSM_INDEX_BITS,
    ADSM_ADDRESS_BITS = ADSM_INDEX_SHIFT + ADSM_INDEX_BITS,
    ADSM_PAGE_SHIFT = 12,
    ADSM_TRACT_PAGES = 1 << (ADSM_TRACT_SHIFT - ADSM_PAGE_SHIFT),
};

/** The objects of a shared tract, by page. */
struct adsm_index_pages {
    void *pool_link; /* the pool's; stale readers look at the pages          */
    _Atomic(struct adsm_object *) page[ADSM_TRACT_PAGES];
};

/** A tract: the object that owns all of it, 0, or a table of its pages, which
 *  the lowest bit tells. */
typedef _Atomic uintptr_t adsm_index_tract;

enum { ADSM_INDEX_SHARED = 1 };

/* [46..34] top, [33..21] leaf: 2^13 leaves of 16 GiB each. On pages of its own,
 * which a child gets empty (adsm_index_expect_fork). */
extern adsm_index_tract *_Atomic adsm_index_top[1 << ADSM_INDEX_BITS];

/** Entry of the tract around `address`; NULL when no leaf is there. */
static inline adsm_index_tract *adsm_index_at(uintptr_t address)
{
    if (address >> ADSM_ADDRESS_BITS)
        return NULL;
    adsm_index_tract *leaf = atomic_load_explicit(
        &adsm_index_top[address >> ADSM_INDEX_SHIFT], memory_order_acquire);
    if (!leaf)
        return NULL;
    return &leaf[address >> ADSM_TRACT_SHIFT & ((1 << ADSM_INDEX_BITS) - 1)];
}

/**
 * Object whose host range contains `address`, or NULL.
 *
 * The object may be freed at any moment unless the caller prevents it; to act
 * on it, use adsm_index_acquire.
 * Signal: any handler
 */
static inline struct adsm_object *adsm_index_find(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    adsm_index_tract *entry = adsm_index_at(a);
    if (!entry)
        return NULL;
    uintptr_t tract = atomic_load_explicit(entry, memory_order_acquire);
    if (!(tract & ADSM_INDEX_SHARED))
        return (struct adsm_object *)tract;
    struct adsm_index_pages *pages =
        (struct adsm_index_pages *)(tract - ADSM_INDEX_SHARED);
    return atomic_load_explicit(
        &pages->page[a >> ADSM_PAGE_SHIFT & (ADSM_TRACT_PAGES - 1)],
        memory_order_acquire);
}

/**
 * The next address behind `address` for which adsm_index_find may answer
 * otherwise: how to walk a range of any length.
 *
 * Return: 0 when there is none
 * Signal: any handler
 */
uintptr_t adsm_index_border(uintptr_t address);

/**
 * As adsm_index_find, and hold the object's lock shared: it stays alive until
 * adsm_rwlock_release_shared(&object->lock). NULL when the address is not
 * inside a live object (past the end of the last block counts as not inside).
 * Signal: fault path
 */
struct adsm_object *adsm_index_acquire(const void *address);

/** The same with the lock held exclusively, until adsm_rwlock_release.
 *  Thread: any; holds no lock of an object. Signal: fault path */
struct adsm_object *adsm_index_acquire_alone(const void *address);

/** How many objects have come so far: what was found to be shared by nobody, or
 *  by one, is so as long as that stands still. Thread: any. Signal: any
 *  handler */
uint64_t adsm_index_count(void);

/** Enter or remove all pages of an object's span. ADSM_OK, ADSM_E_NOMEM.
 *  Thread: any; the object's lock is held exclusively. Signal: never */
int adsm_index_insert(struct adsm_object *object) ADSM_MUST_CHECK;
void adsm_index_remove(struct adsm_object *object);

/**
 * Have it empty in every child that is a copy of this process, also in those
 * that no handler of pthread_atfork sees (clone without CLONE_VM). Where the
 * system cannot do that, adsm_index_forget empties it.
 *
 * Thread: one. Signal: never
 */
void adsm_index_expect_fork(void);

/** Empty it, in the child of a fork. Thread: the only one. Signal: never */
void adsm_index_forget(void);

#endif

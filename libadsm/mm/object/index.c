/*
 * The radix table. Leaves and tables of pages are mapped once and never
 * unmapped, so a reader that holds a pointer to one is always right to follow
 * it: in a table that has gone to another tract meanwhile it finds an object
 * that does not contain its address. Writers are not serialised here: objects
 * own their pages, and a leaf or a table is installed by compare-and-swap.
 */
#include "mm/object/index.h"

#include "base/pool.h"
#include "base/system.h"

#include <sys/mman.h>

#define LEAF_ENTRIES ((size_t)1 << ADSM_INDEX_BITS)
#define LEAF_BYTES   (LEAF_ENTRIES * sizeof(adsm_index_tract))
#define TRACT_BYTES  ((uintptr_t)1 << ADSM_TRACT_SHIFT)
#define PAGE_BYTES   ((uintptr_t)1 << ADSM_PAGE_SHIFT)

adsm_index_tract *_Atomic adsm_index_top[1 << ADSM_INDEX_BITS]
    __attribute__((aligned(4096)));

static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_index_pages), 64);

/* Entry of the tract around `address`, its leaf mapped when it is missing;
 * NULL when memory is short. */
static adsm_index_tract *entry_for(uintptr_t address)
{
    adsm_index_tract *entry = adsm_index_at(address);
    if (entry)
        return entry;
    adsm_index_tract *_Atomic *slot =
        &adsm_index_top[address >> ADSM_INDEX_SHIFT];
    adsm_index_tract *none = NULL;
    void *fresh =
        adsm_system_mmap(NULL, LEAF_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    /* Release: a reader that sees the leaf sees it empty. */
    if (!atomic_compare_exchange_strong_explicit(
            slot, &none, fresh, memory_order_acq_rel, memory_order_acquire))
        adsm_system_munmap(fresh, LEAF_BYTES);
    return adsm_index_at(address);
}

static struct adsm_index_pages *pages_in(uintptr_t tract)
{
    return tract & ADSM_INDEX_SHARED
               ? (struct adsm_index_pages *)(tract - ADSM_INDEX_SHARED)
               : NULL;
}

/* Give the tract a table of its pages. False when memory is short. */
static bool share(adsm_index_tract *entry)
{
    uintptr_t empty = 0;
    if (pages_in(atomic_load_explicit(entry, memory_order_acquire)))
        return true;
    struct adsm_index_pages *fresh = adsm_pool_get(&pool);
    if (!fresh)
        return false;
    for (size_t i = 0; i < ADSM_TRACT_PAGES; i++)
        atomic_store_explicit(&fresh->page[i], NULL, memory_order_relaxed);
    /* Release: a reader that sees the table sees it empty. */
    if (!atomic_compare_exchange_strong_explicit(
            entry, &empty, (uintptr_t)fresh + ADSM_INDEX_SHARED,
            memory_order_acq_rel, memory_order_acquire))
        adsm_pool_put(&pool, fresh);
    return true;
}

/* The part of [at, end) in the tract of `at`: its bytes. */
static uintptr_t part(uintptr_t at, uintptr_t end)
{
    uintptr_t next = (at | (TRACT_BYTES - 1)) + 1;
    return (next < end ? next : end) - at;
}

/* Enter `object`, or NULL, for the pages of [at, at + bytes) in one tract. */
static void store(uintptr_t at, uintptr_t bytes, struct adsm_object *object)
{
    adsm_index_tract *entry = adsm_index_at(at);
    /* Release: publishes the object's fields to lock-free readers. */
    if (bytes == TRACT_BYTES) {
        uintptr_t old = atomic_exchange_explicit(entry, (uintptr_t)object,
                                                 memory_order_acq_rel);
        adsm_pool_put(&pool, pages_in(old));
        return;
    }
    struct adsm_index_pages *pages =
        pages_in(atomic_load_explicit(entry, memory_order_acquire));
    size_t first = at >> ADSM_PAGE_SHIFT & (ADSM_TRACT_PAGES - 1);
    size_t end = first + (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    for (size_t i = first; i < end; i++)
        atomic_store_explicit(&pages->page[i], object, memory_order_release);
}

static _Atomic uint64_t inserted;

uint64_t adsm_index_count(void)
{
    return atomic_load_explicit(&inserted, memory_order_acquire);
}

int adsm_index_insert(struct adsm_object *object)
{
    uintptr_t first = (uintptr_t)object->host;
    uintptr_t end = first + object->span.bytes;
    if ((end - 1) >> ADSM_ADDRESS_BITS)
        return ADSM_E_LIMIT;
    for (uintptr_t at = first; at < end; at += part(at, end)) {
        adsm_index_tract *entry = entry_for(at);
        if (!entry || (part(at, end) < TRACT_BYTES && !share(entry)))
            return ADSM_E_NOMEM;
    }
    for (uintptr_t at = first; at < end; at += part(at, end))
        store(at, part(at, end), object);
    atomic_fetch_add(&inserted, 1);
    return ADSM_OK;
}

void adsm_index_remove(struct adsm_object *object)
{
    uintptr_t first = (uintptr_t)object->host;
    uintptr_t end = first + object->span.bytes;
    for (uintptr_t at = first; at < end; at += part(at, end))
        store(at, part(at, end), NULL);
}

uintptr_t adsm_index_border(uintptr_t address)
{
    adsm_index_tract *entry = adsm_index_at(address);
    int shift = ADSM_TRACT_SHIFT;
    if (address >> ADSM_ADDRESS_BITS)
        return 0;
    if (!entry)
        shift = ADSM_INDEX_SHIFT;
    else if (pages_in(atomic_load_explicit(entry, memory_order_acquire)))
        shift = ADSM_PAGE_SHIFT;
    return ((address >> shift) + 1) << shift;
}

void adsm_index_expect_fork(void)
{
    (void)adsm_system_madvise((void *)adsm_index_top, sizeof adsm_index_top,
                              MADV_WIPEONFORK);
}

void adsm_index_forget(void)
{
    for (size_t i = 0; i < (size_t)1 << ADSM_INDEX_BITS; i++)
        if (atomic_load_explicit(&adsm_index_top[i], memory_order_relaxed))
            atomic_store_explicit(&adsm_index_top[i], NULL,
                                  memory_order_relaxed);
}

/* Both forms take the lock of what they find and look again. Inline: the shared
 * one is on the way of every fault. */
static inline __attribute__((always_inline)) struct adsm_object *
acquire(const void *address, void (*take)(struct adsm_rwlock *),
        void (*give)(struct adsm_rwlock *))
{
    const uint8_t *at = address;
    for (;;) {
        struct adsm_object *object = adsm_index_find(address);
        if (!object)
            return NULL;
        take(&object->lock);
        if (atomic_load_explicit(&object->live, memory_order_relaxed) &&
            at >= object->host && at < object->host + object->bytes)
            return object;
        give(&object->lock);
        /* Reused meanwhile, or the range belongs to somebody else by now. */
        if (adsm_index_find(address) == object)
            return NULL;
    }
}

struct adsm_object *adsm_index_acquire(const void *address)
{
    return acquire(address, adsm_rwlock_acquire_shared,
                   adsm_rwlock_release_shared);
}

struct adsm_object *adsm_index_acquire_alone(const void *address)
{
    return acquire(address, adsm_rwlock_acquire, adsm_rwlock_release);
}

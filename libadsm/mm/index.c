/*
 * The two-level radix table. Leaves are mapped once and never unmapped, so a
 * reader that holds a leaf pointer is always right to follow it. Writers are
 * not serialised here: objects own their chunks, and a leaf is installed by
 * compare-and-swap.
 */
#include "mm/index.h"

#include <sys/mman.h>

#define LEAF_ENTRIES ((size_t)1 << ADSM_INDEX_BITS)
#define LEAF_BYTES   (LEAF_ENTRIES * sizeof(_Atomic(struct adsm_object *)))

_Atomic(struct adsm_object *) *_Atomic adsm_index_top[1 << ADSM_INDEX_BITS];

/* Leaf of chunk `c`, mapped when it is missing; NULL when memory is short. */
static _Atomic(struct adsm_object *) *leaf_for(uintptr_t c)
{
    _Atomic(struct adsm_object *) *_Atomic *slot =
        &adsm_index_top[c >> ADSM_INDEX_BITS];
    _Atomic(struct adsm_object *) *leaf =
        atomic_load_explicit(slot, memory_order_acquire);
    if (leaf)
        return leaf;
    void *fresh = mmap(NULL, LEAF_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    /* Release: a reader that sees the leaf sees it empty. */
    if (atomic_compare_exchange_strong_explicit(
            slot, &leaf, fresh, memory_order_acq_rel, memory_order_acquire))
        return fresh;
    munmap(fresh, LEAF_BYTES);
    return leaf;
}

static void store(uintptr_t c, struct adsm_object *object)
{
    _Atomic(struct adsm_object *) *leaf = leaf_for(c);
    if (leaf)
        /* Release: publishes the object's fields to lock-free readers. */
        atomic_store_explicit(&leaf[c & (LEAF_ENTRIES - 1)], object,
                              memory_order_release);
}

int adsm_index_insert(struct adsm_object *object)
{
    uintptr_t first = (uintptr_t)object->host >> ADSM_CHUNK_SHIFT;
    uintptr_t chunks = object->span.bytes >> ADSM_CHUNK_SHIFT;
    if ((first + chunks) >> (2 * ADSM_INDEX_BITS))
        return ADSM_E_LIMIT;
    for (uintptr_t c = first; c < first + chunks; c++)
        if (!leaf_for(c))
            return ADSM_E_NOMEM;
    for (uintptr_t c = first; c < first + chunks; c++)
        store(c, object);
    return ADSM_OK;
}

void adsm_index_remove(struct adsm_object *object)
{
    uintptr_t first = (uintptr_t)object->host >> ADSM_CHUNK_SHIFT;
    uintptr_t chunks = object->span.bytes >> ADSM_CHUNK_SHIFT;
    for (uintptr_t c = first; c < first + chunks; c++)
        store(c, NULL);
}

void adsm_index_forget(void)
{
    for (size_t i = 0; i < (size_t)1 << ADSM_INDEX_BITS; i++)
        if (atomic_load_explicit(&adsm_index_top[i], memory_order_relaxed))
            atomic_store_explicit(&adsm_index_top[i], NULL,
                                  memory_order_relaxed);
}

struct adsm_object *adsm_index_acquire(const void *address)
{
    const uint8_t *at = address;
    for (;;) {
        struct adsm_object *object = adsm_index_find(address);
        if (!object)
            return NULL;
        adsm_rwlock_acquire_shared(&object->lock);
        if (atomic_load_explicit(&object->live, memory_order_relaxed) &&
            at >= object->host && at < object->host + object->bytes)
            return object;
        adsm_rwlock_release_shared(&object->lock);
        /* Reused meanwhile, or the range belongs to somebody else by now. */
        if (adsm_index_find(address) == object)
            return NULL;
    }
}

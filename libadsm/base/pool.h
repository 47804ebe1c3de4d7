/*
 * Type-stable pools: items of one size from mapped extents, never returned to
 * the system, so that a stale pointer always points at an item of its type.
 *
 * Owns extents and the free list. Does not construct or clear items. Lock: one
 * per pool, rank POOL. Uses mmap only, never malloc.
 */
#ifndef ADSM_BASE_POOL_H
#define ADSM_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

struct adsm_pool {
    struct adsm_lock lock; /* guards every member below */
    size_t item_bytes;     /* rounded up to the alignment */
    size_t align;
    void *extents;  /* every extent, newest first */
    void *free;     /* single linked through the first word of free items */
    uint8_t *fresh; /* part of the newest extent that was never handed out */
    uint8_t *fresh_end;
    size_t items_live;
    size_t bytes_mapped;
};

/** Static initialiser; `align` a power of two, at least 8. */
#define ADSM_POOL_INIT(item_bytes_, align_)                                    \
    {                                                                          \
        .lock = ADSM_LOCK_INIT(ADSM_RANK_POOL),                                \
        .item_bytes = ((item_bytes_) + (align_)-1) & ~(size_t)((align_)-1),    \
        .align = (align_),                                                     \
    }

/**
 * Make an empty pool; maps nothing yet.
 *
 * @item_bytes  size of an item, at least 1
 * @align       power of two from 8 to 4096
 * Thread: one
 * Signal: never
 */
void adsm_pool_init(struct adsm_pool *pool, size_t item_bytes, size_t align);

/**
 * Get an item. Its bytes are zero when it was never used before; otherwise the
 * first 8 bytes are undefined and the rest is as it was put back.
 *
 * Return: the item; NULL when the system has no memory left
 * Thread: any
 * Signal: fault path
 */
void *adsm_pool_get(struct adsm_pool *pool);

/**
 * Put an item back.
 *
 * @item  from adsm_pool_get of the same pool; NULL does nothing
 * Thread: any
 * Signal: fault path
 */
void adsm_pool_put(struct adsm_pool *pool, void *item);

/** Unmap every extent; no item may be in use. For tests and a clean unload. */
void adsm_pool_fini(struct adsm_pool *pool);

#endif

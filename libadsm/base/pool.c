/*
 * Type-stable pools: see base/pool.h.
 */
#include "base/pool.h"
#include "base/system.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Extents grow with the pool, so that small pools stay small and large ones
 * make few mappings. */
#define POOL_EXTENT_MIN ((size_t)64 << 10)
#define POOL_EXTENT_MAX ((size_t)4 << 20)

/* The head of a extent: the list of all extents, for adsm_pool_fini. */
struct pool_extent {
    struct pool_extent *next;
    size_t bytes;
};

void adsm_pool_init(struct adsm_pool *pool, size_t item_bytes, size_t align)
{
    memset(pool, 0, sizeof *pool);
    adsm_lock_init(&pool->lock, ADSM_RANK_POOL);
    pool->item_bytes = (item_bytes + align - 1) & ~(align - 1);
    pool->align = align;
}

/* Bytes of the extent head, so that the first item behind it is aligned. */
static size_t pool_head_bytes(const struct adsm_pool *pool)
{
    size_t align = pool->align;
    return (sizeof(struct pool_extent) + align - 1) & ~(align - 1);
}

/* Map one more extent; the rest of the last one is too small for an item. */
static bool pool_grow(struct adsm_pool *pool)
{
    size_t head = pool_head_bytes(pool);
    size_t bytes = pool->bytes_mapped;
    if (bytes < POOL_EXTENT_MIN)
        bytes = POOL_EXTENT_MIN;
    if (bytes > POOL_EXTENT_MAX)
        bytes = POOL_EXTENT_MAX;
    if (bytes < head + pool->item_bytes)
        bytes = head + pool->item_bytes;
    bytes = (bytes + 4095) & ~(size_t)4095;
    int saved_errno = errno;
    void *map = adsm_system_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved_errno;
    if (map == MAP_FAILED)
        return false;
    struct pool_extent *extent = map;
    extent->next = pool->extents;
    extent->bytes = bytes;
    pool->extents = extent;
    pool->fresh = (uint8_t *)map + head;
    pool->fresh_end = (uint8_t *)map + bytes;
    pool->bytes_mapped += bytes;
    return true;
}

static void *pool_take(struct adsm_pool *pool)
{
    void *item = pool->free;
    if (item != NULL) {
        memcpy(&pool->free, item, sizeof pool->free);
        return item;
    }
    if ((size_t)(pool->fresh_end - pool->fresh) < pool->item_bytes &&
        !pool_grow(pool))
        return NULL;
    item = pool->fresh;
    pool->fresh += pool->item_bytes;
    return item;
}

void *adsm_pool_get(struct adsm_pool *pool)
{
    adsm_lock_acquire(&pool->lock);
    void *item = pool_take(pool);
    if (item != NULL)
        pool->items_live++;
    adsm_lock_release(&pool->lock);
    return item;
}

void adsm_pool_put(struct adsm_pool *pool, void *item)
{
    if (item == NULL)
        return;
    adsm_lock_acquire(&pool->lock);
    memcpy(item, &pool->free, sizeof pool->free);
    pool->free = item;
    pool->items_live--;
    adsm_lock_release(&pool->lock);
}

void adsm_pool_fini(struct adsm_pool *pool)
{
    struct pool_extent *extent = pool->extents;
    while (extent != NULL) {
        struct pool_extent *next = extent->next;
        adsm_system_munmap(extent, extent->bytes);
        extent = next;
    }
    pool->extents = pool->free = NULL;
    pool->fresh = pool->fresh_end = NULL;
    pool->items_live = pool->bytes_mapped = 0;
}

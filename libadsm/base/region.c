/* Sheets and what is cut from them; see base/region.h. */
#include "base/region.h"

#include "base/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, SIZES = 3, LARGE = SIZES, MOST_BITS = 40, SPARES = 4 };

#ifdef __SANITIZE_ADDRESS__
enum { FIRST = LARGE };
#else
enum { FIRST = 0 };
#endif

struct adsm_sheet {
    _Alignas(ALIGN) struct adsm_sheet *next;
    int size; /* which of the pools has it back; LARGE: malloc() */
};

#define POOL(kib) ADSM_POOL_INIT((size_t)(kib) << 10, 64)
static struct adsm_pool pools[SIZES] = {POOL(8), POOL(64), POOL(512)};
static atomic_size_t large; /* sheets that are malloc()ed */

/* A pool's lock holds signals back, which takes as long as much of a call: some
 * sheets of each size change hands without it. Who swaps one out has it. */
static _Atomic(struct adsm_sheet *) spare[SIZES][SPARES];

static struct adsm_sheet *take(int size)
{
    for (int i = 0; i < SPARES; i++) {
        struct adsm_sheet *sheet = NULL;
        if (atomic_load_explicit(&spare[size][i], memory_order_relaxed))
            sheet = atomic_exchange_explicit(&spare[size][i], NULL,
                                             memory_order_acquire);
        if (sheet)
            return sheet;
    }
    return adsm_pool_get(&pools[size]);
}

/* Release: what was done to it is before what its next owner does. */
static void give(struct adsm_sheet *sheet)
{
    int size = sheet->size;
    for (int i = 0; i < SPARES; i++) {
        struct adsm_sheet *none = NULL;
        if (!atomic_load_explicit(&spare[size][i], memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(&spare[size][i], &none,
                                                    sheet, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    adsm_pool_put(&pools[size], sheet);
}

/* The pool for a sheet of so many bytes: the second one of a region is larger
 * than its first, and so on. */
static int size_for(const struct adsm_region *region, size_t bytes)
{
    int size = FIRST;
    if (region->sheets && size < LARGE) {
        size = region->sheets->size + 1;
        size = size < LARGE ? size : LARGE - 1;
    }
    while (size < LARGE && bytes > pools[size].item_bytes)
        size++;
    return size;
}

/* One more sheet, with room for a piece of so many bytes. */
static uint8_t *add_sheet(struct adsm_region *region, size_t bytes)
{
    size_t all = sizeof(struct adsm_sheet) + bytes;
    int size = size_for(region, all);
    struct adsm_sheet *sheet = NULL;
    if (size < LARGE)
        sheet = take(size);
    if (sheet)
        all = pools[size].item_bytes;
    else { /* pools map memory, of which malloc() may have some yet */
        sheet = malloc(all);
        size = LARGE;
        atomic_fetch_add_explicit(&large, sheet != NULL, memory_order_relaxed);
    }
    if (!sheet)
        return NULL;
    sheet->next = region->sheets;
    sheet->size = size;
    region->sheets = sheet;
    region->at = (uint8_t *)(sheet + 1);
    region->end = (uint8_t *)sheet + all;
    return region->at;
}

void *adsm_region_get(struct adsm_region *region, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || all >> MOST_BITS > 0)
        return NULL;
    all = all > 0 ? (all + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    uint8_t *piece = region->at;
    if ((size_t)(region->end - piece) < all)
        piece = add_sheet(region, all);
    if (piece)
        region->at = piece + all;
    return piece;
}

void *adsm_region_zeros(struct adsm_region *region, size_t count, size_t bytes)
{
    void *piece = adsm_region_get(region, count, bytes);
    return piece ? memset(piece, 0, count * bytes) : NULL;
}

void adsm_region_end(struct adsm_region *region)
{
    struct adsm_sheet *sheet = region->sheets, *next;
    *region =
        (struct adsm_region){NULL, NULL, NULL}; /* it may lie in a sheet */
    for (; sheet; sheet = next) {
        next = sheet->next;
        if (sheet->size < LARGE) {
            give(sheet);
            continue;
        }
        free(sheet);
        atomic_fetch_sub_explicit(&large, 1, memory_order_relaxed);
    }
}

size_t adsm_region_sheets(void)
{
    size_t n = atomic_load_explicit(&large, memory_order_relaxed);
    for (int size = 0; size < SIZES; size++) {
        adsm_lock_acquire(&pools[size].lock);
        n += pools[size].items_live;
        adsm_lock_release(&pools[size].lock);
        for (int i = 0; i < SPARES; i++)
            n -= atomic_load_explicit(&spare[size][i], memory_order_relaxed) !=
                 NULL;
    }
    return n;
}

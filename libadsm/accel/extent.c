/* Lists of allocations, looked up by address; see extent.h. */
#include "accel/extent.h"

#include "accel/device.h"
#include "base/grow.h"
#include "os/vm.h"

#include <stdlib.h>
#include <string.h>

void adsm_extent_table_init(struct adsm_extent_table *table)
{
    adsm_lock_init(&table->lock, ADSM_RANK_POOL);
}

/* Index of the first that ends behind `at`; the count when none does. */
static size_t behind(const struct adsm_extents *extents, uint64_t at)
{
    size_t low = 0, high = extents->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (extents->list[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int adsm_extents_add(struct adsm_extents *extents, struct adsm_extent extent)
{
    void *list = adsm_grow(extents->list, &extents->room, extents->count,
                           sizeof *extents->list);
    if (!list)
        return ADSM_E_NOMEM;
    extents->list = list;
    size_t i = behind(extents, extent.begin);
    memmove(&extents->list[i + 1], &extents->list[i],
            (extents->count - i) * sizeof *extents->list);
    extents->list[i] = extent;
    extents->count++;
    return ADSM_OK;
}

static uint64_t begin_of(const struct adsm_extents *extents)
{
    return extents->list[0].begin & ~(uint64_t)(adsm_vm_page_bytes() - 1);
}

/* Index of the first that begins behind `at`. The lock is held. */
static size_t above(const struct adsm_extent_table *table, uint64_t at)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (begin_of(table->spans[middle]) > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int adsm_extent_enter(struct adsm_extent_table *table,
                      struct adsm_extents *extents)
{
    adsm_lock_acquire(&table->lock);
    void *spans = adsm_grow(table->spans, &table->room, table->count,
                            sizeof *table->spans);
    if (spans) {
        table->spans = spans;
        size_t i = above(table, begin_of(extents));
        memmove(&table->spans[i + 1], &table->spans[i],
                (table->count - i) * sizeof *table->spans);
        table->spans[i] = extents;
        atomic_fetch_add(&table->count, 1);
    }
    adsm_lock_release(&table->lock);
    return spans ? ADSM_OK : ADSM_E_NOMEM;
}

void adsm_extent_remove(struct adsm_extent_table *table,
                        struct adsm_extents *extents)
{
    adsm_lock_acquire(&table->lock);
    size_t i = above(table, begin_of(extents));
    if (i > 0 && table->spans[i - 1] == extents) {
        memmove(&table->spans[i - 1], &table->spans[i],
                (table->count - i) * sizeof *table->spans);
        atomic_fetch_sub(&table->count, 1);
    }
    adsm_lock_release(&table->lock);
}

static size_t piece_of(const struct adsm_extents *extents, uint64_t at,
                       size_t bytes, bool *is_gap)
{
    size_t i = behind(extents, at);
    *is_gap = i == extents->count || extents->list[i].begin > at;
    if (i == extents->count)
        return bytes;
    size_t n =
        (size_t)((*is_gap ? extents->list[i].begin : extents->list[i].end) -
                 at);
    return n < bytes ? n : bytes;
}

/* The span around `at`, NULL: none. What lies between its allocations is its own,
 * and so are the ends of its first and last page. The lock is held. */
static const struct adsm_extents *around(const struct adsm_extent_table *table,
                                         uint64_t at)
{
    size_t i = above(table, at);
    if (i == 0)
        return NULL;
    const struct adsm_extents *extents = table->spans[i - 1];
    uint64_t last = extents->list[extents->count - 1].end - 1;
    return at <= (last | (adsm_vm_page_bytes() - 1)) ? extents : NULL;
}

/* How much of [at, at + bytes) can be copied at once, or lies in no allocation.
 * Return: from 1 to `bytes` */
static size_t piece_at(struct adsm_extent_table *table, uint64_t at,
                       size_t bytes, bool *is_gap)
{
    size_t n = bytes;
    *is_gap = false;
    adsm_lock_acquire(&table->lock);
    const struct adsm_extents *extents = around(table, at);
    if (extents)
        n = piece_of(extents, at, bytes, is_gap);
    adsm_lock_release(&table->lock);
    return n;
}

/* Acquire: whoever copies a span has seen it entered. */
static bool any_are_cut(struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->extents->count, memory_order_acquire) !=
           0;
}

bool adsm_extent_cuts(struct adsm_accel *accel, struct adsm_daddr at)
{
    struct adsm_extent_table *table = accel->extents;
    if (!any_are_cut(accel))
        return false;
    adsm_lock_acquire(&table->lock);
    bool is = around(table, at.at) != NULL;
    adsm_lock_release(&table->lock);
    return is;
}

/* An allocation freed in the order of a stream may have been there when it was
 * asked for, and not any more. */
static bool is_gone(struct adsm_accel *accel, struct adsm_daddr at)
{
    struct adsm_memory memory;
    return adsm_accel_health(accel) == ADSM_OK &&
           accel->ops->memory_find(at, &memory) == ADSM_E_NOT_FOUND;
}

/* ---- copies ---------------------------------------------------------------- */

/* `copy` for [done, done + n) of it, for all that lies in allocations. */
#define CUT(accel, device, bytes, copy)                                        \
    ({                                                                         \
        int cut_status = ADSM_OK;                                              \
        bool is_gap = false;                                                   \
        size_t n = (bytes), cut = any_are_cut(accel);                          \
        for (size_t done = 0; cut_status == ADSM_OK && done < (bytes);         \
             done += n) {                                                      \
            if (cut)                                                           \
                n = piece_at((accel)->extents, (device).at + done,             \
                             (bytes)-done, &is_gap);                           \
            if (!is_gap)                                                       \
                cut_status = (accel)->ops->copy;                               \
            if (cut && cut_status != ADSM_OK &&                                \
                is_gone(accel, adsm_daddr_add(device, done)))                  \
                cut_status = ADSM_OK;                                          \
        }                                                                      \
        cut_status;                                                            \
    })

int adsm_extent_copy_up(struct adsm_accel *accel, adsm_stream stream,
                        struct adsm_daddr to, const void *from, size_t bytes)
{
    return CUT(accel, to, bytes,
               copy_up(accel, stream, adsm_daddr_add(to, done),
                       (const char *)from + done, n));
}

int adsm_extent_copy_down(struct adsm_accel *accel, adsm_stream stream,
                          void *to, struct adsm_daddr from, size_t bytes)
{
    return CUT(accel, from, bytes,
               copy_down(accel, stream, (char *)to + done,
                         adsm_daddr_add(from, done), n));
}

int adsm_extent_copy_down_now(struct adsm_accel *accel, void *to,
                              struct adsm_daddr from, size_t bytes)
{
    return CUT(
        accel, from, bytes,
        copy_down_now(accel, (char *)to + done, adsm_daddr_add(from, done), n));
}

int adsm_extent_set(struct adsm_accel *accel, adsm_stream stream,
                    struct adsm_daddr to, uint8_t value, size_t bytes)
{
    return CUT(accel, to, bytes,
               set_device(accel, stream, adsm_daddr_add(to, done), value, n));
}

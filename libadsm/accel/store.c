/* Device memory for copies; see store.h. */
#include "accel/store.h"

#include "accel/device.h"
#include "accel/error.h"
#include "accel/fence.h"
#include "base/stats.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void adsm_store_init(struct adsm_store *store)
{
    adsm_lock_init(&store->lock, ADSM_RANK_STORE);
}

/* ---- lists; store->lock is held --------------------------------------------- */

static void link_in(struct adsm_store_range **head,
                    struct adsm_store_range *range)
{
    range->prev = NULL;
    range->next = *head;
    if (*head)
        (*head)->prev = range;
    *head = range;
}

static void take_out(struct adsm_store_range **head,
                     struct adsm_store_range *range)
{
    if (range->prev)
        range->prev->next = range->next;
    else
        *head = range->next;
    if (range->next)
        range->next->prev = range->prev;
}

/* The smallest range kept of at least `bytes` and at most `most`; of equal ones
 * the oldest, whose fences are reached first. NULL: there is none. */
static struct adsm_store_range *best(struct adsm_store *store, size_t bytes,
                                     size_t most)
{
    struct adsm_store_range *found = NULL;
    for (struct adsm_store_range *range = store->kept; range;
         range = range->next)
        if (range->bytes >= bytes && range->bytes <= most &&
            (!found || range->bytes <= found->bytes))
            found = range;
    return found;
}

/* ---- fences ------------------------------------------------------------------ */

static void await(struct adsm_store_range *range)
{
    /* On a dead device nothing uses the memory any more. */
    for (size_t i = 0; i < range->count; i++)
        (void)adsm_fence_wait(range->after[i]);
    range->count = 0;
}

static void drop_reached(struct adsm_store_range *range)
{
    size_t kept = 0;
    for (size_t i = 0; i < range->count; i++)
        if (!adsm_fence_done(range->after[i]))
            range->after[kept++] = range->after[i];
    range->count = kept;
}

/* Fences that nobody has waited for stay, as when a range was never written. */
static void add_fences(struct adsm_store_range *range,
                       const struct adsm_fence *after, size_t count)
{
    drop_reached(range);
    if (range->count + count > range->room) {
        size_t room = range->count + count;
        struct adsm_fence *more =
            realloc(range->after, room * sizeof *range->after);
        if (!more) {
            await(range);
            for (size_t i = 0; i < count; i++)
                (void)adsm_fence_wait(after[i]);
            return;
        }
        range->after = more;
        range->room = room;
    }
    if (count > 0)
        memcpy(range->after + range->count, after, count * sizeof *after);
    range->count += count;
    drop_reached(range);
}

/* ---- to and from the driver --------------------------------------------------- */

static void forget(struct adsm_store_range *range)
{
    free(range->after);
    free(range);
}

static struct adsm_store_range *reuse(struct adsm_accel *accel, size_t bytes,
                                      size_t most)
{
    struct adsm_store *store = accel->store;
    adsm_lock_acquire(&store->lock);
    struct adsm_store_range *range = best(store, bytes, most);
    if (range) {
        take_out(&store->kept, range);
        link_in(&store->used, range);
    }
    adsm_lock_release(&store->lock);
    if (!range)
        return NULL;
    drop_reached(range);
    ADSM_COUNT(store_reuses, 1);
    return range;
}

static int get(struct adsm_accel *accel, size_t bytes,
               struct adsm_store_range **got)
{
    struct adsm_store *store = accel->store;
    struct adsm_store_range *range = calloc(1, sizeof *range);
    if (!range)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a copy", NULL);
    int status = accel->ops->memory_alloc(accel, bytes, &range->at);
    if (status != ADSM_OK) {
        free(range);
        return status;
    }
    range->bytes = bytes;
    adsm_lock_acquire(&store->lock);
    link_in(&store->used, range);
    adsm_lock_release(&store->lock);
    ADSM_COUNT(store_allocs, 1);
    ADSM_COUNT(store_bytes, bytes);
    *got = range;
    return ADSM_OK;
}

size_t adsm_store_round(size_t bytes)
{
    size_t step = ADSM_STORE_LEAST;
    while (step < ADSM_STORE_SMALL && step * 32 <= bytes)
        step *= 2;
    return bytes > 0 ? (bytes + step - 1) / step * step : step;
}

size_t adsm_store_takes(size_t bytes)
{
    size_t page = ADSM_STORE_PAGE, own = adsm_store_round(bytes);
    return own <= page / 2 ? own : (own + page - 1) / page * page;
}

/* The largest range that is not too large for `bytes`. */
static size_t most_for(size_t bytes)
{
    size_t most = bytes + bytes / 4;
    return most > ADSM_STORE_SMALL ? most : ADSM_STORE_SMALL;
}

/* Whether the driver could have so much if nothing were kept. Else giving it back
 * gains nothing, and waits for all that the device does. */
static bool trimming_may_do(struct adsm_accel *accel, size_t bytes)
{
    size_t free_bytes, total_bytes;
    return adsm_accel_memory(accel, &free_bytes, &total_bytes) != ADSM_OK ||
           adsm_store_kept(accel) + free_bytes >= bytes;
}

int adsm_store_alloc(struct adsm_accel *accel, size_t bytes,
                     struct adsm_store_range **range)
{
    *range = NULL;
    if (bytes > PTRDIFF_MAX)
        return adsm_accel_fail(ADSM_E_DEVICE_NOMEM, "no device is that large",
                               NULL);
    bytes = adsm_store_round(bytes);
    *range = reuse(accel, bytes, most_for(bytes));
    if (*range)
        return ADSM_OK;
    for (;;) {
        int status = get(accel, bytes, range);
        if (status != ADSM_E_DEVICE_NOMEM)
            return status;
        /* A range that wastes much would be missed by the next copy. */
        if (!trimming_may_do(accel, bytes) ||
            adsm_store_trim(accel, bytes) == 0)
            return status;
    }
}

void adsm_store_free(struct adsm_accel *accel, struct adsm_store_range *range,
                     const struct adsm_fence *after, size_t count)
{
    struct adsm_store *store = accel->store;
    add_fences(range, after, count);
    adsm_lock_acquire(&store->lock);
    bool gone = range->bytes == 0;
    if (!gone) {
        take_out(&store->used, range);
        link_in(&store->kept, range);
    }
    adsm_lock_release(&store->lock);
    if (gone)
        forget(range);
}

/* The range kept longest, out of the list; NULL: none is kept. */
static struct adsm_store_range *take_oldest(struct adsm_store *store)
{
    adsm_lock_acquire(&store->lock);
    struct adsm_store_range *range = store->kept;
    while (range && range->next)
        range = range->next;
    if (range)
        take_out(&store->kept, range);
    adsm_lock_release(&store->lock);
    return range;
}

size_t adsm_store_trim(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_store_range *range;
    size_t gone = 0;
    while (gone < bytes && (range = take_oldest(accel->store))) {
        await(range);
        /* Fails only where the context is dead, and the memory with it. */
        (void)accel->ops->memory_free(accel, range->at);
        gone += range->bytes;
        forget(range);
    }
    return gone;
}

void adsm_store_clear(struct adsm_accel *accel)
{
    struct adsm_store *store = accel->store;
    struct adsm_store_range *range;
    (void)adsm_store_trim(accel, SIZE_MAX);
    do {
        adsm_lock_acquire(&store->lock);
        range = store->used;
        if (range) {
            take_out(&store->used, range);
            range->bytes = 0;
        }
        adsm_lock_release(&store->lock);
        if (range)
            (void)accel->ops->memory_free(accel, range->at);
    } while (range);
}

/* ---- what is known of one ------------------------------------------------------ */

size_t adsm_store_kept(struct adsm_accel *accel)
{
    size_t bytes = 0;
    adsm_lock_acquire(&accel->store->lock);
    for (struct adsm_store_range *range = accel->store->kept; range;
         range = range->next)
        bytes += range->bytes;
    adsm_lock_release(&accel->store->lock);
    return bytes;
}

static bool is_list(const struct adsm_store_range *range)
{
    const struct adsm_store_range *prev = NULL;
    for (; range; prev = range, range = range->next)
        if (range->prev != prev || range->bytes == 0 ||
            adsm_store_round(range->bytes) != range->bytes ||
            range->count > range->room)
            return false;
    return true;
}

bool adsm_store_is_valid(struct adsm_accel *accel)
{
    adsm_lock_acquire(&accel->store->lock);
    bool valid = is_list(accel->store->kept) && is_list(accel->store->used);
    adsm_lock_release(&accel->store->lock);
    return valid;
}

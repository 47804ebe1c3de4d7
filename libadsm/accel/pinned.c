/*
 * Page-locked host memory; see pinned.h.
 */
#include "accel/pinned.h"

#include "accel/device.h"
#include "accel/error.h"
#include "accel/lane.h"
#include "base/log.h"
#include "base/pool.h"
#include "os/arena.h"
#include "os/vm.h"

#include <string.h>

/* What is registered at once, at most, and found by. */
#define TRACT ((uintptr_t)2 << 20)

_Static_assert(ADSM_ARENA_GRANULE_BYTES % TRACT == 0,
               "a registration is of one object's memory");

/* In the tables of all accels: who has them all need not ask the others. */
static _Atomic uint64_t all_bytes;

static _Atomic bool partial; /* memory of one was refused, once */

static struct adsm_pool ranges =
    ADSM_POOL_INIT(sizeof(struct adsm_pinned_range), 8);

void adsm_pinned_init(struct adsm_pinned *pinned)
{
    adsm_lock_init(&pinned->change, ADSM_RANK_ACCEL);
    adsm_lock_init(&pinned->lock, ADSM_RANK_STREAM);
}

static struct adsm_pinned_range **bucket_of(struct adsm_pinned *pinned,
                                            uintptr_t at)
{
    return &pinned->bucket[at / TRACT % ADSM_PINNED_BUCKETS];
}

/* The registration that covers `at`, or the next one up to `end`; NULL. All
 * within one tract, so within one bucket. `lock` or `change` is held. */
static struct adsm_pinned_range *first_from(struct adsm_pinned *pinned,
                                            uintptr_t at, uintptr_t end)
{
    struct adsm_pinned_range *best = NULL;
    for (struct adsm_pinned_range *range = *bucket_of(pinned, at); range;
         range = range->next)
        if (range->end > at && range->begin < end &&
            (!best || range->begin < best->begin))
            best = range;
    return best;
}

static void insert(struct adsm_pinned *pinned, struct adsm_pinned_range *range)
{
    adsm_lock_acquire(&pinned->lock);
    struct adsm_pinned_range **head = bucket_of(pinned, range->begin);
    range->next = *head;
    *head = range;
    adsm_lock_release(&pinned->lock);
}

static void take_out(struct adsm_pinned *pinned,
                     struct adsm_pinned_range *range)
{
    adsm_lock_acquire(&pinned->lock);
    struct adsm_pinned_range **link = bucket_of(pinned, range->begin);
    while (*link != range)
        link = &(*link)->next;
    *link = range->next;
    adsm_lock_release(&pinned->lock);
}

/* Keep why the driver refused, and say it: the first time is enough, since it
 * costs speed alone. `change` is held. */
static void explain(struct adsm_pinned *pinned)
{
    char reason[sizeof pinned->why / 2];
    strncpy(reason, adsm_accel_error_text(), sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    (void)adsm_accel_fail(
        ADSM_E_LIMIT,
        atomic_load(&pinned->bytes) ? "no more host memory" : "no host memory",
        " is page-locked (", reason, "): copies go through buffers", NULL);
    strncpy(pinned->why, adsm_accel_error_text(), sizeof pinned->why - 1);
    adsm_log_signal(ADSM_LOG_INFO, pinned->why);
}

/* Register [begin, end), which nobody has registered; `change` is held. */
static bool register_range(struct adsm_accel *accel, uintptr_t begin,
                           uintptr_t end)
{
    struct adsm_pinned *pinned = accel->pinned;
    struct adsm_pinned_range *range = adsm_pool_get(&ranges);
    if (!range) {
        atomic_store(&partial, true);
        return false;
    }
    *range = (struct adsm_pinned_range){.begin = begin, .end = end};
    int status =
        accel->ops->host_pin(accel, (void *)begin, end - begin, &range->owned);
    if (status == ADSM_OK) {
        atomic_fetch_add_explicit(&all_bytes, end - begin,
                                  memory_order_relaxed);
        atomic_fetch_add_explicit(&pinned->bytes, end - begin,
                                  memory_order_relaxed);
        insert(pinned, range);
        return true;
    }
    adsm_pool_put(&ranges, range);
    atomic_store(&partial, true);
    pinned->refused = true;
    pinned->never = status == ADSM_E_UNSUPPORTED;
    if (!pinned->why[0])
        explain(pinned);
    adsm_accel_error_forget();
    return false;
}

/* Unregister one range; `change` is held. */
static void unregister_range(struct adsm_accel *accel,
                             struct adsm_pinned_range *range)
{
    struct adsm_pinned *pinned = accel->pinned;
    take_out(pinned, range);
    size_t bytes = range->end - range->begin;
    atomic_fetch_sub_explicit(&pinned->bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&all_bytes, bytes, memory_order_relaxed);
    /* Fails only where the context is dead, and the registration with it. */
    if (range->owned)
        (void)accel->ops->host_unpin(accel, (void *)range->begin);
    pinned->refused = pinned->never;
    adsm_pool_put(&ranges, range);
}

static uintptr_t tract_end(uintptr_t at, uintptr_t end)
{
    uintptr_t next = (at / TRACT + 1) * TRACT;
    return next < end ? next : end;
}

void adsm_pin(struct adsm_accel *accel, void *shadow, size_t bytes)
{
    struct adsm_pinned *pinned = accel->pinned;
    uintptr_t page = adsm_vm_page_bytes();
    uintptr_t at = (uintptr_t)shadow / page * page;
    uintptr_t end = ((uintptr_t)shadow + bytes + page - 1) / page * page;
    adsm_lock_acquire(&pinned->change);
    while (at < end && !pinned->refused) {
        uintptr_t stop = tract_end(at, end);
        struct adsm_pinned_range *there = first_from(pinned, at, stop);
        if (there && there->begin <= at) {
            at = there->end < end ? there->end : end;
            continue;
        }
        if (there)
            stop = there->begin;
        if (!register_range(accel, at, stop))
            break;
        at = stop;
    }
    adsm_lock_release(&pinned->change);
}

/* A dead device has no transfers under way. */
static void await_uploads(struct adsm_accel *accel)
{
    struct adsm_lane *lane = &accel->lanes->lane[ADSM_LANE_UPLOAD];
    uint64_t given = atomic_load_explicit(&lane->given, memory_order_acquire);
    (void)adsm_fence_wait((struct adsm_fence){accel, ADSM_LANE_UPLOAD, given});
}

void adsm_unpin(struct adsm_accel *accel, void *shadow, size_t bytes)
{
    struct adsm_pinned *pinned = accel->pinned;
    uintptr_t at = (uintptr_t)shadow;
    uintptr_t end = at + bytes;
    adsm_lock_acquire(&pinned->change);
    while (at < end) {
        uintptr_t stop = tract_end(at, end);
        struct adsm_pinned_range *there = first_from(pinned, at, stop);
        if (!there) {
            at = stop;
            continue;
        }
        uintptr_t next = there->end;
        /* The part outside may still be in use by a transfer. */
        if (there->begin < (uintptr_t)shadow || there->end > end)
            await_uploads(accel);
        unregister_range(accel, there);
        at = next;
    }
    adsm_lock_release(&pinned->change);
}

void adsm_pinned_clear(struct adsm_accel *accel)
{
    struct adsm_pinned *pinned = accel->pinned;
    adsm_lock_acquire(&pinned->change);
    for (size_t i = 0; i < ADSM_PINNED_BUCKETS; i++)
        while (pinned->bucket[i])
            unregister_range(accel, pinned->bucket[i]);
    adsm_lock_release(&pinned->change);
}

/* The piece as one accel's table has it. */
static size_t piece_of(struct adsm_accel *accel, const void *at, size_t bytes)
{
    uintptr_t begin = (uintptr_t)at;
    uintptr_t end = begin + bytes;
    uintptr_t cut = begin;
    adsm_lock_acquire(&accel->pinned->lock);
    while (cut < end) {
        uintptr_t stop = tract_end(cut, end);
        struct adsm_pinned_range *there = first_from(accel->pinned, cut, stop);
        if (there && there->begin <= cut) {
            if (cut == begin)
                cut = there->end < end ? there->end : end;
            break;
        }
        cut = there ? there->begin : stop;
        if (there)
            break;
    }
    adsm_lock_release(&accel->pinned->lock);
    return cut - begin;
}

bool adsm_pinned_has(struct adsm_accel *accel, const void *at, size_t bytes)
{
    uintptr_t begin = (uintptr_t)at;
    adsm_lock_acquire(&accel->pinned->lock);
    const struct adsm_pinned_range *there =
        first_from(accel->pinned, begin, begin + bytes);
    bool has = there && there->begin <= begin && begin + bytes <= there->end;
    adsm_lock_release(&accel->pinned->lock);
    return has;
}

size_t adsm_pinned_piece(struct adsm_accel *accel, const void *at, size_t bytes)
{
    /* Relaxed: a caller that has pinned knows that it has. */
    uint64_t own = adsm_pinned_bytes(accel);
    uint64_t all = atomic_load_explicit(&all_bytes, memory_order_relaxed);
    if (own)
        bytes = piece_of(accel, at, bytes);
    if (own == all)
        return bytes;
    for (struct adsm_accel *other = adsm_accel_first(); other;
         other = other->next)
        if (other != accel && adsm_pinned_bytes(other))
            bytes = piece_of(other, at, bytes);
    return bytes;
}

const char *adsm_pinned_why(const struct adsm_accel *accel)
{
    return accel->pinned->why;
}

bool adsm_pinned_is_partial(void)
{
    /* Relaxed: who has dirtied memory has seen it refused. */
    return atomic_load_explicit(&partial, memory_order_relaxed);
}

uint64_t adsm_pinned_bytes(const struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->pinned->bytes, memory_order_relaxed);
}

/* Aligned, so that it is one registration. */
void *adsm_pinned_make(struct adsm_accel *accel, size_t bytes)
{
    uintptr_t at = adsm_vm_reserve(bytes, bytes, 0);
    if (!at)
        return NULL;
    if (adsm_vm_protect(at, bytes, ADSM_PROT_READ_WRITE) == ADSM_OK) {
        adsm_pin(accel, (void *)at, bytes);
        if (adsm_pinned_has(accel, (void *)at, bytes))
            return (void *)at;
    }
    adsm_vm_release(at, bytes);
    return NULL;
}

void adsm_pinned_free(void *memory, size_t bytes)
{
    if (memory)
        adsm_vm_release((uintptr_t)memory, bytes);
}

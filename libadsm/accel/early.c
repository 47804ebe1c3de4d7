/* Downloads before they are wanted; see early.h. */
#include "accel/early.h"

#include "accel/device.h"
#include "accel/dma_write.h"
#include "accel/error.h"
#include "accel/extent.h"
#include "accel/lane.h"
#include "accel/pinned.h"
#include "base/stats.h"
#include "base/trace.h"

#include <string.h>

enum { MEMORY_BYTES = ADSM_EARLY_SLOTS * ADSM_EARLY_BYTES, MOST_MISSED = 7 };

void adsm_early_init(struct adsm_early *early)
{
    adsm_lock_init(&early->lock, ADSM_RANK_ACCEL);
}

void adsm_early_clear(struct adsm_accel *accel)
{
    struct adsm_early *early = accel->early;
    atomic_store(&early->tried, true);
    adsm_pinned_free(atomic_exchange(&early->memory, NULL), MEMORY_BYTES);
}

/* From memory that is not page-locked the driver would copy in the call. No lock is
 * held. */
static bool has_memory(struct adsm_accel *accel)
{
    struct adsm_early *early = accel->early;
    if (!atomic_load(&early->memory) && !atomic_exchange(&early->tried, true))
        atomic_store(&early->memory, adsm_pinned_make(accel, MEMORY_BYTES));
    return atomic_load(&early->memory) != NULL;
}

static uint64_t notes_of(const struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->lanes->notes, memory_order_acquire);
}

static uint64_t uploads_of(const struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->lanes->lane[ADSM_LANE_UPLOAD].given,
                                memory_order_acquire);
}

/* It is no longer `there`. */
static void drop(struct adsm_early *early, struct adsm_early_slot *slot,
                 bool in_vain)
{
    if (!slot->there)
        return;
    slot->there = false;
    atomic_fetch_sub(&early->count, 1);
    slot->missed = in_vain ? slot->missed + (slot->missed < MOST_MISSED) : 0;
    slot->skip = in_vain ? UINT32_C(1) << (slot->missed - 1) : 0;
}

/* The slot of the same bytes, or one whose turn it is; NULL: threads read it. */
static struct adsm_early_slot *slot_for(struct adsm_early *early,
                                        struct adsm_daddr from, size_t bytes)
{
    struct adsm_early_slot *slot;
    for (uint32_t i = 0; i < ADSM_EARLY_SLOTS; i++) {
        slot = &early->slot[i];
        if (slot->from.at == from.at && slot->bytes == bytes)
            return slot->readers ? NULL : slot;
    }
    slot = &early->slot[early->next++ % ADSM_EARLY_SLOTS];
    if (slot->readers)
        return NULL;
    drop(early, slot, false);
    *slot = (struct adsm_early_slot){.from = from, .bytes = bytes};
    return slot;
}

static int enqueue(struct adsm_accel *accel, struct adsm_early_slot *slot)
{
    adsm_stream stream = accel->lanes->lane[ADSM_LANE_DOWNLOAD].stream;
    size_t number = (size_t)(slot - accel->early->slot);
    uint8_t *to =
        atomic_load(&accel->early->memory) + number * ADSM_EARLY_BYTES;
    struct adsm_fence written = {
        accel, ADSM_LANE_UPLOAD,
        adsm_dma_last_write(accel, slot->from, slot->bytes)};
    int status = adsm_fence_order(accel, stream, written);
    if (status == ADSM_OK)
        status = adsm_fence_order(accel, stream, slot->after);
    if (status == ADSM_OK)
        status = adsm_lane_order_noted(accel, accel, ADSM_LANE_DOWNLOAD);
    if (status == ADSM_OK)
        status =
            adsm_extent_copy_down(accel, stream, to, slot->from, slot->bytes);
    slot->done = (struct adsm_fence){accel, ADSM_LANE_DOWNLOAD,
                                     adsm_lane_tick(accel, ADSM_LANE_DOWNLOAD)};
    accel->early->last = slot->done.seq;
    if (status == ADSM_OK)
        adsm_fence_mark(slot->done);
    return status;
}

/* The lock is held. */
static void send(struct adsm_accel *accel, struct adsm_early_slot *slot,
                 struct adsm_fence after, const struct adsm_cause *cause)
{
    struct adsm_early *early = accel->early;
    drop(early, slot, true);
    if (slot->skip > 0) {
        slot->skip--;
        return;
    }
    slot->after = after;
    slot->notes = notes_of(accel);
    slot->uploads = uploads_of(accel);
    uint64_t start = adsm_trace_begin();
    if (enqueue(accel, slot) != ADSM_OK) {
        adsm_accel_error_forget();
        return;
    }
    adsm_trace_moved(ADSM_WAY_DOWN, "download early", start, accel->device,
                     slot->bytes, cause);
    slot->there = true;
    atomic_fetch_add(&early->count, 1);
}

void adsm_early_send(struct adsm_accel *accel, struct adsm_daddr from,
                     size_t bytes, struct adsm_fence after,
                     const struct adsm_cause *cause)
{
    struct adsm_early *early = accel->early;
    if (bytes > ADSM_EARLY_BYTES || !has_memory(accel))
        return;
    adsm_lock_acquire(&early->lock);
    struct adsm_early_slot *slot = slot_for(early, from, bytes);
    if (slot)
        send(accel, slot, after, cause);
    adsm_lock_release(&early->lock);
}

static struct adsm_early_slot *find(struct adsm_early *early,
                                    struct adsm_daddr from, size_t bytes)
{
    for (uint32_t i = 0; i < ADSM_EARLY_SLOTS; i++) {
        struct adsm_early_slot *slot = &early->slot[i];
        if (slot->there && from.at >= slot->from.at &&
            from.at + bytes <= slot->from.at + slot->bytes)
            return slot;
    }
    return NULL;
}

static bool is_same(struct adsm_fence a, struct adsm_fence b)
{
    return a.accel == b.accel && a.lane == b.lane && a.seq == b.seq;
}

/* Has nothing come behind it that may have written the bytes? */
static bool is_valid(struct adsm_accel *accel,
                     const struct adsm_early_slot *slot,
                     struct adsm_fence after)
{
    return slot->notes == notes_of(accel) && is_same(slot->after, after) &&
           adsm_dma_last_write(accel, slot->from, slot->bytes) <= slot->uploads;
}

bool adsm_early_take(struct adsm_accel *accel, void *to, struct adsm_daddr from,
                     size_t bytes, struct adsm_fence after)
{
    struct adsm_early *early = accel->early;
    /* Relaxed: who enqueued for these bytes held what the caller holds. */
    if (atomic_load_explicit(&early->count, memory_order_relaxed) == 0)
        return false;
    adsm_lock_acquire(&early->lock);
    struct adsm_early_slot *slot = find(early, from, bytes);
    bool valid = slot && is_valid(accel, slot, after);
    if (slot)
        drop(early, slot, !valid);
    if (valid)
        slot->readers++;
    adsm_lock_release(&early->lock);
    if (!valid)
        return false;
    valid = adsm_fence_wait(slot->done) == ADSM_OK;
    if (valid)
        memcpy(to,
               early->memory + (size_t)(slot - early->slot) * ADSM_EARLY_BYTES +
                   (from.at - slot->from.at),
               bytes);
    adsm_lock_acquire(&early->lock);
    slot->readers--;
    adsm_lock_release(&early->lock);
    ADSM_COUNT(fetched_early, valid);
    return valid;
}

void adsm_early_forget(struct adsm_accel *accel, struct adsm_daddr from,
                       size_t bytes)
{
    struct adsm_early *early = accel->early;
    if (!atomic_load(&early->memory))
        return;
    adsm_lock_acquire(&early->lock);
    for (uint32_t i = 0; i < ADSM_EARLY_SLOTS; i++) {
        struct adsm_early_slot *slot = &early->slot[i];
        if (slot->from.at < from.at + bytes &&
            from.at < slot->from.at + slot->bytes)
            drop(early, slot, false);
    }
    adsm_lock_release(&early->lock);
}

void adsm_early_await(struct adsm_accel *accel)
{
    struct adsm_early *early = accel->early;
    if (!atomic_load(&early->memory))
        return;
    adsm_lock_acquire(&early->lock);
    struct adsm_fence last = {accel, ADSM_LANE_DOWNLOAD, early->last};
    adsm_lock_release(&early->lock);
    /* A lost device has ended them all. */
    (void)adsm_fence_wait(last);
}

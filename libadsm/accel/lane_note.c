/*
 * Lanes as seen from outside: notes, fences on streams, orders between them.
 */
#include "accel/device.h"
#include "accel/lane_parts.h"
#include "base/slices.h"
#include "base/trace.h"

/* Copy lanes are never noted: their own bookkeeping orders them. */
static bool is_copy_lane(uint32_t i)
{
    return i == ADSM_LANE_UPLOAD || i == ADSM_LANE_DOWNLOAD ||
           i == ADSM_LANE_ASIDE;
}

static void raise_to(_Atomic uint64_t *mark, uint64_t to)
{
    uint64_t now = atomic_load_explicit(mark, memory_order_relaxed);
    /* Release: what led to the new value is known to who sees it. */
    while (now < to &&
           !atomic_compare_exchange_weak_explicit(
               mark, &now, to, memory_order_release, memory_order_relaxed))
        ;
}

adsm_stream adsm_accel_launch_stream(struct adsm_accel *accel)
{
    return accel->lanes->lane[ADSM_LANE_LAUNCH].stream;
}

void adsm_lane_note(struct adsm_accel *accel, adsm_stream stream,
                    bool per_thread)
{
    struct adsm_lanes *lanes = accel->lanes;
    struct adsm_lane *lane = adsm_lane_of(accel, stream, per_thread);
    if (!lane)
        return; /* dead: every wait from here on says so */
    atomic_fetch_add_explicit(&lane->notes, 1, memory_order_release);
    if (lane->thread) {
        uint64_t seq;
        /* The handle means this stream in this thread only. A failure leaves
         * the note uncovered, and waits fall back to the whole context. */
        (void)adsm_lane_cover_notes(accel, lane, &seq);
    }
    /* After the lane's own count: who sees this one finds that one. */
    atomic_fetch_add_explicit(&lanes->notes, 1, memory_order_release);
    adsm_lock_release(&lane->lock);
}

void adsm_lane_retire(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_lane *lane = adsm_lane_find(accel, stream, false);
    if (!lane)
        return;
    uint64_t seq;
    int status = adsm_lane_cover_notes(accel, lane, &seq);
    if (status == ADSM_OK && lane->recorded < lane->given)
        status = adsm_lane_record(accel, lane);
    adsm_lock_release(&lane->lock);
    if (status != ADSM_OK)
        (void)adsm_lane_settle_all(accel, lane);
    adsm_lane_detach(accel, lane);
}

int adsm_fence_record(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_fence *fence)
{
    struct adsm_lane *lane = adsm_lane_of(accel, stream, false);
    *fence = (struct adsm_fence){0};
    if (!lane)
        return adsm_accel_health(accel);
    uint64_t seq =
        atomic_fetch_add_explicit(&lane->given, 1, memory_order_release) + 1;
    int status = adsm_lane_record(accel, lane);
    /* The work is under way, and has to be waited for, also where there is no
     * memory for an event: whoever waits records one, or waits for all. */
    if (status == ADSM_E_NOMEM || status == ADSM_E_DEVICE_NOMEM)
        status = ADSM_OK;
    if (status == ADSM_OK)
        *fence = (struct adsm_fence){
            accel, (uint32_t)(lane - accel->lanes->lane), seq};
    adsm_lock_release(&lane->lock);
    return status;
}

/* ---- what was noted ------------------------------------------------------ */

static bool has_noted_work(struct adsm_lane *lane)
{
    return atomic_load_explicit(&lane->notes, memory_order_acquire) >
           atomic_load_explicit(&lane->notes_done, memory_order_acquire);
}

static int wait_noted(struct adsm_accel *accel, struct adsm_lane *lane)
{
    uint64_t seq;
    adsm_lock_acquire(&lane->lock);
    int status = adsm_lane_cover_notes(accel, lane, &seq);
    adsm_lock_release(&lane->lock);
    if (status == ADSM_OK)
        return adsm_lane_wait(accel, lane, seq, 0);
    if (adsm_accel_health(accel) == ADSM_OK)
        return adsm_lane_settle_all(accel, lane);
    return status;
}

int adsm_lane_wait_noted(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    uint64_t settled =
        atomic_load_explicit(&lanes->settled, memory_order_acquire);
    uint64_t notes = atomic_load_explicit(&lanes->notes, memory_order_acquire);
    if (settled >= notes)
        return ADSM_OK;
    uint32_t used = atomic_load_explicit(&lanes->used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        if (is_copy_lane(i) || !has_noted_work(&lanes->lane[i]))
            continue;
        int status = wait_noted(accel, &lanes->lane[i]);
        if (status != ADSM_OK)
            return status;
    }
    raise_to(&lanes->settled, notes);
    return ADSM_OK;
}

bool adsm_lane_noted_done(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    uint64_t notes = atomic_load_explicit(&lanes->notes, memory_order_acquire);
    if (atomic_load_explicit(&lanes->settled, memory_order_acquire) >= notes)
        return true;
    uint32_t used = atomic_load_explicit(&lanes->used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        struct adsm_lane *lane = &lanes->lane[i];
        uint64_t seq;
        if (is_copy_lane(i) || !has_noted_work(lane))
            continue;
        adsm_lock_acquire(&lane->lock);
        int status = adsm_lane_cover_notes(accel, lane, &seq);
        adsm_lock_release(&lane->lock);
        if (status != ADSM_OK ||
            !adsm_fence_done((struct adsm_fence){accel, i, seq}))
            return false;
    }
    raise_to(&lanes->settled, notes);
    return true;
}

/* ---- all that was given so far ------------------------------------------- */

/* The number in each lane of what it was given so far, all of it submitted. Return:
 * ADSM_OK, or why there is none */
static int numbers(struct adsm_accel *accel, uint32_t used, uint64_t *seq)
{
    int status = adsm_lane_submit(accel, UINT64_MAX);
    for (uint32_t i = 0; i < used && status == ADSM_OK; i++) {
        struct adsm_lane *lane = &accel->lanes->lane[i];
        seq[i] = atomic_load_explicit(&lane->given, memory_order_acquire);
        if (!has_noted_work(lane))
            continue;
        adsm_lock_acquire(&lane->lock);
        status = adsm_lane_cover_notes(accel, lane, &seq[i]);
        adsm_lock_release(&lane->lock);
    }
    return status;
}

static bool are_reached(struct adsm_accel *accel, uint32_t used,
                        const uint64_t *seq)
{
    for (uint32_t i = 0; i < used; i++)
        if (!adsm_fence_done((struct adsm_fence){accel, i, seq[i]}))
            return false;
    return true;
}

/* Return: true: all is over, and a quiet stretch has begun, one for all locks
 * and calls */
static bool await_quietly(struct adsm_accel *accel)
{
    struct adsm_slices slices = {0};
    uint64_t seq[ADSM_LANES];
    uint32_t used =
        atomic_load_explicit(&accel->lanes->used, memory_order_acquire);
    if (!adsm_slices_begin())
        return false;
    adsm_quiet_enter();
    int status = numbers(accel, used, seq);
    while (status == ADSM_OK && !are_reached(accel, used, seq)) {
        adsm_quiet_leave();
        if (!adsm_slices_next(&slices))
            return false;
        adsm_quiet_enter();
    }
    if (status != ADSM_OK)
        adsm_quiet_leave();
    return status == ADSM_OK;
}

bool adsm_lanes_are_idle(struct adsm_accel *accel)
{
    uint64_t seq[ADSM_LANES];
    uint32_t used =
        atomic_load_explicit(&accel->lanes->used, memory_order_acquire);
    if (numbers(accel, used, seq) != ADSM_OK)
        return false;
    for (uint32_t i = 0; i < used; i++)
        if (!is_copy_lane(i) &&
            !adsm_fence_done((struct adsm_fence){accel, i, seq[i]}))
            return false;
    return true;
}

bool adsm_accel_await(struct adsm_accel *accel)
{
    bool over = await_quietly(accel);
    if (over)
        adsm_quiet_leave();
    return over;
}

static int order_noted(struct adsm_accel *accel, struct adsm_lane *lane,
                       struct adsm_accel *waits, uint32_t copy_lane)
{
    uint32_t way = copy_lane - ADSM_LANE_UPLOAD;
    adsm_stream stream = waits->lanes->lane[copy_lane].stream;
    bool own = waits == accel;
    uint64_t seq;
    adsm_lock_acquire(&lane->lock);
    int status = adsm_lane_cover_notes(accel, lane, &seq);
    if (status == ADSM_OK && !(own && lane->ordered[way] >= seq)) {
        status = adsm_lane_order(accel, lane, seq, waits, stream);
        if (status == ADSM_OK && own)
            lane->ordered[way] = seq;
    }
    adsm_lock_release(&lane->lock);
    if (status != ADSM_OK && adsm_accel_health(accel) == ADSM_OK)
        status = adsm_lane_settle_all(accel, lane);
    return status;
}

int adsm_lane_order_noted(struct adsm_accel *accel, struct adsm_accel *waits,
                          uint32_t copy_lane)
{
    bool own = waits == accel;
    struct adsm_lanes *lanes = accel->lanes;
    _Atomic uint64_t *ordered = &lanes->ordered[copy_lane - ADSM_LANE_UPLOAD];
    uint64_t notes = atomic_load_explicit(&lanes->notes, memory_order_acquire);
    if ((own && atomic_load_explicit(ordered, memory_order_acquire) >= notes) ||
        atomic_load_explicit(&lanes->settled, memory_order_acquire) >= notes)
        return ADSM_OK;
    uint32_t used = atomic_load_explicit(&lanes->used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        if (is_copy_lane(i) || !has_noted_work(&lanes->lane[i]))
            continue;
        int status = order_noted(accel, &lanes->lane[i], waits, copy_lane);
        if (status != ADSM_OK)
            return status;
    }
    if (own)
        raise_to(ordered, notes);
    return ADSM_OK;
}

/* ---- uploads before launches --------------------------------------------- */

int adsm_lane_order_uploads(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_lane *upload = &accel->lanes->lane[ADSM_LANE_UPLOAD];
    uint64_t seq = atomic_load_explicit(&upload->given, memory_order_acquire);
    if (adsm_lane_is_done(upload, seq))
        return ADSM_OK;
    struct adsm_lane *lane = adsm_lane_of(accel, stream, false);
    if (!lane)
        return adsm_accel_health(accel);
    uint64_t seen = lane->uploads_seen;
    adsm_lock_release(&lane->lock);
    if (seen >= seq)
        return ADSM_OK;
    int status = adsm_fence_order(
        accel, stream, (struct adsm_fence){accel, ADSM_LANE_UPLOAD, seq});
    lane = status == ADSM_OK ? adsm_lane_find(accel, stream, false) : NULL;
    if (lane) {
        if (lane->uploads_seen < seq)
            lane->uploads_seen = seq;
        adsm_lock_release(&lane->lock);
    }
    return status;
}

int adsm_accel_synchronize(struct adsm_accel *accel)
{
    struct adsm_lanes *lanes = accel->lanes;
    uint64_t given[ADSM_LANES], notes[ADSM_LANES];
    int status = adsm_lane_submit(accel, UINT64_MAX);
    if (status != ADSM_OK)
        return status;
    uint64_t all = atomic_load_explicit(&lanes->notes, memory_order_acquire);
    uint32_t used = atomic_load_explicit(&lanes->used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        given[i] = adsm_lane_submitted(&lanes->lane[i]);
        notes[i] =
            atomic_load_explicit(&lanes->lane[i].notes, memory_order_acquire);
    }
    /* Where all ended that is known of, what is left is not worth opening the
     * thread to handlers that could not use the driver. */
    uint64_t start = adsm_trace_begin();
    bool awaited = await_quietly(accel);
    status = accel->ops->context_wait(accel);
    adsm_trace_end(ADSM_TRACE_wait, "wait", start, accel->device, NULL);
    if (awaited)
        adsm_quiet_leave();
    if (status != ADSM_OK)
        return status;
    for (uint32_t i = 0; i < used; i++) {
        adsm_lock_acquire(&lanes->lane[i].lock);
        adsm_lane_all_done(accel, &lanes->lane[i], given[i], notes[i]);
        adsm_lock_release(&lanes->lane[i].lock);
    }
    raise_to(&lanes->settled, all);
    return ADSM_OK;
}

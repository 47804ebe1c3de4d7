/*
 * Fences: recording, reaching, waiting; see lane.h. Which lane a stream has
 * is in lane_table.c, what was noted in lane_note.c.
 */
#include "accel/lane.h"

#include "accel/device.h"
#include "accel/error.h"
#include "accel/lane_parts.h"
#include "base/pool.h"
#include "base/slices.h"
#include "base/trace.h"

/* ---- marks: events that stand for a number ------------------------------ */

static struct adsm_pool marks = ADSM_POOL_INIT(sizeof(struct adsm_mark), 8);

static int mark_get(struct adsm_accel *accel, struct adsm_mark **got)
{
    struct adsm_lanes *lanes = accel->lanes;
    adsm_lock_acquire(&lanes->unused_lock);
    struct adsm_mark *mark = lanes->unused;
    if (mark)
        lanes->unused = mark->next;
    adsm_lock_release(&lanes->unused_lock);
    *got = mark;
    if (mark)
        return ADSM_OK;
    mark = adsm_pool_get(&marks);
    if (!mark)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for an event", NULL);
    *mark = (struct adsm_mark){0};
    int status = accel->ops->event_create(accel, &mark->event);
    if (status != ADSM_OK) {
        adsm_pool_put(&marks, mark);
        return status;
    }
    *got = mark;
    return ADSM_OK;
}

static void mark_put(struct adsm_accel *accel, struct adsm_mark *mark)
{
    struct adsm_lanes *lanes = accel->lanes;
    adsm_lock_acquire(&lanes->unused_lock);
    mark->next = lanes->unused;
    lanes->unused = mark;
    adsm_lock_release(&lanes->unused_lock);
}

int adsm_marks_create(struct adsm_accel *accel)
{
    struct adsm_mark *mark = NULL;
    int status = mark_get(accel, &mark);
    if (status == ADSM_OK)
        mark_put(accel, mark);
    return status;
}

void adsm_marks_destroy(struct adsm_accel *accel)
{
    struct adsm_mark *mark;
    while ((mark = accel->lanes->unused)) {
        accel->lanes->unused = mark->next;
        /* Fails only where the context is dead, and the event with it. */
        (void)accel->ops->event_destroy(accel, mark->event);
        adsm_pool_put(&marks, mark);
    }
}

/* A mark has left its lane; while threads wait on its event it must not be
 * recorded again, so the last of them gives it back. lane->lock is held. */
static void mark_drop(struct adsm_accel *accel, struct adsm_mark *mark)
{
    mark->dropped = true;
    if (mark->waiters == 0)
        mark_put(accel, mark);
}

static struct adsm_mark *mark_at(const struct adsm_lane *lane, uint32_t i)
{
    return lane->marks[(lane->first + i) % ADSM_LANE_EVENTS];
}

/* ---- one lane; lane->lock is held --------------------------------------- */

void adsm_lane_reach(struct adsm_accel *accel, struct adsm_lane *lane,
                     uint64_t seq)
{
    if (!adsm_lane_is_done(lane, seq))
        atomic_store_explicit(&lane->done, seq, memory_order_release);
    while (lane->count > 0 && adsm_lane_is_done(lane, mark_at(lane, 0)->seq)) {
        mark_drop(accel, mark_at(lane, 0));
        lane->first = (lane->first + 1) % ADSM_LANE_EVENTS;
        lane->count--;
    }
    if (adsm_lane_is_done(lane, lane->notes_seq))
        atomic_store_explicit(&lane->notes_done, lane->notes_covered,
                              memory_order_release);
}

void adsm_lane_all_done(struct adsm_accel *accel, struct adsm_lane *lane,
                        uint64_t seq, uint64_t notes)
{
    if (lane->recorded < seq)
        lane->recorded = seq;
    if (lane->notes_covered < notes) {
        lane->notes_covered = notes;
        lane->notes_seq = seq;
    }
    adsm_lane_reach(accel, lane, seq);
}

/* Make room in a full ring: what is reached goes; when nothing is, every
 * second mark goes, and its fences wait for the one behind it. */
static void make_room(struct adsm_accel *accel, struct adsm_lane *lane)
{
    bool reached = true;
    while (reached && lane->count > 0) {
        struct adsm_mark *oldest = mark_at(lane, 0);
        if (accel->ops->event_query(accel, oldest->event, &reached) != ADSM_OK)
            break;
        if (reached)
            adsm_lane_reach(accel, lane, oldest->seq);
    }
    if (lane->count < ADSM_LANE_EVENTS)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lane->count; i++) {
        struct adsm_mark *mark = mark_at(lane, i);
        if (i % 2 == 0)
            mark_drop(accel, mark);
        else
            lane->marks[(lane->first + kept++) % ADSM_LANE_EVENTS] = mark;
    }
    lane->count = kept;
}

int adsm_lane_record(struct adsm_accel *accel, struct adsm_lane *lane)
{
    struct adsm_mark *mark = NULL;
    /* Read first: a number given from here on may not be covered. */
    uint64_t seq = adsm_lane_submitted(lane);
    uint64_t notes = atomic_load_explicit(&lane->notes, memory_order_acquire);
    /* Held: who waits for more has it submitted. */
    if (seq <= lane->recorded && notes <= lane->notes_covered)
        return ADSM_OK;
    if (lane->count == ADSM_LANE_EVENTS)
        make_room(accel, lane);
    int status = mark_get(accel, &mark);
    if (status != ADSM_OK)
        return status;
    status = accel->ops->event_record(accel, mark->event, lane->stream);
    if (status != ADSM_OK) {
        mark_put(accel, mark);
        return status;
    }
    mark->seq = seq;
    mark->waiters = 0;
    mark->dropped = false;
    lane->marks[(lane->first + lane->count++) % ADSM_LANE_EVENTS] = mark;
    lane->recorded = seq;
    if (lane->notes_covered < notes) {
        lane->notes_covered = notes;
        lane->notes_seq = seq;
    }
    return ADSM_OK;
}

int adsm_lane_cover_notes(struct adsm_accel *accel, struct adsm_lane *lane,
                          uint64_t *seq)
{
    int status = ADSM_OK;
    if (atomic_load_explicit(&lane->notes, memory_order_acquire) >
        lane->notes_covered) {
        atomic_fetch_add_explicit(&lane->given, 1, memory_order_release);
        status = adsm_lane_record(accel, lane);
    }
    *seq = lane->notes_seq;
    return status;
}

/* The oldest mark at or above `seq`, recorded now if there is none yet. */
static int mark_for(struct adsm_accel *accel, struct adsm_lane *lane,
                    uint64_t seq, struct adsm_mark **mark)
{
    if (lane->recorded < seq) {
        int status = adsm_lane_record(accel, lane);
        if (status != ADSM_OK)
            return status;
    }
    for (uint32_t i = 0; i < lane->count; i++)
        if (mark_at(lane, i)->seq >= seq) {
            *mark = mark_at(lane, i);
            return ADSM_OK;
        }
    return adsm_accel_fail(ADSM_E_DEVICE, "a fence names work that was never ",
                           "submitted", NULL);
}

int adsm_lane_order(struct adsm_accel *accel, struct adsm_lane *lane,
                    uint64_t seq, struct adsm_accel *waits, adsm_stream stream)
{
    struct adsm_mark *mark = NULL;
    /* The default streams of all accels have one handle. */
    if (adsm_lane_is_done(lane, seq) ||
        (waits == accel && lane->state == ADSM_LANE_LIVE &&
         lane->stream == stream && lane->thread == 0))
        return ADSM_OK;
    int status = mark_for(accel, lane, seq, &mark);
    if (status != ADSM_OK)
        return status;
    /* A driver does not know the events of another one. */
    return waits->ops == accel->ops
               ? waits->ops->stream_order(waits, stream, mark->event)
               : accel->ops->event_wait(accel, mark->event, 0);
}

/* ---- what is held -------------------------------------------------------- */

static bool is_held(struct adsm_lane *lane, uint64_t seq)
{
    uint64_t held = atomic_load_explicit(&lane->held, memory_order_acquire);
    return held != 0 && held <= seq;
}

uint64_t adsm_lane_hold(struct adsm_accel *accel, uint32_t which)
{
    struct adsm_lane *lane = &accel->lanes->lane[which];
    adsm_lock_acquire(&lane->lock);
    /* A submission may get this number meanwhile, and ours be a later one: it
     * counts as held then, too. */
    if (atomic_load_explicit(&lane->held, memory_order_relaxed) == 0)
        atomic_store_explicit(&lane->held, atomic_load(&lane->given) + 1,
                              memory_order_relaxed);
    uint64_t seq = adsm_lane_tick(accel, which);
    adsm_lock_release(&lane->lock);
    return seq;
}

void adsm_lane_unhold(struct adsm_accel *accel, uint32_t lane)
{
    /* Release: it has been submitted. */
    atomic_store_explicit(&accel->lanes->lane[lane].held, 0,
                          memory_order_release);
}

int adsm_lane_submit(struct adsm_accel *accel, uint64_t seq)
{
    return is_held(&accel->lanes->lane[ADSM_LANE_UPLOAD], seq)
               ? accel->lanes->submit(accel)
               : ADSM_OK;
}

/* Take the lane's lock, with all up to `seq` submitted. Return: ADSM_OK; why it
 * cannot be, the lock is not held then */
static int lock_submitted(struct adsm_accel *accel, struct adsm_lane *lane,
                          uint64_t seq)
{
    for (;;) {
        int status = is_held(lane, seq) ? accel->lanes->submit(accel) : ADSM_OK;
        if (status != ADSM_OK)
            return status;
        adsm_lock_acquire(&lane->lock);
        /* Once more only where `seq` was given while another one was held. */
        if (!is_held(lane, seq))
            return ADSM_OK;
        adsm_lock_release(&lane->lock);
    }
}

/* ---- waiting on the CPU -------------------------------------------------- */

/* An event could not be recorded, as on a stream that was destroyed behind our
 * back: everything on the context is waited for instead. */
int adsm_lane_settle_all(struct adsm_accel *accel, struct adsm_lane *lane)
{
    uint64_t seq = adsm_lane_submitted(lane);
    uint64_t notes = atomic_load_explicit(&lane->notes, memory_order_acquire);
    uint64_t start = adsm_trace_begin();
    int status = accel->ops->context_wait(accel);
    adsm_trace_end(ADSM_TRACE_wait, "wait", start, accel->device, NULL);
    if (status != ADSM_OK)
        return status;
    adsm_lock_acquire(&lane->lock);
    adsm_lane_all_done(accel, lane, seq, notes);
    adsm_lock_release(&lane->lock);
    return ADSM_OK;
}

/* In slices, where handlers of the program can run meanwhile; else the driver
 * waits. */
static int wait_event(struct adsm_accel *accel, adsm_device_event event,
                      uint64_t spin_ns)
{
    struct adsm_slices slices = {0};
    bool reached = false;
    int status = ADSM_OK;
    if (adsm_slices_begin())
        do
            status = accel->ops->event_query(accel, event, &reached);
        while (status == ADSM_OK && !reached && adsm_slices_next(&slices));
    return reached || status != ADSM_OK
               ? status
               : accel->ops->event_wait(accel, event, spin_ns);
}

int adsm_lane_wait(struct adsm_accel *accel, struct adsm_lane *lane,
                   uint64_t seq, uint64_t spin_ns)
{
    struct adsm_mark *mark = NULL;
    if (adsm_lane_is_done(lane, seq))
        return ADSM_OK;
    int status = lock_submitted(accel, lane, seq);
    if (status != ADSM_OK)
        return status;
    bool done = adsm_lane_is_done(lane, seq);
    status = done ? ADSM_OK : mark_for(accel, lane, seq, &mark);
    if (mark)
        mark->waiters++;
    adsm_lock_release(&lane->lock);
    if (done)
        return ADSM_OK;
    if (!mark)
        return adsm_accel_health(accel) == ADSM_OK
                   ? adsm_lane_settle_all(accel, lane)
                   : status;
    uint64_t start = adsm_trace_begin();
    status = wait_event(accel, mark->event, spin_ns);
    adsm_trace_end(ADSM_TRACE_wait, "wait", start, accel->device, NULL);
    adsm_lock_acquire(&lane->lock);
    mark->waiters--;
    bool last = mark->dropped && mark->waiters == 0;
    if (status == ADSM_OK && !adsm_lane_is_done(lane, mark->seq))
        adsm_lane_reach(accel, lane, mark->seq);
    if (last)
        mark_put(accel, mark);
    adsm_lock_release(&lane->lock);
    return status;
}

/* The lane of a fence; NULL: there is nothing to wait for. */
static struct adsm_lane *lane_of(const struct adsm_fence *fence)
{
    if (!fence->accel)
        return NULL;
    struct adsm_lane *lane = &fence->accel->lanes->lane[fence->lane];
    return adsm_lane_is_done(lane, fence->seq) ? NULL : lane;
}

int adsm_fence_wait_spinning(struct adsm_fence fence, uint64_t spin_ns)
{
    struct adsm_lane *lane = lane_of(&fence);
    return lane ? adsm_lane_wait(fence.accel, lane, fence.seq, spin_ns)
                : ADSM_OK;
}

int adsm_fence_wait(struct adsm_fence fence)
{
    return adsm_fence_wait_spinning(fence, 0);
}

bool adsm_fence_done(struct adsm_fence fence)
{
    struct adsm_accel *accel = fence.accel;
    struct adsm_lane *lane = lane_of(&fence);
    struct adsm_mark *mark = NULL;
    bool reached = false;
    if (!lane)
        return true;
    if (lock_submitted(accel, lane, fence.seq) != ADSM_OK)
        return adsm_accel_health(accel) != ADSM_OK;
    if (adsm_lane_is_done(lane, fence.seq))
        reached = true;
    else if (mark_for(accel, lane, fence.seq, &mark) == ADSM_OK &&
             accel->ops->event_query(accel, mark->event, &reached) != ADSM_OK)
        reached = false;
    if (reached && mark)
        adsm_lane_reach(accel, lane, mark->seq);
    adsm_lock_release(&lane->lock);
    /* On a dead device nothing is ever reached: the wait tells why. One that
     * lives may not have been able to say so just now. */
    return reached || adsm_accel_health(accel) != ADSM_OK;
}

void adsm_fence_mark(struct adsm_fence fence)
{
    struct adsm_lane *lane = lane_of(&fence);
    struct adsm_mark *mark;
    if (!lane || lock_submitted(fence.accel, lane, fence.seq) != ADSM_OK)
        return;
    if (!adsm_lane_is_done(lane, fence.seq))
        (void)mark_for(fence.accel, lane, fence.seq, &mark);
    adsm_lock_release(&lane->lock);
}

int adsm_fence_order(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_fence fence)
{
    struct adsm_lane *lane = lane_of(&fence);
    if (!lane)
        return ADSM_OK;
    int status = lock_submitted(fence.accel, lane, fence.seq);
    if (status != ADSM_OK)
        return status;
    status = adsm_lane_order(fence.accel, lane, fence.seq, accel, stream);
    adsm_lock_release(&lane->lock);
    return status;
}

uint64_t adsm_lane_tick(struct adsm_accel *accel, uint32_t lane)
{
    /* Release: the submission comes before its number. */
    return atomic_fetch_add_explicit(&accel->lanes->lane[lane].given, 1,
                                     memory_order_release) +
           1;
}

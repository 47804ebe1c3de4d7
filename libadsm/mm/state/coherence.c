/*
 * The engine that runs the protocol tables; sole writer of block states.
 *
 * Protection is a function of the state, so a block is closed before it is
 * flushed and opened after it was fetched; both transfers use the shadow. A
 * flush is enqueued and not waited for: who writes a block waits until its own
 * upload is through. So an upload takes along what was there when it was
 * enqueued, on which calls and device copies behind it rely.
 */
#include "mm/state/coherence_parts.h"

#include "base/log.h"
#include "mm/object/holders.h"
#include "mm/object/list.h"
#include "mm/state/run.h"
#include "mm/state/dirty.h"
#include "mm/watch/ahead.h"
#include "mm/watch/sparse.h"
#include "mm/watch/twin.h"

static const struct adsm_protocol *protocol = &adsm_protocol_rolling;
static const struct adsm_protocol *direct = &adsm_protocol_direct;

const struct adsm_protocol *
adsm_coherence_protocol_of(const struct adsm_object *object)
{
    return object->direct ? direct : protocol;
}

const struct adsm_cell *adsm_coherence_cell(const struct adsm_object *object,
                                            enum adsm_event event,
                                            enum adsm_state state)
{
    return &adsm_coherence_protocol_of(object)->cell[event][state];
}

void adsm_coherence_init(const struct adsm_protocol *chosen,
                         const struct adsm_protocol *of_direct,
                         const struct adsm_options *options)
{
    protocol = chosen;
    direct = of_direct;
    if (adsm_protocol_queues(chosen) && !adsm_dirty_init(options))
        adsm_log(ADSM_LOG_WARN, "no memory for the queue of dirty blocks: what "
                                "is written stays here until the next call");
}

const struct adsm_protocol *adsm_coherence_protocol(void)
{
    return protocol;
}

void adsm_coherence_adopt(struct adsm_object *object)
{
    if (adsm_block_state(object, 0) != ADSM_DIRTY)
        return;
    atomic_store(&object->dirty, object->block_count);
    adsm_dirty_count(object, object->block_count);
}

void adsm_coherence_end_twins(struct adsm_object *object)
{
    adsm_dirty_count(object, adsm_twin_count(object, 0, object->block_count));
    for (uint32_t i = 0; i < object->block_count; i++)
        adsm_block_change(object, i, ADSM_BLOCK_TWIN, 0);
}

void adsm_coherence_abandon(struct adsm_object *object)
{
    int64_t watched = atomic_load(&object->watched);
    adsm_sparse_abandon(object);
    adsm_coherence_end_twins(object);
    adsm_dirty_count(object, watched - atomic_exchange(&object->dirty, 0));
    atomic_store(&object->near, 0);
}

static void set_state(struct adsm_object *object, uint32_t i,
                      enum adsm_state next)
{
    uint8_t clear = ADSM_BLOCK_STATE;
    if (next != ADSM_DIRTY)
        clear |= ADSM_BLOCK_TWIN;
    /* The device writes it as well. */
    if (next == ADSM_INVALID && adsm_twin_is_large(object, i))
        clear |= ADSM_BLOCK_HEAT;
    (void)adsm_block_change(object, i, clear, (uint8_t)next);
}

void adsm_coherence_set_states(struct adsm_object *object, uint32_t first,
                               uint32_t count, enum adsm_state state,
                               enum adsm_state next)
{
    if (state == next)
        return;
    if (state == ADSM_READ_ONLY)
        adsm_ahead_left(object, first, count);
    int64_t whole = (int64_t)count - adsm_sparse_count(object, first, count) -
                    adsm_twin_count(object, first, count);
    for (uint32_t i = first; i < first + count; i++)
        set_state(object, i, next);
    if (state == ADSM_DIRTY) {
        atomic_fetch_sub(&object->dirty, count);
        adsm_dirty_count(object, -whole);
        adsm_sparse_unwatch(object, first, count);
    } else if (next == ADSM_DIRTY) {
        atomic_store(&object->settled, false);
        atomic_fetch_add(&object->dirty, count);
        adsm_dirty_count(object, whole);
    }
    if (state == ADSM_INVALID) {
        if (atomic_fetch_add(&object->near, count) == 0)
            adsm_object_update_near(object);
    } else if (next == ADSM_INVALID) {
        if (atomic_fetch_sub(&object->near, count) == count)
            adsm_object_update_near(object);
    }
}

static bool is_fault(enum adsm_event event)
{
    return event == ADSM_READ_FAULT || event == ADSM_WRITE_FAULT;
}

/* An access waits for the block. */
static bool opens_at_once(enum adsm_event event)
{
    return is_fault(event) || event == ADSM_GIVEN_UP;
}

/* Does the step want pages of the host? One that leaves all as it is does not,
 * but an access, which may be the first touch. Nor does a note of what a part
 * of a call has done. */
static bool needs_host(const struct adsm_cell *cell, enum adsm_state state,
                       enum adsm_event event)
{
    return (cell->next > state) ||
           (cell->actions & (ADSM_DO_FETCH | ADSM_DO_FLUSH)) ||
           opens_at_once(event);
}

/* Where no mapping is left to open a block, the bytes just fetched serve a
 * loan as they are, and a fault after a return will fetch them again. */
static bool is_read_at_shadow(enum adsm_event event)
{
    return event == ADSM_BULK_READ || event == ADSM_RETURN;
}

int adsm_coherence_bring(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_state state,
                         enum adsm_event event, const struct adsm_cause *cause)
{
    const struct adsm_cell *cell = adsm_coherence_cell(object, event, state);
    int rc = ADSM_OK;
    if (needs_host(cell, state, event))
        rc = adsm_run_prepare(object, first, count, opens_at_once(event));
    /* A fetch from the home comes behind its uploads; those to other devices
     * may be of bytes that need no fetch. */
    if (cell->next == ADSM_DIRTY && state != ADSM_DIRTY &&
        (!(cell->actions & ADSM_DO_FETCH) || object->holders))
        adsm_run_await_uploads(object, first, count);
    if (rc == ADSM_OK && (cell->actions & ADSM_DO_FETCH))
        rc = adsm_run_fetch(object, first, count, cause);
    return rc;
}

void adsm_coherence_set_gathered(struct adsm_object *object, bool gathered)
{
    int64_t dirty = atomic_load(&object->dirty);
    if (object->holders->gathered == gathered)
        return;
    adsm_dirty_unwatch(object, 0, object->block_count);
    adsm_coherence_end_twins(object);
    /* Of one that is not nothing counts. */
    if (!gathered)
        adsm_dirty_count(object, -dirty);
    object->holders->gathered = gathered;
    if (gathered)
        adsm_dirty_count(object, dirty);
    atomic_store(&object->settled, false);
    adsm_object_update_near(object);
}

/* What was written of a block that stays open, compared with its twin. */
static int send_difference(struct adsm_object *object, uint32_t i,
                           const struct adsm_cause *cause)
{
    int64_t before = adsm_twin_is_there(object, i);
    int rc = adsm_twin_send(object, i, cause);
    adsm_dirty_count(object, before - adsm_twin_is_there(object, i));
    return rc;
}

/* What was written of blocks that stay open. */
static int send_changes(struct adsm_object *object, uint32_t first,
                        uint32_t count, const struct adsm_cause *cause)
{
    if (!adsm_sparse_is_watched(object, first))
        return send_difference(object, first, cause);
    uint32_t known;
    int rc = adsm_sparse_send(object, first, count, &known, cause);
    if (rc != ADSM_OK)
        known = 0;
    /* All of the rest is as good as written. */
    adsm_dirty_unwatch(object, first + known, count - known);
    return rc;
}

/* Protection is set: what goes to the device. */
static int give(struct adsm_object *object, uint32_t first, uint32_t count,
                enum adsm_state state, const struct adsm_cell *cell,
                const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    if (cell->actions & ADSM_DO_FLUSH) {
        rc = adsm_run_flush(object, first, count, cause);
        if (rc != ADSM_OK)
            (void)adsm_run_protect(object, first, count, state);
    }
    if (rc == ADSM_OK && (cell->actions & ADSM_DO_SEND_CHANGES))
        rc = send_changes(object, first, count, cause);
    return rc;
}

void adsm_coherence_enter(struct adsm_object *object, uint32_t first,
                          uint32_t count, enum adsm_state state,
                          const struct adsm_cell *cell)
{
    adsm_coherence_set_states(object, first, count, state, cell->next);
    if (cell->actions & ADSM_DO_QUEUE)
        adsm_dirty_enqueue(object, first, count);
}

/* adsm_coherence_apply; `closed`: the protection is that of the next state. */
static int apply(struct adsm_object *object, uint32_t first, uint32_t count,
                 enum adsm_event event, bool closed,
                 const struct adsm_cause *cause)
{
    enum adsm_state state = adsm_block_state(object, first);
    const struct adsm_cell *cell = adsm_coherence_cell(object, event, state);
    enum adsm_state next = cell->next;
    bool watch = event == ADSM_WRITE_FAULT && count == 1 && next != state &&
                 adsm_sparse_wants(object, first);

    if (event == ADSM_CALL_IN)
        adsm_dirty_count(
            object, adsm_twin_close(object, first, count, state == ADSM_DIRTY));
    int rc = adsm_coherence_bring(object, first, count, state, event, cause);
    if (rc == ADSM_OK && (is_fault(event) || event == ADSM_BULK_READ))
        adsm_ahead_touched(object, first, count);
    if (rc == ADSM_OK && watch)
        watch = adsm_sparse_watch(object, first);
    /* An access is answered even when the state stays: its protection may not
     * have been set yet (first touch) or another thread was quicker. */
    if (rc == ADSM_OK && !closed && (next != state || opens_at_once(event))) {
        rc = adsm_run_protect_all(object, first, count, next);
        if (rc == ADSM_E_LIMIT && is_read_at_shadow(event) && !object->direct)
            return ADSM_OK;
    }
    if (rc == ADSM_OK)
        rc = give(object, first, count, state, cell, cause);
    if (rc != ADSM_OK && watch)
        adsm_sparse_unwatch(object, first, 1);
    if (rc != ADSM_OK)
        return rc;
    if (is_fault(event))
        adsm_run_populate(object, first, count, next == ADSM_DIRTY);
    adsm_coherence_enter(object, first, count, state, cell);
    return ADSM_OK;
}

int adsm_coherence_apply(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_event event,
                         const struct adsm_cause *cause)
{
    return apply(object, first, count, event, false, cause);
}

int adsm_coherence_apply_closed(struct adsm_object *object, uint32_t first,
                                uint32_t count, enum adsm_event event,
                                const struct adsm_cause *cause)
{
    return apply(object, first, count, event, true, cause);
}

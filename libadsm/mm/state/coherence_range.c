/*
 * Events of many blocks, in any states: those of calls and device copies, which
 * have the object to themselves, and stores that open more than their block.
 */
#include "mm/state/coherence_parts.h"

#include "base/stats.h"
#include "mm/object/holders.h"
#include "mm/state/dirty.h"
#include "mm/state/run.h"
#include "mm/watch/ahead.h"
#include "mm/watch/sparse.h"
#include "mm/watch/twin.h"
#include "os/fault_range.h"

/* ---- of calls ------------------------------------------------------------ */

/* What a call, or a device copy, that only reads the object is for block `i`. */
static enum adsm_event event_for(struct adsm_object *object, uint32_t i,
                                 enum adsm_event event)
{
    const struct adsm_cell *kept =
        adsm_coherence_cell(object, ADSM_CALL_KEPT, ADSM_DIRTY);
    bool watched = adsm_sparse_is_watched(object, i);
    if ((event != ADSM_CALL_IN && !(event == ADSM_DEVICE_READ && watched)) ||
        kept->next != ADSM_DIRTY || adsm_block_state(object, i) != ADSM_DIRTY)
        return event;
    bool keeps =
        watched ? adsm_sparse_keeps(object, i) : adsm_twin_keeps(object, i);
    return keeps ? ADSM_CALL_KEPT : event;
}

/* Do all blocks of the range end in one state that allows less than theirs, or as
 * much for some? Then one change of protection serves them, however many runs
 * there are. */
static bool closes_uniformly(struct adsm_object *object, uint32_t first,
                             uint32_t count, enum adsm_event event,
                             enum adsm_state *next)
{
    bool closes = false;
    *next = adsm_coherence_cell(object, event, adsm_block_state(object, first))
                ->next;
    for (uint32_t i = first; i < first + count; i++) {
        enum adsm_state state = adsm_block_state(object, i);
        if (adsm_coherence_cell(object, event, state)->next != *next ||
            state < *next || event_for(object, i, event) != event)
            return false;
        closes = closes || state > *next;
    }
    return closes;
}

/* Blocks from `first` on, at most `limit`, that one step serves: in one state,
 * held by nobody where they are fetched, and kept open one by one, unless they
 * are watched. */
static uint32_t uniform_run(struct adsm_object *object, uint32_t first,
                            uint32_t limit, enum adsm_event event)
{
    if (event == ADSM_CALL_KEPT)
        return adsm_sparse_is_watched(object, first)
                   ? adsm_sparse_run(object, first, limit)
                   : 1;
    uint32_t n = adsm_block_run(object, first, limit);
    const struct adsm_cell *cell =
        adsm_coherence_cell(object, event, adsm_block_state(object, first));
    for (uint32_t k = 1; k < n; k++)
        if (((cell->actions & ADSM_DO_FETCH) &&
             adsm_block_is_held(object, first + k)) ||
            event_for(object, first + k, event) != event)
            n = k;
    return n;
}

/* Blocks that were watched, and sent as far as was known, and stayed open: those
 * that are to be so no more. What was written to them since goes with that. */
static int close_over(struct adsm_object *object, uint32_t first,
                      uint32_t count, const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    for (uint32_t n, i = first; i < first + count && rc == ADSM_OK; i += n) {
        bool over = adsm_sparse_is_over(object, i);
        for (n = 1; i + n < first + count &&
                    adsm_sparse_is_over(object, i + n) == over;)
            n++;
        if (over)
            rc = adsm_coherence_apply(object, i, n, ADSM_CALL_IN, cause);
    }
    return rc;
}

/* Does the device write it, so that the CPU has to ask for it again? */
static bool takes(enum adsm_event event)
{
    return event == ADSM_CALL || event == ADSM_CALL_OUT ||
           event == ADSM_DEVICE_WRITE;
}

int adsm_coherence_apply_all(struct adsm_object *object, uint32_t first,
                             uint32_t count, enum adsm_event event,
                             const struct adsm_cause *cause)
{
    enum adsm_event all =
        !adsm_object_is_gathered(object) ? ADSM_PART_WRITE : ADSM_CALL;
    if (takes(event))
        adsm_ahead_taken(object, first, count);
    if (event == ADSM_CALL_IN)
        adsm_twin_call(object);
    enum adsm_state next;
    bool closed = closes_uniformly(object, first, count, event, &next);
    if (closed) {
        int rc = adsm_run_protect_all(object, first, count, next);
        if (rc != ADSM_OK && rc != ADSM_E_LIMIT)
            return rc;
        /* What is not mapped yet will be, closed to all. */
        closed = rc == ADSM_OK && atomic_load(&object->backed);
    }
    bool whole = first == 0 && count == object->block_count;
    for (uint32_t i = first; i < first + count;) {
        enum adsm_event here = event_for(object, i, event);
        enum adsm_state state = adsm_block_state(object, i);
        bool held = adsm_block_is_held(object, i);
        if (held && (adsm_coherence_cell(object, here, state)->actions &
                     ADSM_DO_FETCH)) {
            i++; /* its holder is overwriting it */
            continue;
        }
        bool watched =
            here == ADSM_CALL_KEPT && adsm_sparse_is_watched(object, i);
        uint32_t n = uniform_run(object, i, first + count - i, here);
        int rc = closed ? adsm_coherence_apply_closed(object, i, n, here, cause)
                        : adsm_coherence_apply(object, i, n, here, cause);
        if (rc == ADSM_OK && watched)
            rc = close_over(object, i, n, cause);
        /* Closing a part of an open stretch takes mappings, closing the whole
         * object gives some back. Of one that is not gathered nothing goes home
         * for that: who has what was noted when the call began. */
        if (rc == ADSM_E_LIMIT && !(whole && event == all))
            return adsm_coherence_apply_all(object, 0, object->block_count, all,
                                            cause);
        if (rc != ADSM_OK)
            return rc;
        i += n;
    }
    return ADSM_OK;
}

/* ---- of stores ----------------------------------------------------------- */

/* A loan holds a block of the range that only the device has: what it has moved
 * in so far must not be fetched over, and the rest is not there. */
static bool is_awaited(const struct adsm_object *object, uint32_t first,
                       uint32_t last)
{
    for (uint32_t i = first; i < last; i++)
        if (adsm_block_is_held(object, i) &&
            adsm_block_state(object, i) == ADSM_INVALID)
            return true;
    return false;
}

/* The host gets what it has not of [first, last), to be written. */
static int bring_range(struct adsm_object *object, uint32_t first,
                       uint32_t last, const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    for (uint32_t n, i = first; i < last && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, last - i);
        rc = adsm_coherence_bring(object, i, n, adsm_block_state(object, i),
                                  ADSM_WRITE_FAULT, cause);
    }
    return rc;
}

static void enter_range(struct adsm_object *object, uint32_t first,
                        uint32_t last)
{
    for (uint32_t n, i = first; i < last; i += n) {
        enum adsm_state state = adsm_block_state(object, i);
        n = adsm_block_run(object, i, last - i);
        adsm_coherence_enter(
            object, i, n, state,
            adsm_coherence_cell(object, ADSM_WRITE_FAULT, state));
    }
}

/* To each of [first, last) a write fault, with one change of protection. `i` is
 * the block of the access: the youngest to be written back. */
static int open_range(struct adsm_object *object, uint32_t first, uint32_t last,
                      uint32_t i, const struct adsm_cause *cause)
{
    int rc = bring_range(object, first, last, cause);
    /* Without its mapping there would be other pages to open. */
    if (rc == ADSM_OK && !atomic_load(&object->backed))
        return ADSM_E_LIMIT;
    if (rc == ADSM_OK)
        rc = adsm_run_protect_all(object, first, last - first, ADSM_DIRTY);
    /* Up to the end of its last tract the object is a mapping of its own. */
    if (rc == ADSM_E_LIMIT && last - first == object->block_count &&
        atomic_load(&object->backed))
        rc = adsm_fault_range_protect((uintptr_t)object->host,
                                      object->span.bytes, ADSM_PROT_READ_WRITE);
    if (rc != ADSM_OK)
        return rc;
    enter_range(object, first, i);
    enter_range(object, i + 1, last);
    enter_range(object, i, i + 1);
    return ADSM_OK;
}

int adsm_coherence_open(struct adsm_object *object, uint32_t first,
                        uint32_t count, uint32_t i,
                        const struct adsm_cause *cause)
{
    adsm_dirty_unwatch(object, first, count);
    int rc = open_range(object, first, first + count, i, cause);
    /* Not joined: the next call closes it, and small blocks split it again. */
    if (rc == ADSM_OK)
        adsm_run_populate_small(object, first, count, true);
    return rc;
}

int adsm_coherence_widen(struct adsm_object *object, uint32_t i, bool *awaited,
                         const struct adsm_cause *cause)
{
    /* How far to look for an open neighbour: fetching more than this costs
     * more than it saves. */
    enum { REACH = 64 };
    uint32_t from = i;
    ADSM_COUNT(block_widenings, 1);
    while (from > 0 && i - from < REACH &&
           adsm_block_state(object, from - 1) != ADSM_DIRTY)
        from--;
    if (from > 0 && i - from < REACH && !is_awaited(object, from, i + 1)) {
        int rc = open_range(object, from, i + 1, i, cause);
        if (rc != ADSM_E_LIMIT)
            return rc;
    }
    *awaited = is_awaited(object, 0, object->block_count);
    return *awaited ? ADSM_OK
                    : open_range(object, 0, object->block_count, i, cause);
}

/* ---- of memory that goes ------------------------------------------------- */

/* The host gets run [first, first + n), which only the device has. */
static int take_run(struct adsm_object *object, uint32_t first, uint32_t n,
                    const struct adsm_cause *cause)
{
    int rc = adsm_run_prepare(object, first, n, false);
    if (rc == ADSM_OK)
        rc = adsm_run_fetch(object, first, n, cause);
    if (rc == ADSM_OK)
        adsm_coherence_set_states(object, first, n, ADSM_INVALID,
                                  ADSM_READ_ONLY);
    return rc;
}

int adsm_coherence_take_home(struct adsm_object *object, bool holds,
                             const struct adsm_cause *cause)
{
    uint32_t count = object->block_count;
    int rc = is_awaited(object, 0, count) ? ADSM_E_LIMIT : ADSM_OK;
    adsm_dirty_unwatch(object, 0, count);
    adsm_coherence_end_twins(object);
    for (uint32_t n, i = 0; i < count && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, count - i);
        if (holds && adsm_block_state(object, i) == ADSM_INVALID)
            rc = take_run(object, i, n, cause);
    }
    for (uint32_t n, i = 0; i < count && rc == ADSM_OK; i += n) {
        n = adsm_block_run(object, i, count - i);
        adsm_coherence_set_states(object, i, n, adsm_block_state(object, i),
                                  ADSM_DIRTY);
    }
    return rc;
}

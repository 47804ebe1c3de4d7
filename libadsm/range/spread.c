/*
 * A call in parts, from copies to moves; see spread.h. Which copies: in
 * spread_choose.c, their memory: in spread_memory.c.
 *
 * Three passes, none of which holds two objects' locks: choose copies object by
 * object, get memory device by device, then enqueue moves and close blocks part
 * by part. The gates are closed all the while, so no CPU access comes between
 * them, and the uses of the copies keep others from evicting them.
 */
#include "range/spread_parts.h"

#include "accel/error.h"
#include "base/clock.h"
#include "base/stats.h"
#include "mm/object/gate.h"
#include "mm/state/coherence.h"
#include "range/carry.h"
#include "range/check.h"
#include "range/edge.h"
#include "range/memory.h"
#include "range/prepare.h"
#include "range/state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int adsm_spread_together(int wants)
{
    enum { NUMBERS = ADSM_HOLDERS - ADSM_HOLDER_HOME - 1 };
    return wants > 1 ? wants < NUMBERS ? NUMBERS / wants : 1 : NUMBERS;
}

/* ---- pass 3: moves -------------------------------------------------------------- */

/* Of too many copies, make the oldest go that is not needed where it is. `lent`
 * tells whether one could, but for system calls at work in its blocks. */
static int make_number(struct adsm_object *object, const struct adsm_held *held,
                       bool *lent)
{
    int rc = ADSM_E_LIMIT;
    uint64_t after = 0;
    while (rc == ADSM_E_LIMIT) {
        struct adsm_copy *oldest = adsm_held_oldest(held, after);
        if (!oldest)
            return adsm_accel_fail(rc,
                                   "an array has 254 copies at most, and all "
                                   "of them are in use just now",
                                   NULL);
        after = oldest->last_used;
        *lent = *lent || adsm_memory_is_lent(object, &oldest->box);
        rc = adsm_memory_evict_this(object, oldest);
    }
    return rc;
}

/* A number for the want's new copy. */
static int enter(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    int rc = adsm_held_enter(held, want->copy);
    want->lent = false;
    if (rc != ADSM_E_LIMIT)
        return rc;
    rc = make_number(object, held, &want->lent);
    return rc == ADSM_OK ? adsm_held_enter(held, want->copy) : rc;
}

/* What of the moves comes from another memory. */
static void count_brought(struct adsm_want *want, const struct adsm_held *held,
                          const struct adsm_moves *moves)
{
    for (uint32_t i = 0; i < moves->count; i++) {
        const struct adsm_move *move = &moves->items[i];
        const struct adsm_copy *from = held->copies[move->from];
        if (move->to == want->copy->holder &&
            (!from || from->accel != want->copy->accel))
            want->brought += adsm_box_bytes(&move->box);
    }
}

static int enqueue_reads(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    int rc = adsm_plan_read(held, want->copy, &want->reads, &moves);
    /* First: what is stored behind an upload must meet a closed block, or the
     * copy would pass for current. */
    if (rc == ADSM_OK && moves.count > 0)
        rc = adsm_ranged_sent(object, &want->reads);
    count_brought(want, held, &moves);
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0, ADSM_CAUSE(part));
    else
        adsm_plan_undo(held, &moves, 0);
    free(moves.items);
    return rc;
}

/* Record what is waited for now: behind it others' moves follow in the same
 * lanes. */
static void mark(const struct adsm_waits *waits)
{
    for (uint32_t i = 0; i < waits->count; i++)
        adsm_fence_mark(waits->fence[i]);
}

/* What the part's kernel waits for. */
static void mark_moves(const struct adsm_want *want)
{
    struct adsm_waits waits = {.count = 0};
    adsm_order_before_read(&want->copy->order, &want->room, &waits);
    mark(&waits);
}

/* What a CPU access to the box waits for. */
static void mark_fetched(struct adsm_object *object, const adsmBox *box)
{
    struct adsm_waits waits = {.count = 0};
    size_t begin, end;
    adsm_carry_host_range(adsm_ranged_shape(object), box, &begin, &end);
    adsm_flights_end_run(&adsm_ranged(object)->flights, begin, end, &waits);
    mark(&waits);
}

static int fill_want(struct adsm_want *want)
{
    bool made = adsm_copy_is_new(want->copy);
    int rc = made ? enter(want) : ADSM_OK;
    if (rc == ADSM_OK && made && adsm_check_is_on())
        rc = adsm_check_fill(want->copy);
    if (rc == ADSM_OK && !adsm_box_is_empty(&want->reads)) {
        rc = want->framed ? ADSM_OK : enqueue_reads(want);
        if (rc == ADSM_OK && adsm_prepare_has_margin(want))
            rc = adsm_edge_fill(want);
        if (rc == ADSM_OK)
            mark_moves(want);
    }
    return rc;
}

/* From here to adsm_spread_end boxes that will be written stay boxes. */
static int reserve_writes(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    int rc = ADSM_OK;
    for (struct adsm_stretches s = adsm_prepare_writes(want);
         rc == ADSM_OK && adsm_stretches_next(&s);) {
        rc = adsm_plan_reserve(held, &s.stretch);
        if (rc == ADSM_OK)
            rc = adsm_ranged_close(object, &s.stretch);
    }
    return rc;
}

static int locked(struct adsm_want *want, int work(struct adsm_want *want))
{
    int rc = adsm_array_lock(&want->array);
    if (rc == ADSM_OK) {
        rc = work(want);
        adsm_array_unlock(&want->array);
    }
    return rc;
}

/* Begin a use of the object's map. What a crowded one moves goes first. */
static int begin_use(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    struct adsm_moves moves = {0};
    int rc = adsm_plan_begin(&adsm_ranged(object)->held, &moves);
    if (rc == ADSM_OK) {
        want->begun = true;
        rc = adsm_ranged_carry(object, &moves, 0, ADSM_CAUSE(part));
    }
    free(moves.items);
    return rc;
}

static int fill_all(struct adsm_part *parts, int count, int *failed)
{
    int rc = ADSM_OK;
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);)
        if (adsm_walk_is_first(parts, count, w.want))
            rc = locked(w.want, begin_use);
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);) {
        *failed = w.next_part;
        rc = locked(w.want, fill_want);
    }
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);)
        rc = locked(w.want, reserve_writes);
    return rc;
}

/* ---- the call ---------------------------------------------------------------- */

/* A copy that was made for a check goes to where nobody finds it; of those that
 * were for one step the ones of steps long past go. Nobody asks for what is not
 * known of a device that is lost. */
static void forget(struct adsm_object *object, struct adsm_copy *copy)
{
    enum { PASSING = 4 }; /* that are kept: a step may be several calls */
    struct adsm_copy *goes = adsm_check_guard() > 0
                                 ? copy
                                 : adsm_held_passing(&adsm_ranged(object)->held,
                                                     copy->accel, PASSING);
    int gone = goes ? adsm_memory_evict_this(object, goes) : ADSM_OK;
    (void)gone; /* where it cannot be saved it stays, and goes as others do */
}

/* The use has ended. */
static void end_use(const struct adsm_want *want, struct adsm_copy *copy)
{
    struct adsm_object *object = want->array.object;
    if (copy->home || (adsm_check_guard() == 0 && !want->passing)) {
        adsm_memory_unuse(copy);
        return;
    }
    adsm_rwlock_acquire(&object->lock);
    bool there = atomic_load(&object->live) &&
                 atomic_load(&object->generation) == want->array.generation &&
                 adsm_accel_health(copy->accel) == ADSM_OK;
    adsm_memory_unuse(copy);
    if (there)
        forget(object, copy);
    adsm_rwlock_release(&object->lock);
}

/* The uses have ended; a copy that never got as far as a number goes. */
static void let_go(struct adsm_part *parts, int count)
{
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        struct adsm_copy *copy = w.want->copy;
        if (!copy)
            continue;
        w.want->copy = NULL;
        if (!adsm_copy_is_new(copy)) {
            end_use(w.want, copy);
        } else if (--copy->uses == 0) {
            if (copy->range)
                adsm_memory_put(copy);
            free(copy);
        }
    }
}

static void end_uses(struct adsm_part *parts, int count)
{
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        if (!w.want->begun)
            continue;
        /* Also of one that was freed meanwhile: its state waits for the uses. */
        struct adsm_object *object = w.want->array.object;
        adsm_rwlock_acquire(&object->lock);
        adsm_plan_end(&adsm_ranged(object)->held);
        adsm_rwlock_release(&object->lock);
        w.want->begun = false;
    }
}

/* Of all objects of a call. One that is freed meanwhile may be another by the
 * time they are opened, so the set is kept. */
static void close_gates(struct adsm_part *parts, int count)
{
    uint32_t gates = 0;
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);)
        gates |= UINT32_C(1) << atomic_load(&w.want->array.object->gate);
    parts->gates = gates;
    if (gates)
        adsm_gate_close(gates);
}

static void open_gates(struct adsm_part *parts)
{
    if (parts->gates)
        adsm_gate_open(parts->gates);
}

/* Passes 1 and 2. */
static int get_copies(struct adsm_part *parts, int count, int *failed)
{
    int rc = adsm_spread_choose(parts, count, failed);
    return rc == ADSM_OK ? adsm_spread_get_memory(parts, count, failed) : rc;
}

/* As adsm_spread_begin, without waiting for anybody. */
static int try_begin(struct adsm_part *parts, int count, int *failed)
{
    close_gates(parts, count);
    *failed = 0;
    int rc = get_copies(parts, count, failed);
    if (rc == ADSM_E_DEVICE_NOMEM) {
        /* A piece has its place in what an earlier call had whole: then there
         * may be room for nothing else. */
        let_go(parts, count);
        if (adsm_spread_leave_larger(parts, count))
            rc = get_copies(parts, count, failed);
    }
    if (rc == ADSM_OK)
        rc = fill_all(parts, count, failed);
    if (rc != ADSM_OK) {
        end_uses(parts, count);
        let_go(parts, count);
        open_gates(parts);
    }
    return rc;
}

static bool is_lent(struct adsm_part *parts, int count)
{
    bool lent = false;
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);)
        lent = lent || w.want->lent;
    return lent;
}

int adsm_spread_begin(struct adsm_part *parts, int count, int *failed)
{
    enum { MOST_NS = 1000 * 1000 * 1000, PAUSE_NS = 500 * 1000 };
    uint64_t begin = adsm_now_ns();
    int rc = try_begin(parts, count, failed);
    /* An array that is one block is lent whole to any system call. Such a call
     * does not last: where it would wait, nothing is lent. */
    while (rc == ADSM_E_LIMIT && is_lent(parts, count) &&
           adsm_now_ns() - begin < MOST_NS) {
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        rc = try_begin(parts, count, failed);
    }
    return rc;
}

struct adsm_daddr adsm_spread_base(const struct adsm_want *want,
                                   size_t pitch[2])
{
    const struct adsm_copy *copy = want->copy;
    size_t natural[3];
    int nd = want->array.shape.nd;
    uint64_t at = copy->at.at;
    adsm_box_pitches(&want->array.shape, natural);
    const size_t *step = want->flat ? natural : copy->pitch;
    /* In wrap-around arithmetic: the address itself may be nobody's. */
    if (want->flat)
        at += want->array.origin - (uint64_t)copy->room.lo[0];
    for (int d = 0; d < nd && !want->flat; d++)
        at -= (uint64_t)copy->room.lo[d] * copy->pitch[d];
    pitch[0] = nd > 1 ? step[nd - 2] : 0;
    pitch[1] = nd > 2 ? step[nd - 3] : 0;
    return (struct adsm_daddr){at};
}

int adsm_spread_order(const struct adsm_part *part, adsm_stream stream)
{
    struct adsm_waits waits = {.count = 0};
    int rc = ADSM_OK;
    for (int i = 0; i < part->count; i++) {
        const struct adsm_want *want = &part->wants[i];
        const struct adsm_order *order = &want->copy->order;
        if (!adsm_box_is_empty(&want->reads))
            adsm_order_before_read(order, &want->room, &waits);
        if (!adsm_box_is_empty(&want->writes))
            adsm_order_before_write(order, &want->writes, &waits);
        if (want->copy->home && rc == ADSM_OK)
            rc = adsm_dma_order_uploads(part->accel, stream);
    }
    return rc == ADSM_OK ? adsm_waits_order(&waits, part->accel, stream) : rc;
}

void adsm_spread_launched(struct adsm_part *part, struct adsm_fence fence)
{
    part->launched = true;
    for (int i = 0; i < part->count; i++) {
        struct adsm_want *want = &part->wants[i];
        struct adsm_order *order = &want->copy->order;
        adsm_rwlock_acquire(&want->array.object->lock);
        if (!adsm_box_is_empty(&want->writes))
            adsm_order_written(order, &want->writes, fence);
        if (!adsm_box_is_empty(&want->reads))
            adsm_order_read(order, fence);
        adsm_rwlock_release(&want->array.object->lock);
    }
}

static int write_want(struct adsm_want *want)
{
    struct adsm_held *held = &adsm_ranged(want->array.object)->held;
    for (struct adsm_stretches s = adsm_prepare_writes(want);
         adsm_stretches_next(&s);)
        adsm_plan_write(held, want->copy, &s.stretch);
    return ADSM_OK;
}

/* What it wrote, to the host. */
static int fetch_want(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    int rc = ADSM_OK;
    if (adsm_memory_is_lent(object, &want->writes))
        return ADSM_OK;
    for (struct adsm_stretches s = adsm_prepare_writes(want);
         rc == ADSM_OK && adsm_stretches_next(&s);)
        rc = adsm_plan_to_host(held, &s.stretch, &moves);
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0, ADSM_CAUSE(part));
    else
        adsm_plan_undo(held, &moves, 0);
    if (rc == ADSM_OK && moves.count > 0)
        mark_fetched(object, &want->writes);
    free(moves.items);
    return rc;
}

void adsm_spread_end(struct adsm_part *parts, int count)
{
    /* Of an object that was freed nobody asks any more. */
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);)
        if (w.part->launched && !adsm_box_is_empty(&w.want->writes))
            (void)locked(w.want, write_want);
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);)
        if (w.part->launched && w.part->fetch &&
            !adsm_box_is_empty(&w.want->writes))
            (void)locked(w.want, fetch_want);
    end_uses(parts, count);
    let_go(parts, count);
    open_gates(parts);
}

/*
 * A call in parts, from copies to moves; see spread.h.
 *
 * Three passes, none of which holds two objects' locks: choose copies object by
 * object, get memory device by device, then enqueue moves and close blocks part
 * by part. The gates are closed all the while, so no CPU access comes between
 * them, and the uses of the copies keep others from evicting them.
 */
#include "range/spread.h"

#include "base/stats.h"
#include "mm/coherence.h"
#include "mm/gate.h"
#include "range/carry.h"
#include "range/check.h"
#include "range/edge.h"
#include "range/memory.h"
#include "range/prepare.h"
#include "range/state.h"

#include <stdlib.h>
#include <string.h>

/* A walk over all wants of all parts. */
struct walk {
    struct adsm_part *parts, *part;
    struct adsm_want *want;
    int count, next_part, next_want;
};

static struct walk walk_of(struct adsm_part *parts, int count)
{
    return (struct walk){.parts = parts, .count = count};
}

static bool next_want(struct walk *walk)
{
    while (walk->next_part < walk->count) {
        walk->part = &walk->parts[walk->next_part];
        if (walk->next_want < walk->part->count) {
            walk->want = &walk->part->wants[walk->next_want++];
            return true;
        }
        walk->next_part++;
        walk->next_want = 0;
    }
    return false;
}

/* Lock the object of a want, if it is still the one that was found. */
static int lock_object(const struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == want->array.generation)
        return ADSM_OK;
    adsm_rwlock_release(&object->lock);
    return ADSM_E_NOT_SHARED;
}

static void unlock_object(const struct adsm_want *want)
{
    adsm_rwlock_release(&want->array.object->lock);
}

/* ---- pass 1: which copies ----------------------------------------------------- */

/* Is it the first want of its object? */
static bool is_first(struct adsm_part *parts, int count,
                     const struct adsm_want *want)
{
    struct walk walk = walk_of(parts, count);
    while (next_want(&walk) && walk.want != want)
        if (walk.want->array.object == want->array.object)
            return false;
    return true;
}

/* One shape for all uses of an object in a call. */
static adsmBox shape_for(struct adsm_part *parts, int count,
                         const struct adsm_want *first)
{
    size_t bytes = first->array.object->bytes;
    adsmBox shape = adsm_prepare_shape(&first->array, bytes);
    for (struct walk w = walk_of(parts, count); next_want(&w);) {
        if (w.want->array.object != first->array.object)
            continue;
        adsmBox other = adsm_prepare_shape(&w.want->array, bytes);
        if (other.nd != shape.nd || !adsm_box_equal(&other, &shape))
            return adsm_prepare_bytes(bytes);
    }
    return shape;
}

/* A copy that is not one yet: it has no memory and no number. */
static struct adsm_copy *new_copy(const struct adsm_want *want,
                                  struct adsm_accel *accel, const adsmBox *room)
{
    struct adsm_copy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->object = want->array.object;
    copy->accel = accel;
    copy->room = *room;
    copy->box = adsm_box_meet(room, adsm_ranged_shape(copy->object));
    adsm_box_pitches(room, copy->pitch);
    copy->guard = adsm_check_guard() + adsm_copy_skew(copy);
    copy->bytes = copy->guard + adsm_box_bytes(room);
    if (adsm_check_guard() > 0)
        copy->bytes += copy->guard;
    copy->uses = 1;
    return copy;
}

/* Are its rows as far apart as a pointer's kernel expects? */
static bool has_rows(const struct adsm_copy *copy)
{
    const adsmBox *whole = adsm_ranged_shape(copy->object);
    for (int d = 1; d < whole->nd; d++)
        if (copy->room.lo[d] != 0 || copy->room.hi[d] != whole->hi[d])
            return false;
    return true;
}

/* A copy with just this room that nobody uses: what is beyond the edge is filled
 * for one want, and may be another thing for the next. */
static struct adsm_copy *find_room(const struct adsm_held *held,
                                   const struct adsm_accel *accel,
                                   const adsmBox *room)
{
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (copy && copy->accel == accel && copy->uses == 0 &&
            adsm_box_equal(&copy->room, room))
            return copy;
    }
    return NULL;
}

/* A copy of its own for a want, with just its room. */
static int choose_room(struct adsm_held *held, struct adsm_accel *accel,
                       struct adsm_want *want)
{
    want->copy =
        adsm_check_is_on() ? NULL : find_room(held, accel, &want->room);
    if (want->copy)
        adsm_memory_use(want->copy);
    else
        want->copy = new_copy(want, accel, &want->room);
    return want->copy ? ADSM_OK : ADSM_E_NOMEM;
}

/* Wants of one object on one device, as the plan asks for them. */
struct group {
    struct adsm_need need[ADSM_WANTS];
    struct adsm_want *want[ADSM_WANTS];
    int count;
};

static int mode_of(const struct adsm_want *want)
{
    return (adsm_box_is_empty(&want->reads) ? 0 : ADSM_IN) |
           (adsm_box_is_empty(&want->writes) ? 0 : ADSM_OUT);
}

/* Give the copies of a group to its wants; new ones where there is none. */
static int choose(struct adsm_held *held, struct adsm_accel *accel,
                  struct group *group)
{
    adsmBox fresh[ADSM_WANTS];
    struct adsm_copy *made[ADSM_WANTS] = {0};
    int n = adsm_plan_choose(held, accel, !adsm_check_is_on(), group->need,
                             group->count, fresh);
    for (int i = 0; i < n; i++) {
        made[i] = new_copy(group->want[0], accel, &fresh[i]);
        if (!made[i]) {
            while (i-- > 0)
                free(made[i]);
            return ADSM_E_NOMEM;
        }
        made[i]->uses = 0; /* counted below */
    }
    int rc = ADSM_OK;
    for (int i = 0; i < group->count; i++) {
        struct adsm_need *need = &group->need[i];
        struct adsm_want *want = group->want[i];
        want->copy = need->copy ? need->copy : made[need->fresh];
        if (!need->copy)
            made[need->fresh]->uses++;
        else if (!want->rows || want->flat || has_rows(need->copy))
            adsm_memory_use(need->copy);
        else if ((rc = choose_room(held, accel, want)) != ADSM_OK)
            break;
    }
    for (int i = 0; i < n; i++)
        if (made[i]->uses == 0) /* after a failure */
            free(made[i]);
    group->count = 0;
    return rc;
}

/* Do two parts have copies together? */
static bool is_near(const struct adsm_part *a, const struct adsm_part *b)
{
    return adsm_check_is_on() ? a == b : a->accel == b->accel;
}

/* Copies of one object for all parts on the device of one. */
static int choose_on(struct adsm_part *parts, int count,
                     const struct adsm_want *first,
                     const struct adsm_part *part)
{
    struct adsm_accel *accel = part->accel;
    struct adsm_held *held = &adsm_ranged(first->array.object)->held;
    struct group group = {.count = 0};
    int rc = ADSM_OK;
    for (struct walk w = walk_of(parts, count); next_want(&w);) {
        if (w.want->array.object != first->array.object ||
            !is_near(w.part, part) || w.want->copy || rc != ADSM_OK)
            continue;
        if (adsm_prepare_has_margin(w.want)) {
            rc = choose_room(held, accel, w.want);
            continue;
        }
        group.want[group.count] = w.want;
        group.need[group.count++] = (struct adsm_need){
            .box = w.want->room, .mode = (uint8_t)mode_of(w.want)};
        if (group.count == ADSM_WANTS)
            rc = choose(held, accel, &group);
    }
    return rc == ADSM_OK && group.count > 0 ? choose(held, accel, &group) : rc;
}

static int choose_for(struct adsm_part *parts, int count,
                      const struct adsm_want *first)
{
    struct adsm_object *object = first->array.object;
    adsmBox shape = shape_for(parts, count, first);
    int rc = adsm_ranged_update(object, &shape);
    for (struct walk w = walk_of(parts, count); rc == ADSM_OK && next_want(&w);)
        if (w.want->array.object == object) {
            rc = adsm_prepare_want(w.want, adsm_ranged_shape(object));
            adsm_check_widen(w.want);
        }
    for (struct walk w = walk_of(parts, count); rc == ADSM_OK && next_want(&w);)
        if (w.want->array.object == object && !w.want->copy)
            rc = choose_on(parts, count, first, w.part);
    return rc;
}

static int choose_all(struct adsm_part *parts, int count, int *failed)
{
    for (struct walk w = walk_of(parts, count); next_want(&w);) {
        if (!is_first(parts, count, w.want))
            continue;
        *failed = w.next_part;
        int rc = lock_object(w.want);
        if (rc != ADSM_OK)
            return rc;
        rc = choose_for(parts, count, w.want);
        unlock_object(w.want);
        if (rc != ADSM_OK)
            return rc;
    }
    return ADSM_OK;
}

/* ---- pass 2: memory ------------------------------------------------------------ */

static bool is_new(const struct adsm_copy *copy)
{
    return !copy->home && copy->holder == 0;
}

/* Does an earlier want have the same copy? */
static bool is_shared(struct adsm_part *parts, int count,
                      const struct adsm_want *want)
{
    for (struct walk w = walk_of(parts, count);
         next_want(&w) && w.want != want;)
        if (w.want->copy == want->copy)
            return true;
    return false;
}

/* Memory for the new copies of a device, `*failed` its first part. */
static int get_memory(struct adsm_part *parts, int count,
                      struct adsm_accel *accel)
{
    struct adsm_copy *some[ADSM_WANTS];
    uint32_t n = 0;
    int rc = ADSM_OK;
    for (struct walk w = walk_of(parts, count);
         rc == ADSM_OK && next_want(&w);) {
        if (w.part->accel != accel || !is_new(w.want->copy) ||
            w.want->copy->range || is_shared(parts, count, w.want))
            continue;
        some[n++] = w.want->copy;
        if (n == ADSM_WANTS) {
            rc = adsm_memory_get(accel, some, n);
            n = 0;
        }
    }
    return rc == ADSM_OK && n > 0 ? adsm_memory_get(accel, some, n) : rc;
}

static int get_all_memory(struct adsm_part *parts, int count, int *failed)
{
    for (struct walk w = walk_of(parts, count); next_want(&w);) {
        *failed = w.next_part;
        if (!is_new(w.want->copy) || w.want->copy->range)
            continue;
        int rc = get_memory(parts, count, w.part->accel);
        if (rc != ADSM_OK)
            return rc;
    }
    return ADSM_OK;
}

/* ---- pass 3: moves -------------------------------------------------------------- */

/* A number for a new copy; the oldest of too many goes. */
static int enter(struct adsm_object *object, struct adsm_copy *copy)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    int rc = adsm_held_enter(held, copy);
    struct adsm_copy *oldest =
        rc == ADSM_E_LIMIT ? adsm_held_oldest(held) : NULL;
    if (oldest && adsm_memory_evict_this(object, oldest) == ADSM_OK)
        rc = adsm_held_enter(held, copy);
    return rc;
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
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0);
    else
        adsm_plan_undo(held, &moves, 0);
    free(moves.items);
    return rc;
}

/* Record what the part's kernel waits for now: behind it others' moves follow
 * in the same lanes. */
static void mark_moves(const struct adsm_want *want)
{
    struct adsm_waits waits = {.count = 0};
    adsm_order_before_read(&want->copy->order, &want->reads, &waits);
    for (uint32_t i = 0; i < waits.count; i++)
        adsm_fence_mark(waits.fence[i]);
}

static int fill_want(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    bool made = is_new(want->copy);
    int rc = made ? enter(object, want->copy) : ADSM_OK;
    if (rc == ADSM_OK && made && adsm_check_is_on())
        rc = adsm_check_fill(want->copy);
    if (rc == ADSM_OK && !adsm_box_is_empty(&want->reads)) {
        rc = enqueue_reads(want);
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
    int rc = lock_object(want);
    if (rc == ADSM_OK) {
        rc = work(want);
        unlock_object(want);
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
        rc = adsm_ranged_carry(object, &moves, 0);
    }
    free(moves.items);
    return rc;
}

static int fill_all(struct adsm_part *parts, int count, int *failed)
{
    int rc = ADSM_OK;
    for (struct walk w = walk_of(parts, count); rc == ADSM_OK && next_want(&w);)
        if (is_first(parts, count, w.want))
            rc = locked(w.want, begin_use);
    for (struct walk w = walk_of(parts, count);
         rc == ADSM_OK && next_want(&w);) {
        *failed = w.next_part;
        rc = locked(w.want, fill_want);
    }
    for (struct walk w = walk_of(parts, count); rc == ADSM_OK && next_want(&w);)
        rc = locked(w.want, reserve_writes);
    return rc;
}

/* ---- the call ---------------------------------------------------------------- */

/* The use has ended; a copy that was made for a check goes to where nobody finds
 * it, which is not known of a device that is lost. */
static void end_use(const struct adsm_want *want, struct adsm_copy *copy)
{
    struct adsm_object *object = want->array.object;
    if (copy->home || adsm_check_guard() == 0) {
        adsm_memory_unuse(copy);
        return;
    }
    adsm_rwlock_acquire(&object->lock);
    bool goes = atomic_load(&object->live) &&
                atomic_load(&object->generation) == want->array.generation &&
                adsm_accel_health(copy->accel) == ADSM_OK;
    adsm_memory_unuse(copy);
    int gone = goes ? adsm_memory_evict_this(object, copy) : ADSM_OK;
    (void)gone; /* where it cannot be saved it stays, and goes as others do */
    adsm_rwlock_release(&object->lock);
}

/* The uses have ended; a copy that never got as far as a number goes. */
static void let_go(struct adsm_part *parts, int count)
{
    for (struct walk w = walk_of(parts, count); next_want(&w);) {
        struct adsm_copy *copy = w.want->copy;
        if (!copy)
            continue;
        w.want->copy = NULL;
        if (!is_new(copy)) {
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
    for (struct walk w = walk_of(parts, count); next_want(&w);) {
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
    for (struct walk w = walk_of(parts, count); next_want(&w);)
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

int adsm_spread_begin(struct adsm_part *parts, int count, int *failed)
{
    close_gates(parts, count);
    *failed = 0;
    int rc = choose_all(parts, count, failed);
    if (rc == ADSM_OK)
        rc = get_all_memory(parts, count, failed);
    if (rc == ADSM_OK)
        rc = fill_all(parts, count, failed);
    if (rc != ADSM_OK) {
        end_uses(parts, count);
        let_go(parts, count);
        open_gates(parts);
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

void adsm_spread_end(struct adsm_part *parts, int count)
{
    for (struct walk w = walk_of(parts, count); next_want(&w);)
        if (w.part->launched && !adsm_box_is_empty(&w.want->writes))
            /* Of an object that was freed nobody asks any more. */
            (void)locked(w.want, write_want);
    end_uses(parts, count);
    let_go(parts, count);
    open_gates(parts);
}

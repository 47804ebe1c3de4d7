/* What is kept of an object: made, brought up to date, changed; see state.h. */
#include "range/state.h"

#include "accel/dma.h"
#include "accel/peer.h"
#include "base/log.h"
#include "mm/state/coherence.h"
#include "range/carry.h"
#include "range/memory.h"
#include "range/prepare.h"

#include <stdlib.h>
#include <string.h>

int adsm_array_lock(const struct adsm_array *array)
{
    struct adsm_object *object = array->object;
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == array->generation)
        return ADSM_OK;
    adsm_rwlock_release(&object->lock);
    return ADSM_E_NOT_SHARED;
}

void adsm_array_unlock(const struct adsm_array *array)
{
    adsm_rwlock_release(&array->object->lock);
}

void adsm_ranged_drop(struct adsm_copy *copy)
{
    adsm_memory_put(copy);
    free(copy);
}

static bool may_copy(const struct adsm_accel *from, const struct adsm_accel *to)
{
    return adsm_peer_can((struct adsm_accel *)to, (struct adsm_accel *)from);
}

/* Where home memory is, and in which order it is used so far. */
static void enter_home(struct adsm_object *object, struct adsm_ranged *ranged)
{
    struct adsm_copy *home = &ranged->home;
    memset(&home->order, 0, sizeof home->order);
    home->object = object;
    home->accel = object->home;
    home->home = true;
    home->at = object->device;
    home->bytes = object->span.bytes;
    home->box = home->room = ranged->held.map.whole;
    adsm_box_pitches(&home->room, home->pitch);
}

/* All of it held by the host, or by the home where it has one. */
static int make_ranged(struct adsm_object *object, unsigned holder,
                       bool gathered)
{
    struct adsm_ranged *ranged = calloc(1, sizeof *ranged);
    adsmBox bytes = {.nd = 1, .hi = {(long)object->bytes}};
    if (!ranged)
        return ADSM_E_NOMEM;
    ranged->holders.gathered = gathered;
    int rc = adsm_held_init(&ranged->held, &bytes, holder, may_copy);
    if (rc != ADSM_OK) {
        free(ranged);
        return rc;
    }
    if (!object->homeless)
        enter_home(object, ranged);
    if (holder == ADSM_HOLDER_HOME)
        rc = adsm_held_enter(&ranged->held, &ranged->home);
    object->holders = &ranged->holders;
    return rc;
}

int adsm_ranged_make(struct adsm_object *object)
{
    /* Memory that comes and goes is not for parts of calls. */
    if (adsm_object_is_movable(object))
        return ADSM_E_UNSUPPORTED;
    if (object->holders)
        return ADSM_OK;
    if (!object->homeless)
        return make_ranged(object, ADSM_HOLDER_HOME, true);
    int rc = make_ranged(object, ADSM_HOLDER_HOST, true);
    if (rc == ADSM_OK)
        adsm_coherence_set_gathered(object, false);
    return rc;
}

/* Its blocks have not been counted yet. */
int adsm_ranged_make_away(struct adsm_object *object)
{
    return make_ranged(object, ADSM_HOLDER_HOST, false);
}

int adsm_ranged_arrived(struct adsm_object *object)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    int rc = adsm_held_enter(&ranged->held, &ranged->home);
    if (rc == ADSM_OK)
        adsm_coherence_set_gathered(object, true);
    return rc;
}

void adsm_ranged_left(struct adsm_object *object)
{
    adsm_held_alone(&adsm_ranged(object)->held);
    adsm_coherence_set_gathered(object, false);
}

/* Until now only home and host were used: who did, is known to the lanes. */
static void begin_spread(struct adsm_object *object, const adsmBox *shape)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    struct adsm_fence uploads = adsm_dma_uploads(object->home);
    struct adsm_flight flight = {.end = object->bytes, .fence = uploads};
    adsm_held_reshape(&ranged->held, shape, ADSM_HOLDER_HOME);
    enter_home(object, ranged);
    adsm_order_written(&ranged->home.order, shape, object->work);
    adsm_order_written(&ranged->home.order, shape, uploads);
    adsm_flights_add(&ranged->flights, flight);
    adsm_coherence_set_gathered(object, false);
}

static int fold(struct adsm_object *object)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    uint32_t n, end = atomic_load(&object->blocks_used);
    int rc = ADSM_OK;
    if (atomic_load(&object->near) == 0)
        return ADSM_OK;
    for (uint32_t i = 0; i < end && rc == ADSM_OK; i += n) {
        enum adsm_state state = adsm_block_state(object, i);
        n = adsm_block_run(object, i, end - i);
        size_t last = adsm_block_begin(object, i + n);
        if (state != ADSM_INVALID)
            rc = adsm_plan_fold(held, adsm_block_begin(object, i),
                                last < object->bytes ? last : object->bytes,
                                state == ADSM_DIRTY);
    }
    return rc;
}

static void drop_lost(struct adsm_copy *copy, void *unused)
{
    (void)unused;
    if (!copy->home)
        adsm_ranged_drop(copy);
}

/* By a call, or by an eviction that is on its way. */
static bool is_any_used(const struct adsm_held *held,
                        const struct adsm_accel *accel)
{
    for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
        const struct adsm_copy *copy = held->copies[i];
        if (copy && copy->accel == accel && adsm_memory_is_used(copy))
            return true;
    }
    return false;
}

/* What a dead device alone had is the host's now, as old as it is there. */
static void give_up_lost(struct adsm_object *object)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (!copy || adsm_accel_health(copy->accel) == ADSM_OK ||
            is_any_used(held, copy->accel))
            continue;
        size_t lost = adsm_plan_lost(held, copy->accel, drop_lost, NULL);
        if (lost > 0)
            adsm_log(ADSM_LOG_ERROR,
                     "a device is lost, and with it %zu bytes of the object at "
                     "%p that only it had: the host goes on with what it had",
                     lost, (void *)object->host);
    }
}

/* Copies that hold nothing any more. One that is being evicted is its evictor's,
 * who finds that it has no number. */
static int drop_copies(struct adsm_object *object)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves none = {0};
    int rc = ADSM_OK;
    for (uint32_t i = held->top; rc == ADSM_OK && --i > ADSM_HOLDER_HOME;) {
        struct adsm_copy *copy = held->copies[i];
        if (!copy)
            continue;
        rc = adsm_plan_evict(held, copy, &none);
        if (rc != ADSM_OK)
            continue;
        copy->holder = ADSM_HOLDER_HOST;
        if (!adsm_memory_is_used(copy))
            adsm_ranged_drop(copy);
    }
    free(none.items);
    return rc;
}

static int bring_to_host(struct adsm_object *object,
                         const struct adsm_cause *cause)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    int rc = adsm_plan_to_host(held, &held->map.whole, &moves);
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0, cause);
    free(moves.items);
    return rc;
}

static bool has_shape(const struct adsm_object *object, const adsmBox *shape)
{
    const adsmBox *old = adsm_ranged_shape(object);
    return old->nd == shape->nd && adsm_box_equal(old, shape);
}

static bool has_home(const struct adsm_object *object)
{
    /* A home whose device was lost has no number any more. */
    return adsm_ranged(object)->held.copies[ADSM_HOLDER_HOME] != NULL;
}

/* Boxes of the old shape mean nothing in the new one: all bytes go to one
 * place, and the other copies go, also those that a gathered object has kept. */
static int reshape(struct adsm_object *object, const adsmBox *shape,
                   const struct adsm_cause *cause)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++)
        if (held->copies[i] && held->copies[i]->uses > 0)
            return ADSM_E_INVALID;
    int rc = ADSM_OK;
    if (!adsm_object_is_gathered(object))
        rc = has_home(object) ? adsm_ranged_gather(object, cause)
                              : bring_to_host(object, cause);
    if (rc == ADSM_OK)
        rc = drop_copies(object);
    if (rc != ADSM_OK)
        return rc;
    if (has_home(object))
        begin_spread(object, shape);
    else
        adsm_held_reshape(held, shape, ADSM_HOLDER_HOST);
    return ADSM_OK;
}

static int catch_up(struct adsm_object *object)
{
    int rc = fold(object);
    if (rc == ADSM_OK)
        give_up_lost(object);
    return rc;
}

int adsm_ranged_update(struct adsm_object *object, const adsmBox *shape,
                       const struct adsm_cause *cause)
{
    int rc = adsm_ranged_make(object);
    bool is_spread = !adsm_object_is_gathered(object);
    if (rc == ADSM_OK && is_spread)
        rc = catch_up(object);
    bool fits = rc == ADSM_OK && has_shape(object, shape);
    if (rc != ADSM_OK || (fits && is_spread))
        return rc;
    if (fits)
        begin_spread(object, shape);
    else
        rc = reshape(object, shape, cause);
    return rc == ADSM_OK ? catch_up(object) : rc;
}

int adsm_ranged_carry(struct adsm_object *object, struct adsm_moves *moves,
                      uint32_t first, const struct adsm_cause *cause)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    for (uint32_t i = first; i < moves->count; i++) {
        const struct adsm_move *move = &moves->items[i];
        int rc = adsm_carry(object, held->copies[move->to],
                            held->copies[move->from], &move->box, cause);
        if (rc != ADSM_OK) {
            adsm_plan_undo(held, moves, i);
            return rc;
        }
    }
    return ADSM_OK;
}

/* Apply an event to the blocks in which a box has bytes. */
static int apply(struct adsm_object *object, const adsmBox *box,
                 enum adsm_event event)
{
    struct adsm_stretches s =
        adsm_stretches_of(adsm_ranged_shape(object), box, 0);
    uint32_t done = 0; /* blocks below have had the event */
    int rc = ADSM_OK;
    while (rc == ADSM_OK && adsm_stretches_next(&s)) {
        uint32_t first = adsm_block_of(object, (size_t)s.stretch.lo[0]);
        uint32_t last = adsm_block_of(object, (size_t)s.stretch.hi[0] - 1) + 1;
        if (first < done)
            first = done;
        if (last > object->block_count) /* the last row may be a part of one */
            last = object->block_count;
        if (first < last) {
            rc = adsm_coherence_apply_all(object, first, last - first, event,
                                          ADSM_CAUSE(part));
            done = last;
        }
    }
    return rc;
}

int adsm_ranged_sent(struct adsm_object *object, const adsmBox *box)
{
    return atomic_load(&object->dirty) ? apply(object, box, ADSM_PART_READ)
                                       : ADSM_OK;
}

int adsm_ranged_close(struct adsm_object *object, const adsmBox *box)
{
    return atomic_load(&object->near) ? apply(object, box, ADSM_PART_WRITE)
                                      : ADSM_OK;
}

bool adsm_ranged_is_valid(const struct adsm_object *object)
{
    const struct adsm_ranged *ranged = adsm_ranged(object);
    const struct adsm_held *held = &ranged->held;
    bool away = adsm_object_is_away(object);
    if (adsm_object_is_gathered(object))
        return !object->homeless && !away && held->map.holds == 0;
    if (away && held->copies[ADSM_HOLDER_HOME])
        return false;
    if (!adsm_held_is_valid(held) || ranged->flights.count > ADSM_FLIGHTS)
        return false;
    for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
        const struct adsm_copy *copy = held->copies[i];
        if (copy &&
            (copy->object != object || !adsm_order_is_valid(&copy->order) ||
             (!adsm_box_is_empty(&copy->box) &&
              (!adsm_box_within(&copy->box, &copy->room) ||
               !adsm_box_within(&copy->box, &held->map.whole)))))
            return false;
    }
    return true;
}

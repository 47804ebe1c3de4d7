/* What is kept of an object, and how the memory manager uses it; see state.h. */
#include "range/state.h"

#include "accel/dma.h"
#include "accel/peer.h"
#include "base/log.h"
#include "mm/coherence.h"
#include "range/carry.h"
#include "range/memory.h"
#include "range/prepare.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what the host lacks ---------------------------------------------------- */

struct fetch {
    struct adsm_object *object;
    struct adsm_waits waits;
};

static uint64_t is_written(const struct adsm_copy *copy, const adsmBox *box,
                           void *unused)
{
    (void)unused;
    if (adsm_accel_health(copy->accel) != ADSM_OK)
        return 2;
    struct adsm_waits waits = {.count = 0};
    adsm_order_before_read(&copy->order, box, &waits);
    for (uint32_t i = 0; i < waits.count; i++)
        if (!adsm_fence_done(waits.fence[i]))
            return 1;
    return 0;
}

/* Said once for each device: the program goes on with what the host last had,
 * as it does with the rest of what a lost device had. */
static void tell_lost(const struct adsm_copy *copy)
{
    static _Atomic(const struct adsm_accel *) told;
    if (atomic_exchange(&told, copy->accel) != copy->accel)
        adsm_log_signal(ADSM_LOG_ERROR,
                        "a device is lost: the program goes on with what the "
                        "host last had of what only that device had");
}

static int fetch_box(struct adsm_copy *copy, const adsmBox *box, void *context)
{
    struct fetch *fetch = context;
    struct adsm_fence done = {0};
    int rc = adsm_accel_health(copy->accel);
    if (rc == ADSM_OK)
        rc = adsm_carry_enqueue(fetch->object, NULL, box, copy, box, &done);
    /* A part of one that failed may be on its way. */
    adsm_waits_add(&fetch->waits, done);
    if (rc == ADSM_OK || adsm_accel_health(copy->accel) == ADSM_OK)
        return rc;
    tell_lost(copy);
    return ADSM_OK;
}

static int fetch(struct adsm_object *object, size_t offset, size_t bytes)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    struct fetch fetch = {.object = object};
    /* What the map says the host has may still be under way. */
    adsm_flights_before_read(&ranged->flights, offset, offset + bytes,
                             &fetch.waits);
    int rc = adsm_plan_fetch(&ranged->held, offset, offset + bytes, is_written,
                             fetch_box, &fetch);
    /* Also after a failure: what is under way must not arrive later. */
    int waited = adsm_waits_wait(&fetch.waits);
    return rc == ADSM_OK ? waited : rc;
}

static void await(struct adsm_object *object, size_t offset, size_t bytes)
{
    struct adsm_waits waits = {.count = 0};
    adsm_flights_before_write(&adsm_ranged(object)->flights, offset,
                              offset + bytes, &waits);
    /* A failed wait is a lost device, which its next transfer reports. */
    (void)adsm_waits_wait(&waits);
}

/* ---- home again --------------------------------------------------------------- */

/* Later work at home waits for the upload lane, and CPU accesses for `work`: let
 * both stand for all that was done over ranges. */
static int order_home(struct adsm_object *object)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    struct adsm_waits waits = {.count = 0};
    adsm_order_all(&ranged->home.order, &waits);
    return adsm_dma_order_behind(object->home, waits.fence, waits.count,
                                 &object->work);
}

static int gather(struct adsm_object *object)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_copy *home = &adsm_ranged(object)->home;
    const adsmBox whole = held->map.whole;
    struct adsm_moves moves = {0};
    int rc = adsm_ranged_update(object, &whole);
    if (rc == ADSM_OK)
        rc = adsm_accel_health(object->home);
    if (rc == ADSM_OK)
        rc = adsm_plan_begin(held, &moves);
    if (rc != ADSM_OK) {
        free(moves.items);
        return rc;
    }
    rc = adsm_plan_settle(held, &moves);
    if (rc == ADSM_OK) /* before, as in a call */
        rc = adsm_ranged_sent(object, &whole);
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0);
    else
        adsm_plan_undo(held, &moves, 0);
    if (rc == ADSM_OK)
        rc = adsm_plan_reserve(held, &whole);
    if (rc == ADSM_OK)
        rc = order_home(object);
    if (rc == ADSM_OK)
        adsm_plan_write(held, home, &whole);
    adsm_plan_end(held);
    if (rc == ADSM_OK)
        adsm_object_set_spread(object, false);
    free(moves.items);
    return rc;
}

/* ---- the end ------------------------------------------------------------------- */

void adsm_ranged_drop(struct adsm_copy *copy)
{
    adsm_memory_put(copy);
    free(copy);
}

/* An eviction may be on its way to the object, which is dead to it. */
static void await_uses(struct adsm_copy *copy)
{
    while (adsm_memory_is_used(copy))
        nanosleep(&(struct timespec){0, 100 * 1000}, NULL);
}

static void forget(struct adsm_object *object, size_t offset, size_t bytes)
{
    struct adsm_named **link = &adsm_ranged(object)->named, *named;
    while ((named = *link)) {
        if (named->origin - offset >= bytes) {
            link = &named->next;
            continue;
        }
        *link = named->next;
        free(named);
    }
}

static void destroy(struct adsm_object *object)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    struct adsm_waits waits = {.count = 0};
    adsm_flights_before_write(&ranged->flights, 0, SIZE_MAX, &waits);
    if (!object->homeless) {
        await_uses(&ranged->home);
        adsm_order_all(&ranged->home.order, &waits);
    }
    (void)adsm_waits_wait(&waits);
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < ranged->held.top; i++) {
        struct adsm_copy *copy = ranged->held.copies[i];
        if (!copy)
            continue;
        await_uses(copy);
        adsm_ranged_drop(copy);
    }
    forget(object, 0, SIZE_MAX);
    adsm_held_fini(&ranged->held);
    object->spread = NULL;
    free(ranged);
}

/* ---- the state itself ------------------------------------------------------------ */

static const struct adsm_spread_ops ops = {fetch, await, gather, forget,
                                           destroy};

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

int adsm_ranged_make(struct adsm_object *object)
{
    if (object->spread)
        return ADSM_OK;
    struct adsm_ranged *ranged = calloc(1, sizeof *ranged);
    if (!ranged)
        return ADSM_E_NOMEM;
    ranged->spread.ops = &ops;
    adsmBox bytes = {.nd = 1, .hi = {(long)object->bytes}};
    int rc = adsm_held_init(
        &ranged->held, &bytes,
        object->homeless ? ADSM_HOLDER_HOST : ADSM_HOLDER_HOME, may_copy);
    if (rc != ADSM_OK) {
        free(ranged);
        return rc;
    }
    if (!object->homeless) {
        enter_home(object, ranged);
        rc = adsm_held_enter(&ranged->held, &ranged->home);
    }
    object->spread = &ranged->spread;
    if (object->homeless)
        adsm_object_set_spread(object, true);
    return rc;
}

/* Until now only home and host were used: who did, is known to the lanes. */
static void begin_spread(struct adsm_object *object, const adsmBox *shape)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    struct adsm_fence uploads = adsm_dma_uploads(object->home);
    struct adsm_flight flight = {0, object->bytes, uploads, false};
    adsm_held_reshape(&ranged->held, shape, ADSM_HOLDER_HOME);
    enter_home(object, ranged);
    adsm_order_written(&ranged->home.order, shape, object->work);
    adsm_order_written(&ranged->home.order, shape, uploads);
    adsm_flights_add(&ranged->flights, flight);
    adsm_object_set_spread(object, true);
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

static int bring_to_host(struct adsm_object *object)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    int rc = adsm_plan_to_host(held, &held->map.whole, &moves);
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0);
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
static int reshape(struct adsm_object *object, const adsmBox *shape)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++)
        if (held->copies[i] && held->copies[i]->uses > 0)
            return ADSM_E_INVALID;
    int rc = ADSM_OK;
    if (adsm_object_is_spread(object))
        rc = has_home(object) ? gather(object) : bring_to_host(object);
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

int adsm_ranged_update(struct adsm_object *object, const adsmBox *shape)
{
    int rc = adsm_ranged_make(object);
    bool is_spread = adsm_object_is_spread(object);
    if (rc == ADSM_OK && is_spread)
        rc = catch_up(object);
    bool fits = rc == ADSM_OK && has_shape(object, shape);
    if (rc != ADSM_OK || (fits && is_spread))
        return rc;
    if (fits)
        begin_spread(object, shape);
    else
        rc = reshape(object, shape);
    return rc == ADSM_OK ? catch_up(object) : rc;
}

int adsm_ranged_carry(struct adsm_object *object, struct adsm_moves *moves,
                      uint32_t first)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    for (uint32_t i = first; i < moves->count; i++) {
        const struct adsm_move *move = &moves->items[i];
        int rc = adsm_carry(object, held->copies[move->to],
                            held->copies[move->from], &move->box);
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
            rc = adsm_coherence_apply_all(object, first, last - first, event);
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
    if (!adsm_object_is_spread(object))
        return !object->homeless && held->map.holds == 0;
    if (!adsm_held_is_valid(held) || ranged->flights.count > ADSM_FLIGHTS)
        return false;
    for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
        const struct adsm_copy *copy = held->copies[i];
        if (copy &&
            (copy->object != object || !adsm_order_is_valid(&copy->order) ||
             !adsm_box_within(&copy->box, &copy->room) ||
             !adsm_box_within(&copy->box, &held->map.whole)))
            return false;
    }
    return true;
}

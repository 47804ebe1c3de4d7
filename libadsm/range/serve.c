/*
 * What the memory manager asks (mm/object/holders.h): of an object that is not
 * gathered bytes that the host lacks, the end of transfers, all of it at home
 * again, and its end; and memory of a device.
 */
#include "range/state.h"

#include "accel/dma.h"
#include "base/log.h"
#include "mm/state/coherence.h"
#include "range/carry.h"
#include "range/memory.h"
#include "range/residence.h"

#include <stdlib.h>
#include <time.h>

/* ---- what the host lacks ---------------------------------------------------- */

struct fetch {
    struct adsm_object *object;
    struct adsm_waits waits;
    const struct adsm_cause *cause;
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
        rc = adsm_carry_enqueue(fetch->object, NULL, box, copy, box, &done,
                                fetch->cause);
    /* A part of one that failed may be on its way. */
    adsm_waits_add(&fetch->waits, done);
    if (rc == ADSM_OK || adsm_accel_health(copy->accel) == ADSM_OK)
        return rc;
    tell_lost(copy);
    return ADSM_OK;
}

static int fetch(struct adsm_object *object, size_t offset, size_t bytes,
                 const struct adsm_cause *cause)
{
    struct adsm_ranged *ranged = adsm_ranged(object);
    struct fetch fetch = {.object = object, .cause = cause};
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

int adsm_ranged_gather(struct adsm_object *object,
                       const struct adsm_cause *cause)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_copy *home = &adsm_ranged(object)->home;
    const adsmBox whole = held->map.whole;
    struct adsm_moves moves = {0};
    int rc = adsm_ranged_update(object, &whole, cause);
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
        rc = adsm_ranged_carry(object, &moves, 0, cause);
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
        adsm_coherence_set_gathered(object, true);
    free(moves.items);
    return rc;
}

static int gather(struct adsm_object *object, const struct adsm_cause *cause)
{
    return adsm_object_is_away(object) ? adsm_residence_come(object, cause)
                                       : adsm_ranged_gather(object, cause);
}

/* ---- the end ------------------------------------------------------------------- */

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
    if (adsm_object_is_movable(object))
        adsm_residence_unlist(object);
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
    object->holders = NULL;
    free(ranged);
}

/* ---- a device's memory ----------------------------------------------------------- */

static int adopt(struct adsm_object *object)
{
    int rc = adsm_ranged_make_away(object);
    if (rc == ADSM_OK)
        adsm_residence_list(object);
    return rc;
}

static bool make_room(struct adsm_accel *accel, size_t bytes)
{
    return adsm_memory_make_room(accel, bytes) ||
           adsm_residence_make_room(accel);
}

const struct adsm_holders_ops adsm_ranged_ops = {
    .fetch = fetch,
    .await = await,
    .gather = gather,
    .forget = forget,
    .destroy = destroy,
    .adopt = adopt,
    .prepare = adsm_residence_prepare,
    .pin = adsm_residence_pin,
    .make_room = make_room,
};

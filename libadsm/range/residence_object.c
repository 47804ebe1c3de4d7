/* One movable object comes and goes; see residence.h. */
#include "range/residence_parts.h"

#include "base/stats.h"
#include "mm/object/host.h"
#include "mm/state/coherence.h"
#include "mm/state/run.h"

/* Of an object that nobody ever wrote nothing has to go up. Others are sent at
 * once, while the next one that makes room comes down; but not where a call
 * would send them again. */
static int settle_in(struct adsm_object *object, const struct adsm_cause *cause)
{
    const struct adsm_cell *call =
        &adsm_coherence_protocol()->cell[ADSM_CALL][ADSM_READ_ONLY];
    uint32_t count = object->block_count;
    bool empty = !adsm_object_has_pages(object);
    int rc = adsm_ranged_arrived(object);
    if (rc != ADSM_OK || (!empty && (call->actions & ADSM_DO_FLUSH)))
        return rc;
    return adsm_coherence_apply_all(
        object, 0, count, empty ? ADSM_DEVICE_WRITE : ADSM_WRITE_BACK, cause);
}

int adsm_residence_room(struct adsm_accel *home, size_t *bytes)
{
    size_t total;
    int rc = adsm_accel_memory(home, bytes, &total);
    *bytes += adsm_address_kept(home);
    return rc;
}

int adsm_residence_come(struct adsm_object *object,
                        const struct adsm_cause *cause)
{
    struct adsm_residence *residence = adsm_residence_of(object);
    size_t room = 0;
    /* Drivers take long to find that there is none. */
    int rc = adsm_residence_room(object->home, &room);
    if (rc == ADSM_OK && room < adsm_address_taken(object->home, &object->span))
        return ADSM_E_DEVICE_NOMEM;
    if (rc == ADSM_OK)
        rc = adsm_address_occupy(object->home, &object->span);
    if (rc != ADSM_OK)
        return rc;
    atomic_store(&residence->resident, true);
    ADSM_COUNT(moved_in, 1);
    return settle_in(object, cause);
}

static bool is_live(const struct adsm_resident *found)
{
    return atomic_load(&found->object->live) &&
           atomic_load(&found->object->generation) == found->generation;
}

int adsm_residence_arrive(struct adsm_resident found,
                          const struct adsm_cause *cause)
{
    int rc = ADSM_OK;
    adsm_rwlock_acquire(&found.object->lock);
    if (is_live(&found) && adsm_object_is_away(found.object))
        rc = adsm_residence_come(found.object, cause);
    adsm_rwlock_release(&found.object->lock);
    return rc;
}

/* Its lock is held exclusively. Where its memory cannot be taken the host has
 * the truth, and it is an object like any other. */
static int depart(struct adsm_object *object)
{
    bool holds = atomic_load(&object->holds) || adsm_object_has_pages(object);
    int rc = adsm_coherence_take_home(object, holds, ADSM_CAUSE(evict));
    if (rc == ADSM_OK)
        rc = adsm_address_vacate(object->home, &object->span);
    if (rc != ADSM_OK)
        return rc;
    atomic_store(&adsm_residence_of(object)->resident, false);
    atomic_store(&object->holds, false);
    adsm_ranged_left(object);
    ADSM_COUNT(moved_out, 1);
    return ADSM_OK;
}

int adsm_residence_depart(struct adsm_resident found)
{
    struct adsm_object *object = found.object;
    struct adsm_accel *home = object->home;
    /* Without its lock: a host function ahead may want the object. */
    int rc = adsm_lane_wait_noted(home);
    if (rc != ADSM_OK)
        return rc;
    adsm_rwlock_acquire(&object->lock);
    if (is_live(&found) && !adsm_object_is_away(object)) {
        rc = adsm_fence_wait(object->work);
        adsm_run_await_uploads(object, 0, object->block_count);
        if (rc == ADSM_OK)
            rc = atomic_load(&object->pins) > 0 ? ADSM_E_LIMIT : depart(object);
        if (rc == ADSM_E_LIMIT)
            atomic_store(&adsm_residence_of(object)->used,
                         adsm_residence_stamp());
    }
    adsm_rwlock_release(&object->lock);
    return rc;
}

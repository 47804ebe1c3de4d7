/* Device memory for the new copies of a call, device by device; see
 * spread_parts.h. */
#include "range/spread_parts.h"

#include "range/memory.h"
#include "range/plan.h"
#include "range/state.h"

/* Does an earlier want have the same copy? */
static bool is_shared(struct adsm_part *parts, int count,
                      const struct adsm_want *want)
{
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         adsm_walk_next(&w) && w.want != want;)
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
    for (struct adsm_walk w = adsm_walk_of(parts, count);
         rc == ADSM_OK && adsm_walk_next(&w);) {
        if (w.part->accel != accel || !adsm_copy_is_new(w.want->copy) ||
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

int adsm_spread_get_memory(struct adsm_part *parts, int count, int *failed)
{
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        *failed = w.next_part;
        if (!adsm_copy_is_new(w.want->copy) || w.want->copy->range)
            continue;
        int rc = get_memory(parts, count, w.part->accel);
        if (rc != ADSM_OK)
            return rc;
    }
    return ADSM_OK;
}

/* Give up the copies on a device that have room for a want, and for half of it
 * besides: by less, neighbours that are read elsewhere, they are no larger. */
static int leave_larger(struct adsm_object *object,
                        const struct adsm_accel *accel,
                        const struct adsm_want *want)
{
    const struct adsm_held *held = &adsm_ranged(object)->held;
    size_t wanted = adsm_box_bytes(&want->room);
    int left = 0;
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (copy && copy->accel == accel && copy->room.nd == want->room.nd &&
            adsm_box_within(&want->room, &copy->room) &&
            2 * adsm_box_bytes(&copy->room) > 3 * wanted)
            left += adsm_memory_evict_this(object, copy) == ADSM_OK;
    }
    return left;
}

bool adsm_spread_leave_larger(struct adsm_part *parts, int count)
{
    int left = 0;
    for (struct adsm_walk w = adsm_walk_of(parts, count); adsm_walk_next(&w);) {
        if (adsm_box_is_empty(&w.want->room) ||
            adsm_array_lock(&w.want->array) != ADSM_OK)
            continue;
        left += leave_larger(w.want->array.object, w.part->accel, w.want);
        adsm_array_unlock(&w.want->array);
    }
    return left > 0;
}

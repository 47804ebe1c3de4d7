/* Device memory for the new copies of a call, device by device; see
 * spread_parts.h. */
#include "range/spread_parts.h"

#include "range/memory.h"
#include "range/plan.h"

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

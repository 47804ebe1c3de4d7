/* The last kernel of each device; see direct_order.h. */
#include "mm/direct_order.h"

#include "base/lock.h"

#include <string.h>

enum { DEVICES = 64 };

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST);
static struct adsm_fence last[DEVICES]; /* by visible device; lock: above */

/* Of devices that have launched none the fence is empty, which is reached. */
static int copy_last(struct adsm_fence copy[DEVICES])
{
    int devices = adsm_accel_devices();
    if (devices < 2)
        return 0;
    adsm_lock_acquire(&lock);
    memcpy(copy, last, sizeof last);
    adsm_lock_release(&lock);
    return devices < DEVICES ? devices : DEVICES;
}

int adsm_direct_order(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_fence behind[DEVICES];
    int rc = ADSM_OK, devices = copy_last(behind);
    for (int i = 0; i < devices && rc == ADSM_OK; i++)
        if (behind[i].seq > 0 && behind[i].accel != accel)
            rc = adsm_fence_order(accel, stream, behind[i]);
    return rc;
}

int adsm_direct_launched(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_fence fence;
    int device = adsm_accel_device(accel);
    if (adsm_accel_devices() < 2 || device < 0 || device >= DEVICES)
        return ADSM_OK;
    int rc = adsm_fence_record(accel, stream, &fence);
    if (rc != ADSM_OK)
        return rc;
    adsm_lock_acquire(&lock);
    /* Fences of one lane are reached in their order. */
    if (last[device].accel != accel || last[device].seq < fence.seq)
        last[device] = fence;
    adsm_lock_release(&lock);
    return ADSM_OK;
}

void adsm_direct_wait(void)
{
    struct adsm_fence behind[DEVICES];
    int devices = copy_last(behind);
    /* A lost device has ended all its work. */
    for (int i = 0; i < devices; i++)
        if (behind[i].seq > 0)
            (void)adsm_fence_wait(behind[i]);
}

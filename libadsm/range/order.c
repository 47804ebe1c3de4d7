/* Fences of a copy's bytes; see order.h. */
#include "range/order.h"

#include "range/box.h"

static bool same_lane(struct adsm_fence a, struct adsm_fence b)
{
    return a.accel == b.accel && a.lane == b.lane;
}

/* ---- waits ---------------------------------------------------------------- */

void adsm_waits_add(struct adsm_waits *waits, struct adsm_fence fence)
{
    if (adsm_fence_done(fence))
        return;
    for (uint32_t i = 0; i < waits->count; i++)
        if (same_lane(waits->fence[i], fence)) {
            if (waits->fence[i].seq < fence.seq)
                waits->fence[i] = fence;
            return;
        }
    if (waits->count == ADSM_ORDER_WAITS)
        /* A failed wait is a lost device, which its next transfer reports. */
        (void)adsm_fence_wait(fence);
    else
        waits->fence[waits->count++] = fence;
}

int adsm_waits_order(const struct adsm_waits *waits, struct adsm_accel *accel,
                     adsm_stream stream)
{
    int rc = ADSM_OK;
    for (uint32_t i = 0; i < waits->count && rc == ADSM_OK; i++)
        rc = adsm_fence_order(accel, stream, waits->fence[i]);
    return rc;
}

int adsm_waits_wait(const struct adsm_waits *waits)
{
    int first = ADSM_OK;
    for (uint32_t i = 0; i < waits->count; i++) {
        int rc = adsm_fence_wait(waits->fence[i]);
        first = first == ADSM_OK ? rc : first;
    }
    return first;
}

/* ---- a copy's lists -------------------------------------------------------- */

void adsm_order_before_read(const struct adsm_order *order, const adsmBox *box,
                            struct adsm_waits *waits)
{
    for (uint32_t i = 0; i < order->writes; i++)
        if (adsm_box_meets(&order->write[i].box, box))
            adsm_waits_add(waits, order->write[i].fence);
}

void adsm_order_before_write(const struct adsm_order *order, const adsmBox *box,
                             struct adsm_waits *waits)
{
    adsm_order_before_read(order, box, waits);
    for (uint32_t i = 0; i < order->readers; i++)
        adsm_waits_add(waits, order->reader[i]);
}

static void forget_reached(struct adsm_order *order)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < order->writes; i++)
        if (!adsm_fence_done(order->write[i].fence))
            order->write[kept++] = order->write[i];
    order->writes = kept;
    kept = 0;
    for (uint32_t i = 0; i < order->readers; i++)
        if (!adsm_fence_done(order->reader[i]))
            order->reader[kept++] = order->reader[i];
    order->readers = kept;
}

void adsm_order_read(struct adsm_order *order, struct adsm_fence fence)
{
    uint32_t i = 0;
    while (i < order->readers && !same_lane(order->reader[i], fence))
        i++;
    if (i == ADSM_ORDER_READERS) {
        forget_reached(order);
        i = order->readers;
    }
    if (i == ADSM_ORDER_READERS) {
        /* A failed wait is a lost device: nothing of it reads any more. */
        (void)adsm_fence_wait(order->reader[0]);
        i = 0;
    }
    if (i == order->readers)
        order->readers++;
    order->reader[i] = fence;
}

/* Two entries of one lane become one: there are more entries than lanes. */
static void merge_two(struct adsm_order *order)
{
    for (uint32_t i = 0; i < order->writes; i++)
        for (uint32_t k = i + 1; k < order->writes; k++) {
            struct adsm_order_write *a = &order->write[i];
            struct adsm_order_write *b = &order->write[k];
            if (!same_lane(a->fence, b->fence))
                continue;
            a->box = adsm_box_hull(&a->box, &b->box);
            if (a->fence.seq < b->fence.seq)
                a->fence = b->fence;
            *b = order->write[--order->writes];
            return;
        }
    /* A failed wait is a lost device: nothing of it writes any more. */
    (void)adsm_fence_wait(order->write[0].fence);
    order->write[0] = order->write[--order->writes];
}

void adsm_order_written(struct adsm_order *order, const adsmBox *box,
                        struct adsm_fence fence)
{
    for (uint32_t i = 0; i < order->writes; i++) {
        struct adsm_order_write *write = &order->write[i];
        if (same_lane(write->fence, fence) &&
            adsm_box_within(&write->box, box)) {
            *write = (struct adsm_order_write){*box, fence};
            return;
        }
    }
    if (order->writes == ADSM_ORDER_WRITES)
        forget_reached(order);
    if (order->writes == ADSM_ORDER_WRITES)
        merge_two(order);
    order->write[order->writes++] = (struct adsm_order_write){*box, fence};
}

void adsm_order_all(const struct adsm_order *order, struct adsm_waits *waits)
{
    for (uint32_t i = 0; i < order->writes; i++)
        adsm_waits_add(waits, order->write[i].fence);
    for (uint32_t i = 0; i < order->readers; i++)
        adsm_waits_add(waits, order->reader[i]);
}

bool adsm_order_is_idle(const struct adsm_order *order)
{
    for (uint32_t i = 0; i < order->writes; i++)
        if (!adsm_fence_done(order->write[i].fence))
            return false;
    for (uint32_t i = 0; i < order->readers; i++)
        if (!adsm_fence_done(order->reader[i]))
            return false;
    return true;
}

bool adsm_order_is_valid(const struct adsm_order *order)
{
    if (order->writes > ADSM_ORDER_WRITES ||
        order->readers > ADSM_ORDER_READERS)
        return false;
    for (uint32_t i = 0; i < order->writes; i++)
        if (adsm_box_is_empty(&order->write[i].box))
            return false;
    for (uint32_t i = 0; i < order->readers; i++)
        for (uint32_t k = 0; k < i; k++)
            if (same_lane(order->reader[i], order->reader[k]))
                return false;
    return true;
}

/*
 * The accels there are, and what is known of one; see device.h.
 *
 * Owns their list. Readers walk it without a lock, since accels are only ever
 * added at its head and never freed.
 */
#include "accel/device.h"

static struct {
    struct adsm_accel *_Atomic first;
    _Atomic bool forked;
} accels;

struct adsm_accel *adsm_accel_first(void)
{
    /* Acquire: the accel's members were written before it was listed. */
    return atomic_load_explicit(&accels.first, memory_order_acquire);
}

void adsm_accel_list(struct adsm_accel *accel)
{
    accel->next = atomic_load_explicit(&accels.first, memory_order_relaxed);
    accel->index = accel->next ? accel->next->index + 1 : 0;
    atomic_store_explicit(&accels.first, accel, memory_order_release);
}

struct adsm_accel *adsm_accel_of_context(void *context)
{
    struct adsm_accel *accel = adsm_accel_first();
    while (accel && accel->context != context)
        accel = accel->next;
    return context ? accel : NULL;
}

void adsm_accel_mark_forked(void)
{
    atomic_store_explicit(&accels.forked, true, memory_order_relaxed);
}

bool adsm_accel_is_forked(void)
{
    return atomic_load_explicit(&accels.forked, memory_order_relaxed);
}

void *adsm_accel_context(const struct adsm_accel *accel)
{
    return accel->context;
}

int adsm_accel_memory(struct adsm_accel *accel, size_t *free_bytes,
                      size_t *total_bytes)
{
    return accel->ops->memory_info(accel, free_bytes, total_bytes);
}

int adsm_accel_device(const struct adsm_accel *accel)
{
    return accel->device;
}

bool adsm_accel_is_cpu(const struct adsm_accel *accel)
{
    return accel->ops == &adsm_host_ops;
}

uint32_t adsm_accel_index(const struct adsm_accel *accel)
{
    return accel->index;
}

int adsm_accel_health(const struct adsm_accel *accel)
{
    return atomic_load_explicit(&accel->health, memory_order_relaxed);
}

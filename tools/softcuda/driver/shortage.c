/*
 * Owns: what is said of device memory that ran out: a failed allocation is an
 * answer, which most programs cope with, so it is said when one has ended with
 * a failure and its last allocation had failed.
 * Does not own: counting (memory.c).  Lock: sc_memory_lock.
 */
#include <stdlib.h>

#include "base/report.h"
#include "driver/device.h"
#include "driver/memory.h"

void sc_memory_allowed(struct sc_device *device)
{
    struct sc_shared *shared = device->channel.shared;
    if (shared)
        atomic_store_explicit(&shared->refused_bytes, 0, memory_order_relaxed);
}

CUresult sc_memory_refuse(struct sc_device *device, uint64_t bytes)
{
    struct sc_shared *shared = device->channel.shared;
    pthread_mutex_lock(&sc_memory_lock);
    if (shared) {
        shared->refused_used = device->used_bytes;
        shared->memory_bytes = sc_options.memory_bytes;
        atomic_store(&shared->refused_bytes, bytes);
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Where no exit handler runs, the device process does that. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    if (sc_enter() != CUDA_SUCCESS)
        return;
    for (int i = 0; i < sc_device_count(); i++) {
        struct sc_shared *shared = sc_device_get(i)->channel.shared;
        uint64_t bytes =
            shared ? atomic_exchange(&shared->refused_bytes, 0) : 0;
        if (bytes && status != 0)
            sc_report_shortage(i, bytes, shared->refused_used,
                               shared->memory_bytes);
    }
}

void sc_memory_expect_exit(void)
{
    if (on_exit(at_exit, NULL) != 0)
        sc_say("no memory for an exit handler");
}

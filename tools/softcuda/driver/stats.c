/*
 * Owns: launch counters by kernel name, the report at exit, softcudaStats.
 * Does not own: the byte counters (link.c).  Lock: `lock`, a leaf.
 */
#include "driver/stats.h"

#include <pthread.h>
#include <softcuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/device.h"

struct sc_kernel_stats {
    struct sc_kernel_stats *next;
    char *name;
    _Atomic uint64_t launches, ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_kernel_stats *kernels;

struct sc_kernel_stats *sc_stats_kernel(const char *name)
{
    pthread_mutex_lock(&lock);
    struct sc_kernel_stats *stats = kernels;
    while (stats && strcmp(stats->name, name) != 0)
        stats = stats->next;
    if (!stats && (stats = calloc(1, sizeof *stats))) {
        stats->name = strdup(name);
        stats->next = kernels;
        if (stats->name) {
            kernels = stats;
        } else {
            free(stats);
            stats = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return stats;
}

void sc_stats_kernel_ran(struct sc_kernel_stats *stats, uint64_t ns)
{
    atomic_fetch_add_explicit(&stats->launches, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&stats->ns, ns, memory_order_relaxed);
}

static uint64_t link_bytes(struct sc_link *link)
{
    return atomic_load_explicit(&link->bytes, memory_order_relaxed);
}

__attribute__((visibility("default"))) int
softcudaStats(int ordinal, struct softcuda_stats *stats)
{
    if (sc_enter() != CUDA_SUCCESS || !stats)
        return -1;
    struct sc_device *device = sc_device_get(ordinal);
    if (!device)
        return -1;
    *stats = (struct softcuda_stats){
        .upload_bytes = link_bytes(&device->upload_link),
        .download_bytes = link_bytes(&device->download_link)};
    pthread_mutex_lock(&lock);
    for (struct sc_kernel_stats *k = kernels; k; k = k->next) {
        stats->launches += k->launches;
        stats->kernel_ns += k->ns;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

__attribute__((destructor)) static void report(void)
{
    if (sc_enter() != CUDA_SUCCESS || !sc_options.stats)
        return;
    for (int i = 0; i < sc_device_count(); i++) {
        struct sc_device *device = sc_device_get(i);
        fprintf(stderr, "softcuda: device %d: %.3f MiB up, %.3f MiB down\n", i,
                (double)link_bytes(&device->upload_link) / 0x1p20,
                (double)link_bytes(&device->download_link) / 0x1p20);
    }
    for (struct sc_kernel_stats *k = kernels; k; k = k->next)
        if (k->launches)
            fprintf(
                stderr, "softcuda: %s: %llu launches, %.3f ms, %.1f us each\n",
                k->name, (unsigned long long)k->launches, (double)k->ns / 1e6,
                (double)k->ns / 1e3 / (double)k->launches);
}

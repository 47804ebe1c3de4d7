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

#include "base/report.h"
#include "driver/device.h"

struct sc_kernel_stats {
    struct sc_kernel_stats *next;
    char *name;
    _Atomic uint64_t launches, ns;
    _Atomic uint64_t interpreted, native, both; /* launches */
    char why[160]; /* last reason not to be native; sc_sched_lock */
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

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(
        counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
        memory_order_relaxed);
}

void sc_stats_kernel_ran(struct sc_kernel_stats *stats,
                         const struct sc_result *result, const char *why)
{
    add(&stats->launches, 1);
    add(&stats->ns, result->end_ns - result->begin_ns);
    if (result->ran == (SC_RAN_INTERPRETED | SC_RAN_NATIVE))
        add(&stats->both, 1);
    else if (result->ran == SC_RAN_NATIVE)
        add(&stats->native, 1);
    else if (result->ran == SC_RAN_INTERPRETED)
        add(&stats->interpreted, 1);
    if (why[0])
        snprintf(stats->why, sizeof stats->why, "%s", why);
}

static uint64_t link_bytes(struct sc_link *link)
{
    return atomic_load_explicit(link->bytes, memory_order_relaxed);
}

static void add_pace(const struct sc_device *device,
                     struct softcuda_stats *stats)
{
    const struct sc_shared *shared = device->channel.shared;
    if (!shared)
        return;
    stats->paced = atomic_load(&shared->paced);
    stats->late = atomic_load(&shared->late);
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
    add_pace(device, stats);
    pthread_mutex_lock(&lock);
    for (struct sc_kernel_stats *k = kernels; k; k = k->next) {
        stats->launches += k->launches;
        stats->kernel_ns += k->ns;
        stats->native += k->native;
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
        struct sc_shared *shared = device->channel.shared;
        if (shared)
            atomic_store(&shared->report, 0);
        sc_report_device(i, link_bytes(&device->upload_link),
                         link_bytes(&device->download_link));
        if (shared)
            sc_report_pace(i, shared->paced, shared->late);
    }
    for (struct sc_kernel_stats *k = kernels; k; k = k->next)
        sc_report_kernel(&(struct sc_report){.name = k->name,
                                             .launches = k->launches,
                                             .ns = k->ns,
                                             .interpreted = k->interpreted,
                                             .native = k->native,
                                             .both = k->both,
                                             .why = k->why});
}

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
        stats->native += k->native;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ", native", ", interpreter (why)", or counts where both took part. */
static void describe_executor(const struct sc_kernel_stats *k, char *text,
                              size_t bytes)
{
    bool mixed = k->both || (k->native && k->interpreted);
    size_t n = 0;
    text[0] = '\0';
    if (mixed)
        n = (size_t)snprintf(
            text, bytes, ", %llu native, %llu interpreter, %llu both",
            (unsigned long long)k->native, (unsigned long long)k->interpreted,
            (unsigned long long)k->both);
    else if (k->native || k->interpreted)
        n = (size_t)snprintf(text, bytes,
                             k->native ? ", native" : ", interpreter");
    if (k->why[0] && n < bytes)
        snprintf(text + n, bytes - n, " (%s)", k->why);
}

static void report_kernel(const struct sc_kernel_stats *k)
{
    char executor[256];
    describe_executor(k, executor, sizeof executor);
    fprintf(stderr, "softcuda: %s: %llu launches, %.3f ms, %.1f us each%s\n",
            k->name, (unsigned long long)k->launches, (double)k->ns / 1e6,
            (double)k->ns / 1e3 / (double)k->launches, executor);
}

__attribute__((destructor)) static void report(void)
{
    if (sc_enter() != CUDA_SUCCESS || !sc_options.stats)
        return;
    for (int i = 0; i < sc_device_count(); i++) {
        struct sc_device *device = sc_device_get(i);
        uint64_t up = link_bytes(&device->upload_link);
        uint64_t down = link_bytes(&device->download_link);
        /* The bytes are for programs, which compare them. */
        fprintf(stderr,
                "softcuda: device %d: %.3f MiB up, %.3f MiB down "
                "(%llu up, %llu down)\n",
                i, (double)up / 0x1p20, (double)down / 0x1p20,
                (unsigned long long)up, (unsigned long long)down);
    }
    for (struct sc_kernel_stats *k = kernels; k; k = k->next)
        if (k->launches)
            report_kernel(k);
}

/*
 * Counters of the software device, for benches that know nothing else of the
 * driver: found where the library loaded it.
 */
#ifndef BENCH_MICRO_DEVICE_STATS_H
#define BENCH_MICRO_DEVICE_STATS_H

#include "tools/softcuda/include/softcuda.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef int (*device_ask)(int, struct softcuda_stats *);

/* NULL on another driver, and where none is loaded. */
static inline device_ask device_answers(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver)
        return NULL;
    device_ask ask;
    *(void **)&ask = dlsym(driver, "softcudaStats");
    dlclose(driver);
    return ask;
}

static inline bool device_is_software(void)
{
    return device_answers() != NULL;
}

/** Of the first device; all 0 on another driver. */
static inline struct softcuda_stats device_stats(void)
{
    struct softcuda_stats stats = {0};
    device_ask ask = device_answers();
    if (!ask || ask(0, &stats) != 0)
        stats = (struct softcuda_stats){0};
    return stats;
}

/** Say on standard error when more than one paced kernel in a hundred ended over
 *  1 ms late: the times of these cases say nothing. */
static inline void device_tell_late(const char *cases)
{
    struct softcuda_stats stats = device_stats();
    if (stats.late * 100 > stats.paced)
        fprintf(stderr, "%s: %llu of %llu kernels were late: void\n", cases,
                (unsigned long long)stats.late,
                (unsigned long long)stats.paced);
}

#endif

/*
 * What the tests of launches ask: does an address stay open to the CPU, and is
 * it to, under the options that the test runs with? For preloaded programs.
 */
#ifndef TESTS_INTERPOSE_STAYS_H
#define TESTS_INTERPOSE_STAYS_H

#include "regress/interpose/preloaded.h"

#include <stdbool.h>
#include <stdlib.h>

static inline volatile uint32_t *words(size_t bytes, uint8_t value)
{
    return (volatile uint32_t *)(void *)device_bytes(bytes, value);
}

/* Whether the CPU may read there without a fault. */
static inline bool is_open(const volatile void *at)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], may;
    unsigned long from, to;
    bool open = false;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %c", &from, &to, &may) == 3 &&
            (uintptr_t)at >= from && (uintptr_t)at < to)
            open = may == 'r';
    fclose(maps);
    return open;
}

/* Batch takes everything, as the programmers it mimics would. */
static inline bool keeps(void)
{
    const char *protocol = getenv("ADSM_PROTOCOL");
    const char *writes = getenv("ADSM_KERNEL_WRITES");
    return (!protocol || strcmp(protocol, "batch") != 0) &&
           (!writes || strcmp(writes, "all") != 0);
}

#endif

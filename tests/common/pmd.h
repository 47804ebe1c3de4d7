/*
 * How much of an address range is mapped by huge pages, as the kernel says.
 */
#ifndef TESTS_COMMON_PMD_H
#define TESTS_COMMON_PMD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Bytes of mappings that lie within [at, at + bytes) which are mapped by 2 MiB;
 *  a mapping that reaches out of the range counts whole. */
static inline size_t pmd_bytes(const void *at, size_t bytes)
{
    FILE *smaps = fopen("/proc/self/smaps", "r");
    uintptr_t from, to;
    size_t kib, sum = 0;
    int within = 0;
    char line[512];
    while (smaps && fgets(line, sizeof line, smaps)) {
        if (sscanf(line, "%zx-%zx ", &from, &to) == 2)
            within = from < (uintptr_t)at + bytes && (uintptr_t)at < to;
        else if (within && sscanf(line, "ShmemPmdMapped: %zu kB", &kib) == 1)
            sum += kib << 10;
    }
    if (smaps)
        fclose(smaps);
    return sum;
}

#endif

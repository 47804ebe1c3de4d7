/*
 * The byte kernels of the mm suites (tests/mm/kernels.h) as functions for the
 * CPU, linked into these suites: they are known before main.
 */
#include "adsm.h"

#include <stdlib.h>

/* The threads of the blocks, along x: [*from, *to). */
static void threads(const adsmBlocks *blocks, uint64_t *from, uint64_t *to)
{
    *from = blocks->first * blocks->block[0];
    *to = *from + blocks->count * blocks->block[0];
}

#define VALUE(type, i) (*(type *)values[i])

static void mix(const adsmBlocks *blocks, void *const *values)
{
    uint8_t *p = VALUE(uint8_t *, 0), *q = VALUE(uint8_t *, 1);
    uint32_t n = VALUE(uint32_t, 2), s = VALUE(uint32_t, 3);
    uint64_t i, to;
    for (threads(blocks, &i, &to); i < to && i < n; i++)
        p[i] = (uint8_t)(p[i] * 5 + q[i] + s);
}

static void fill(const adsmBlocks *blocks, void *const *values)
{
    uint8_t *p = VALUE(uint8_t *, 0);
    uint32_t n = VALUE(uint32_t, 1), s = VALUE(uint32_t, 2);
    uint64_t i, to;
    for (threads(blocks, &i, &to); i < to && i < n; i++)
        p[i] = (uint8_t)(i * 7 + s);
}

static void inc(const adsmBlocks *blocks, void *const *values)
{
    long i0 = VALUE(long, 0), i1 = VALUE(long, 1);
    uint8_t *p = VALUE(uint8_t *, 2);
    uint64_t i, to;
    for (threads(blocks, &i, &to); i < to && i0 + (long)i < i1; i++)
        p[i0 + (long)i]++;
}

static const size_t mix_bytes[] = {8, 8, 4, 4}, fill_bytes[] = {8, 4, 4},
                    inc_bytes[] = {8, 8, 8};
static adsmCpuCode codes[] = {{"mix", mix, 4, mix_bytes, NULL},
                              {"fill", fill, 3, fill_bytes, NULL},
                              {"inc", inc, 3, inc_bytes, NULL}};

__attribute__((constructor)) static void add(void)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (adsmCpuAdd(&codes[i]) != ADSM_OK)
            abort();
}

/* Numbers drawn at random, the same ones in every run (Marsaglia's xorshift). */
#ifndef TESTS_COMMON_DRAW_H
#define TESTS_COMMON_DRAW_H

#include <stdint.h>

/** From 0 to n - 1. Thread: one of a suite */
static inline long below(long n)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (long)(seed % (uint64_t)n);
}

#endif

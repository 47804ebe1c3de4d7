/* Numbers drawn at random, the same ones in every run (Marsaglia's xorshift),
 * unless a test says where they begin. */
#ifndef TESTS_COMMON_DRAW_H
#define TESTS_COMMON_DRAW_H

#include <stdint.h>

/** Not 0. Lock: none, one thread of a suite draws */
static uint64_t draw_seed = 88172645463325252u;

/** Any number but 0. */
static inline uint64_t draw_bits(void)
{
    draw_seed ^= draw_seed << 13;
    draw_seed ^= draw_seed >> 7;
    draw_seed ^= draw_seed << 17;
    return draw_seed;
}

/** From 0 to n - 1. */
static inline long below(long n)
{
    return (long)(draw_bits() % (uint64_t)n);
}

#endif

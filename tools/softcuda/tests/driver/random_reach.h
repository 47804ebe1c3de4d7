/*
 * Random kernels that reach into two arrays.
 *
 * Values are computed from threads, numbers of the launch and memory, branches
 * and loops go by them, and pointers are walked, compared, rounded and chosen.
 */
#ifndef TESTS_SOFTCUDA_RANDOM_REACH_H
#define TESTS_SOFTCUDA_RANDOM_REACH_H

#include <stdint.h>

/* Of an array: pointers lead to its middle. */
enum { RANDOM_REACH_HALF = 128 << 10 };

/** Text of a kernel `run`: pointers a and b; n, from -20 to 40, and m, from 1
 *  to 30, 32 bits each; grid and block of up to 16 in x and y. To be freed. */
char *random_reach(uint64_t seed);

#endif

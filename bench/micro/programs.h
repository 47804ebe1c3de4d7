/*
 * Two programs from their first allocation to their last free, for benches that
 * ask what memory as a whole costs.
 *
 *   vecsum    three vectors of 64 MiB: the host writes two, the device adds
 *             them, the host reads the third
 *   stencil   2048 x 2048 points, 50 steps; the host writes the first and reads
 *             the last
 *
 * What they compute is looked at; a program that is wrong, or gets no memory, ends
 * with a sentence and status 1.
 */
#ifndef BENCH_MICRO_PROGRAMS_H
#define BENCH_MICRO_PROGRAMS_H

#include "bench.h"

#include <string.h>

enum { PROGRAM_STEPS = 50 };

/** Of one vector; along one side. */
static inline size_t program_elements(const char *name)
{
    return strcmp(name, "vecsum") == 0 ? (bench_quick() ? 1 << 20 : 16 << 20)
                                       : (bench_quick() ? 512 : 2048);
}

/**
 * Run one.
 *
 * @small  few elements: afterwards runtime, module and native code are there
 */
void program_run(const char *name, bool small);

#endif

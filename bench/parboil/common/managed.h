/*
 * What the forms on managed memory share beyond cuda.h: one pointer for both
 * sides, and hints, which do something only in the programs that are linked
 * with them (managed/hints.h).
 *
 * The CPU must not touch managed memory while the device works: device_wait
 * comes before. device_free frees. Errors end the program with
 * BENCH_EXIT_DEVICE. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_MANAGED_H
#define BENCH_PARBOIL_MANAGED_H

#include "common/cuda.h"

void *managed_alloc(size_t bytes);

/** The CPU has written it; kernels only read it. */
void read_mostly(void *managed, size_t bytes);

/** Kernels use it until the CPU wants the result. */
void prefer_device(void *managed, size_t bytes);

/** Where the pages are wanted next. Charged to BENCH_COPY. */
void prefetch_to_device(void *managed, size_t bytes);
void prefetch_to_host(void *managed, size_t bytes);

#endif

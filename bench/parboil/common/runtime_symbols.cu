/*
 * A benchmark's kernels as nvcc compiles them; see runtime.h.
 *
 * BENCH_KERNELS is the file with them, BENCH_SYMBOLS has a SYMBOL(name) for each
 * kernel and each variable.
 */
#include BENCH_KERNELS

#include "common/runtime.h"

#define SYMBOL(name) {#name, (const void *)name},
const struct runtime_symbol runtime_symbols[] = {BENCH_SYMBOLS{0, 0}};

/*
 * The sums of ppmcc, for the kernels and for the CPU. Plain C: device code
 * includes this.
 */
#ifndef BENCH_RANGES_PPMCC_KERNEL_H
#define BENCH_RANGES_PPMCC_KERNEL_H

/* Of one chunk: of its pixels; of products of their distances from the mean. */
struct ppmcc_level {
    float first, second;
};

struct ppmcc_spread {
    float both, first, second;
};

#endif

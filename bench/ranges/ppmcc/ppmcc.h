/*
 * ppmcc: Pearson's product-moment correlation coefficient of two images, in two
 * calls over the same data. The CPU adds up the sums of chunks.
 *
 * Owns the last sums and the verification. One thread.
 */
#ifndef BENCH_RANGES_PPMCC_H
#define BENCH_RANGES_PPMCC_H

#include "common/images.h"
#include "ppmcc_kernel.h"

/** Means of both images, from the sums of the first call. */
struct ppmcc_level ppmcc_mean(const struct images *images,
                              const struct ppmcc_level *sums);

/**
 * Correlation from the sums of the second call, 0 where an image has one colour
 * only; write it, stop the clock, verify, report.
 */
void ppmcc_finish(const struct images *images, const struct ppmcc_spread *sums);

#endif

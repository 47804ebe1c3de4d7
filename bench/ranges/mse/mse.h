/*
 * mse: mean squared error of an image, in a single call. The CPU adds up the
 * sums of chunks.
 *
 * Owns the last sum and the verification. One thread.
 */
#ifndef BENCH_RANGES_MSE_H
#define BENCH_RANGES_MSE_H

#include "common/images.h"

/** Add up the sums, write the result, stop the clock, verify, report. */
void mse_finish(const struct images *images, const float *sums);

#endif

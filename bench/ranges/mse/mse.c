/*
 * mse on the CPU: the last sum, and all of them once more. See mse.h; built
 * with -ffp-contract=off.
 */
#include "mse/mse.h"

#include <math.h>
#include <stdlib.h>

#include "common/program.h"

static double mean(const struct images *images, const float *sums)
{
    double sum = 0;
    for (long i = 0; i < images->chunks; i++)
        sum += (double)sums[i];
    return sum / (double)images->pixels;
}

static float chunk_sum(const struct chunk *first, const struct chunk *second)
{
    float sum = 0;
    for (int k = 0; k < CHUNK_PIXELS; k++) {
        float difference = first->pixel[k] - second->pixel[k];
        sum = fmaf(difference, difference, sum);
    }
    return sum;
}

static void verify(const struct images *images)
{
    struct chunk *first = bench_alloc(images->bytes);
    struct chunk *second = bench_alloc(images->bytes);
    float *sums = bench_alloc((size_t)images->chunks * sizeof *sums);
    images_make(images, first, second);
    for (long i = 0; i < images->chunks; i++)
        sums[i] = chunk_sum(first + i, second + i);
    double result = mean(images, sums);
    program_same("mean", bench_result(sizeof result), &result, 1,
                 sizeof result);
    free(sums);
    free(second);
    free(first);
}

void mse_finish(const struct images *images, const float *sums)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    double result = mean(images, sums);
    bench_enter(before);
    bench_output(&result, sizeof result);
    if (bench_end())
        verify(images);
    bench_report();
}

/*
 * ppmcc on the CPU: the last sums, and all of them once more. See ppmcc.h;
 * built with -ffp-contract=off.
 */
#include "ppmcc/ppmcc.h"

#include <math.h>
#include <stdlib.h>

#include "common/program.h"

struct ppmcc_level ppmcc_mean(const struct images *images,
                              const struct ppmcc_level *sums)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    double first = 0, second = 0;
    for (long i = 0; i < images->chunks; i++) {
        first += (double)sums[i].first;
        second += (double)sums[i].second;
    }
    bench_enter(before);
    return (struct ppmcc_level){
        .first = (float)(first / (double)images->pixels),
        .second = (float)(second / (double)images->pixels),
    };
}

static double correlation(const struct images *images,
                          const struct ppmcc_spread *sums)
{
    double both = 0, first = 0, second = 0;
    for (long i = 0; i < images->chunks; i++) {
        both += (double)sums[i].both;
        first += (double)sums[i].first;
        second += (double)sums[i].second;
    }
    double product = sqrt(first) * sqrt(second);
    return product > 0 ? both / product : 0;
}

static struct ppmcc_level level(const struct chunk *first,
                                const struct chunk *second)
{
    struct ppmcc_level sum = {0};
    for (int k = 0; k < CHUNK_PIXELS; k++) {
        sum.first += first->pixel[k];
        sum.second += second->pixel[k];
    }
    return sum;
}

static struct ppmcc_spread spread(const struct chunk *first,
                                  const struct chunk *second, long pixels,
                                  struct ppmcc_level mean)
{
    struct ppmcc_spread sum = {0};
    for (int k = 0; k < CHUNK_PIXELS && k < pixels; k++) {
        float a = first->pixel[k] - mean.first;
        float b = second->pixel[k] - mean.second;
        sum.both = fmaf(a, b, sum.both);
        sum.first = fmaf(a, a, sum.first);
        sum.second = fmaf(b, b, sum.second);
    }
    return sum;
}

static double compute(const struct images *images, const struct chunk *first,
                      const struct chunk *second)
{
    size_t chunks = (size_t)images->chunks;
    struct ppmcc_level *levels = bench_alloc(chunks * sizeof *levels);
    struct ppmcc_spread *spreads = bench_alloc(chunks * sizeof *spreads);
    for (long i = 0; i < images->chunks; i++)
        levels[i] = level(first + i, second + i);
    struct ppmcc_level mean = ppmcc_mean(images, levels);
    for (long i = 0; i < images->chunks; i++)
        spreads[i] = spread(first + i, second + i,
                            images->pixels - i * CHUNK_PIXELS, mean);
    double result = correlation(images, spreads);
    free(spreads);
    free(levels);
    return result;
}

static void verify(const struct images *images)
{
    struct chunk *first = bench_alloc(images->bytes);
    struct chunk *second = bench_alloc(images->bytes);
    images_make(images, first, second);
    double result = compute(images, first, second);
    program_same("correlation", bench_result(sizeof result), &result, 1,
                 sizeof result);
    free(second);
    free(first);
}

void ppmcc_finish(const struct images *images, const struct ppmcc_spread *sums)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    double result = correlation(images, sums);
    bench_enter(before);
    bench_output(&result, sizeof result);
    if (bench_end())
        verify(images);
    bench_report();
}

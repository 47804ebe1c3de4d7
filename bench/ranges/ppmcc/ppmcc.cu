/*
 * Sums of chunks of two images, one thread per chunk: of the pixels, and of the
 * products of their distances from the means. ppmcc.c repeats them and expects
 * the same bits.
 */
#include "adsm_device.h"
#include "../common/chunk.h"
#include "ppmcc_kernel.h"

/*
 * first, second  the images; sums  one pair for each of their chunks
 */
extern "C" __global__ void ppmcc_levels(long i0, long i1,
                                        const struct chunk *__restrict__ first,
                                        const struct chunk *__restrict__ second,
                                        struct ppmcc_level *__restrict__ sums)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    struct ppmcc_level sum = {0.0f, 0.0f};
    for (int k = 0; k < CHUNK_PIXELS; k++) {
        sum.first += first[i].pixel[k];
        sum.second += second[i].pixel[k];
    }
    sums[i] = sum;
}

/*
 * pixels  of an image: what fills up the last chunk does not count
 * mean    of each image
 */
extern "C" __global__ void
ppmcc_spreads(long i0, long i1, const struct chunk *__restrict__ first,
              const struct chunk *__restrict__ second,
              struct ppmcc_spread *__restrict__ sums, long pixels,
              struct ppmcc_level mean)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    struct ppmcc_spread sum = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < CHUNK_PIXELS && i * CHUNK_PIXELS + k < pixels; k++) {
        float a = first[i].pixel[k] - mean.first;
        float b = second[i].pixel[k] - mean.second;
        sum.both = adsm_fma(a, b, sum.both);
        sum.first = adsm_fma(a, a, sum.first);
        sum.second = adsm_fma(b, b, sum.second);
    }
    sums[i] = sum;
}

ADSM_CPU_KERNEL(ppmcc_levels)
ADSM_CPU_KERNEL(ppmcc_spreads)

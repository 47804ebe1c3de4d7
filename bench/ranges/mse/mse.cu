/*
 * Sums of squared differences of two images, one thread per chunk. mse.c
 * repeats them and expects the same bits.
 */
#include "adsm_device.h"
#include "../common/chunk.h"

/*
 * first, second  the images; sums  one for each of their chunks
 */
extern "C" __global__ void mse_sums(long i0, long i1,
                                    const struct chunk *__restrict__ first,
                                    const struct chunk *__restrict__ second,
                                    float *__restrict__ sums)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    float sum = 0.0f;
    for (int k = 0; k < CHUNK_PIXELS; k++) {
        float difference = first[i].pixel[k] - second[i].pixel[k];
        sum = adsm_fma(difference, difference, sum);
    }
    sums[i] = sum;
}

ADSM_CPU_KERNEL(mse_sums)

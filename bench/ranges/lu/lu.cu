/*
 * One step of a decomposition into a lower and an upper triangle, without
 * pivoting: column k below the diagonal becomes the factors, what is right of
 * it loses row k times the factor. Everything else is passed on. One thread
 * per element; lu.c repeats it and expects the same bits.
 */
#include "adsm_device.h"

/*
 * all  the matrix before the step, n rows of n; out  the part's rows after it
 */
extern "C" __global__ void lu_step(long i0, long i1, long j0, long j1,
                                   const float *__restrict__ all,
                                   float *__restrict__ out, long n, long k)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x();
    if (i >= i1 || j >= j1)
        return;
    float value = all[i * n + j];
    if (i > k && j >= k) {
        float factor = all[i * n + k] / all[k * n + k];
        value = j == k ? factor : adsm_fma(-factor, all[k * n + j], value);
    }
    out[i * n + j] = value;
}

ADSM_CPU_KERNEL(lu_step)

/*
 * Products of a matrix and a vector, of its rows and of its columns, one thread
 * per sum. mvt.c repeats the sums and expects the same bits.
 */
#include "adsm_device.h"

/* a  the part's rows of n; y  all n */
extern "C" __global__ void mvt_rows(long i0, long i1, float *__restrict__ x,
                                    const float *__restrict__ a,
                                    const float *__restrict__ y, long n)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    float sum = x[i];
    for (long j = 0; j < n; j++)
        sum = adsm_fma(a[i * n + j], y[j], sum);
    x[i] = sum;
}

/* a  the part's columns of n; y  all n */
extern "C" __global__ void mvt_columns(long j0, long j1, float *__restrict__ x,
                                       adsm_view2<const float> a,
                                       const float *__restrict__ y, long n)
{
    long j = j0 + adsm_thread_x();
    if (j >= j1)
        return;
    float sum = x[j];
    for (long i = 0; i < n; i++)
        sum = adsm_fma(a(i, j), y[i], sum);
    x[j] = sum;
}

ADSM_CPU_KERNEL(mvt_rows)
ADSM_CPU_KERNEL(mvt_columns)

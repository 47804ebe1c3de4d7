/*
 * What conjugate gradients need of a sparse matrix and of vectors. The matrix is
 * in rows: of row i, elements start[i] up to start[i + 1] of `column` and
 * `value`.
 */
#include "adsm_device.h"

extern "C" __global__ void multiply(long i0, long i1, const int *start,
                                    const int *column, const double *value,
                                    const double *x, double *y)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
        sum = adsm_fma64(value[k], x[column[k]], sum);
    y[i] = sum;
}

/* y = x + a y, or y += a x */
extern "C" __global__ void scale_add(long i0, long i1, double a,
                                     const double *x, double *y)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] = adsm_fma64(a, y[i], x[i]);
}

extern "C" __global__ void add(long i0, long i1, double a, const double *x,
                               double *y)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] = adsm_fma64(a, x[i], y[i]);
}

ADSM_MAP_REDUCE(dot, double, sum_f64, (const double *x, const double *y),
                x[i] * y[i])

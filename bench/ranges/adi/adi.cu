/*
 * Sweeps along rows and along columns, one thread for each. adi.c repeats them
 * and expects the same bits.
 */
#include "adsm_device.h"

/* A row of an array. */
template <typename T> struct row {
    adsm_view2<T> of;
    long i;

    __device__ T &operator[](long k) const
    {
        return of(i, k);
    }
};

/* A column of an array. */
template <typename T> struct column {
    adsm_view2<T> of;
    long j;

    __device__ T &operator[](long k) const
    {
        return of(k, j);
    }
};

template <typename Line, typename Read>
static __device__ void sweep(long n, Line x, Line b, Read a)
{
    float x_before = x[0], b_before = b[0];
    for (long k = 1; k < n; k++) {
        float share = a[k] / b_before;
        x[k] = x_before = adsm_fma(-x_before, share, x[k]);
        b[k] = b_before = adsm_fma(-a[k], share, b[k]);
    }
    x[n - 1] = x_before / b_before;
    for (long k = n - 2; k > 0; k--)
        x[k] = adsm_fma(-x[k - 1], a[k - 1], x[k]) / b[k - 1];
}

/* All of the part's rows of n. */
extern "C" __global__ void adi_rows(long i0, long i1, adsm_view2<float> x,
                                    adsm_view2<float> b,
                                    adsm_view2<const float> a, long n)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        sweep(n, row<float>{x, i}, row<float>{b, i}, row<const float>{a, i});
}

/* All of the part's columns of n. */
extern "C" __global__ void adi_columns(long j0, long j1, adsm_view2<float> x,
                                       adsm_view2<float> b,
                                       adsm_view2<const float> a, long n)
{
    long j = j0 + adsm_thread_x();
    if (j < j1)
        sweep(n, column<float>{x, j}, column<float>{b, j},
              column<const float>{a, j});
}

ADSM_CPU_KERNEL(adi_rows)
ADSM_CPU_KERNEL(adi_columns)

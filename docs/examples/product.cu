/*
 * A product of matrices, one element a thread: c = a * b, where a has `n`
 * columns.
 */
#include "adsm_device.h"

extern "C" __global__ void product(long y0, long y1, long x0, long x1,
                                   adsm_view2<const double> a,
                                   adsm_view2<const double> b,
                                   adsm_view2<double> c, long n)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    double sum = 0;
    for (long k = 0; k < n; k++)
        sum = adsm_fma64(a(y, k), b(k, x), sum);
    c(y, x) = sum;
}

/*
 * Kernels whose parts use several boxes of an array, on 32-bit numbers.
 *
 * Built into boxes.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

/* Index i has `per` elements of y, below n: y[e] = 3 x[e] + x[k] + i. */
extern "C" __global__ void spans(long i0, long i1, const int *x, int *y,
                                 long per, long n, long k)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    for (long e = i * per; e < (i + 1) * per && e < n; e++)
        y[e] = 3 * x[e] + x[k] + (int)i;
}

/* Each element with that of its column in row k and of its row in column l. */
extern "C" __global__ void crossed(long y0, long y1, long x0, long x1,
                                   adsm_view2<const int> u, adsm_view2<int> w,
                                   long k, long l)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y < y1 && x < x1)
        w(y, x) = 3 * u(y, x) + 5 * u(k, x) + u(y, l);
}

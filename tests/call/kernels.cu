/*
 * Kernels of the suites of calls over several devices, on 32-bit numbers.
 *
 * Built into kernels.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

/* y[i] = 2 x[i] + y[i] + a */
extern "C" __global__ void map(long i0, long i1, const int *x, int *y, int a)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] = 2 * x[i] + y[i] + a;
}

/* out[i] = the sum of all of x, each times 1 + its distance from i modulo 7 */
extern "C" __global__ void all(long i0, long i1, const int *x, int *out, long n)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    int sum = 0;
    for (long k = 0; k < n; k++)
        sum += x[k] * (int)(1 + (k > i ? k - i : i - k) % 7);
    out[i] = sum;
}

/* out[k] = the sum of the `per` elements from k * per on, by few threads. */
extern "C" __global__ void groups(long i0, long i1, const int *x, int *out,
                                  long per)
{
    long threads = (long)gridDim.x * blockDim.x;
    for (long k = i0 / per + adsm_thread_x(); k * per < i1; k += threads) {
        int sum = (int)gridDim.x;
        for (long i = k * per; i < (k + 1) * per; i++)
            if (i >= i0 && i < i1)
                sum += x[i];
        out[k] = sum;
    }
}

/* out[i] = x[i - r] + 2 x[i - r + 1] + ... */
extern "C" __global__ void near(long i0, long i1, const int *x, int *out, int r)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    int sum = 0;
    for (int k = -r; k <= r; k++)
        sum += (k + r + 1) * x[i + k];
    out[i] = sum;
}

/* The same in 2-D with corners, over views. */
extern "C" __global__ void square(long y0, long y1, long x0, long x1,
                                  adsm_view2<const int> u, adsm_view2<int> w,
                                  int ry, int rx)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    int sum = 0, weight = 1;
    for (int dy = -ry; dy <= ry; dy++)
        for (int dx = -rx; dx <= rx; dx++)
            sum += weight++ * u(y + dy, x + dx);
    w(y, x) = sum;
}

/* A cell and its four neighbours, by pointers to rows of nx. */
extern "C" __global__ void rows(long y0, long y1, long x0, long x1,
                                const int *u, int *w, long ny, long nx)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    int sum = u[y * nx + x];
    if (y > 0)
        sum += 2 * u[(y - 1) * nx + x];
    if (y + 1 < ny)
        sum += 3 * u[(y + 1) * nx + x];
    w[y * nx + x] = sum;
}

/* c = a * b, each cut by what it follows. */
extern "C" __global__ void product(long y0, long y1, long x0, long x1,
                                   adsm_view2<const int> a,
                                   adsm_view2<const int> b, adsm_view2<int> c,
                                   long n)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    int sum = 0;
    for (long k = 0; k < n; k++)
        sum += a(y, k) * b(k, x);
    c(y, x) = sum;
}

/* 3-D: index, and what is there. */
extern "C" __global__ void cube(long z0, long z1, long y0, long y1, long x0,
                                long x1, adsm_view3<int> v)
{
    long z = z0 + adsm_thread_z(), y = y0 + adsm_thread_y();
    long x = x0 + adsm_thread_x();
    if (z < z1 && y < y1 && x < x1)
        v(z, y, x) = 3 * v(z, y, x) + (int)(z * 10000 + y * 100 + x);
}

/* No range: p[i] = p[i] + q[i]. */
extern "C" __global__ void add(int *p, const int *q, int n)
{
    long i = adsm_thread_x();
    if (i < n)
        p[i] += q[i];
}

/* out[i] = how far p is from a multiple of 256. */
extern "C" __global__ void skew(long i0, long i1, const int *p, int *out)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        out[i] = (int)((unsigned long)p % 256);
}

/* What lies before each element, by two edges of one array. */
extern "C" __global__ void before(long i0, long i1, const int *a, const int *b,
                                  int *out)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        out[i] = 3 * a[i - 1] + b[i - 1];
}

/* A mistake: whoever begins its part stores `by` elements from there as well. */
extern "C" __global__ void stray(long i0, long i1, int *out, long by)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        out[i] = (int)i;
    if (i == i0)
        out[i0 + by] = 77;
}

/* The same in 2-D, over a view. */
extern "C" __global__ void stray2(long y0, long y1, long x0, long x1,
                                  adsm_view2<int> w, long dy, long dx)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y < y1 && x < x1)
        w(y, x) = (int)(y * 100 + x);
    if (y == y0 && x == x0)
        w(y0 + dy, x0 + dx) = 77;
}

/* One step of Floyd and Warshall: all pairs may go by way of k. */
extern "C" __global__ void floyd(long y0, long y1, long x0, long x1, int *path,
                                 const int *row, long n, long k)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    int by = path[y * n + k] + row[k * n + x];
    if (by < path[y * n + x])
        path[y * n + x] = by;
}

/* y[a i + b] += 3 x[c i + d] + i */
extern "C" __global__ void strided(long i0, long i1, const int *x, int *y,
                                   long a, long b, long c, long d)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[a * i + b] += 3 * x[c * i + d] + (int)i;
}

/* The ends of an array: y[i] and y[n - 1 - i] are each other's. */
extern "C" __global__ void mirror(long i0, long i1, int *y, long n)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    int kept = y[i];
    y[i] = 2 * y[n - 1 - i];
    y[n - 1 - i] = kept + 5;
}

/* The same for columns of a view. */
extern "C" __global__ void mirror2(long y0, long y1, long x0, long x1,
                                   adsm_view2<int> w, long n)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    int kept = w(y, x);
    w(y, x) = 2 * w(y, n - 1 - x);
    w(y, n - 1 - x) = kept + 5;
}

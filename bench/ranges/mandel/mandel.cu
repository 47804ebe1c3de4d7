/*
 * Further steps of z = z^2 + c, one thread per pixel, until |z| > 2. mandel.c
 * repeats them and expects the same bits.
 */
#include "adsm_device.h"
#include "mandel_kernel.h"

/*
 * points  rows of nx; in and out
 * steps   how many at most, in this call
 */
extern "C" __global__ void mandel_more(long i0, long i1, long j0, long j1,
                                       struct mandel_point *points, long nx,
                                       struct mandel_view view, int steps)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x();
    if (i >= i1 || j >= j1)
        return;
    struct mandel_point z = points[i * nx + j];
    float cx = adsm_fma((float)j, view.pixel, view.left);
    float cy = adsm_fma((float)i, view.pixel, view.top);
    for (int step = 0; step < steps; step++) {
        float xx = z.x * z.x, yy = z.y * z.y;
        if (xx + yy > 4.0f)
            break;
        z.y = adsm_fma(2.0f * z.x, z.y, cy);
        z.x = xx - yy + cx;
        z.steps++;
    }
    points[i * nx + j] = z;
}

ADSM_CPU_KERNEL(mandel_more)

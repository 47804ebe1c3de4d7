/*
 * A picture's pixels become the weighted mean of the five by five around them.
 * What lies beyond the picture is the call's to say.
 */
#include "adsm_device.h"

extern "C" __global__ void blur(long y0, long y1, long x0, long x1,
                                adsm_view2<const float> from,
                                const float *weight, adsm_view2<float> to)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += weight[dy + 2] * weight[dx + 2] * from(y + dy, x + dx);
    to(y, x) = sum / 81;
}

/* The same where nothing is said of what lies beyond: it is left out. */
extern "C" __global__ void blur_inside(long y0, long y1, long x0, long x1,
                                       adsm_view2<const float> from,
                                       const float *weight,
                                       adsm_view2<float> to, long ny, long nx)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            if (y + dy >= 0 && y + dy < ny && x + dx >= 0 && x + dx < nx)
                sum += weight[dy + 2] * weight[dx + 2] * from(y + dy, x + dx);
    to(y, x) = sum / 81;
}

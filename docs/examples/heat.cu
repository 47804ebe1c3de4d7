/*
 * One step of heat that spreads in a plate. Each cell takes the part `rate` of
 * what its four neighbours differ from it. The plate's edge gives no heat away:
 * the call makes cells beyond it equal to those at it (ADSM_EDGE_CLAMP), so the
 * kernel has no branch for them.
 */
#include "adsm_device.h"

extern "C" __global__ void heat(long y0, long y1, long x0, long x1,
                                adsm_view2<const float> now,
                                adsm_view2<float> next, float rate)
{
    long y = y0 + adsm_thread_y(), x = x0 + adsm_thread_x();
    if (y >= y1 || x >= x1)
        return; /* the grid is a whole number of blocks */
    float around =
        now(y - 1, x) + now(y + 1, x) + now(y, x - 1) + now(y, x + 1);
    next(y, x) = adsm_fma(rate, around - 4 * now(y, x), now(y, x));
}

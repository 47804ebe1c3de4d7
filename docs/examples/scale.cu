/* Elements i0 to i1 of x, multiplied. README.md is about it. */
#include "adsm_device.h"

extern "C" __global__ void scale(long i0, long i1, float *x, float factor)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        x[i] *= factor;
}

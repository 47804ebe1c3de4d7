/*
 * The sum of two vectors, one thread per element.
 */
#include "adsm_device.h"

extern "C" __global__ void vecadd(float *__restrict__ sum,
                                  const float *__restrict__ a,
                                  const float *__restrict__ b, int count)
{
    long i = adsm_thread_x();
    if (i < count)
        sum[i] = a[i] + b[i];
}

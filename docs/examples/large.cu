/* Samples go through a table, and are added to what is there. */
#include "adsm_device.h"

extern "C" __global__ void shade(long i0, long i1, const unsigned char *sample,
                                 const float *table, float *sum)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        sum[i] += table[sample[i]];
}

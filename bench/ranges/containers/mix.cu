/* A part of a call over elements, one thread each. See mix.h. */
#include "adsm_device.h"

#define MIX_FUNCTION static __device__ inline
#include "mix.h"

extern "C" __global__ void mix(long i0, long i1, const unsigned *a,
                               const unsigned *b, unsigned *out, struct mix m)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        mix_element(&m, i, a, b, out);
}

ADSM_CPU_KERNEL(mix)

/*
 * How often each byte is in a text, as a program for CUDA has it: nothing here
 * knows of libadsm.
 */
#include "adsm_device.h"

extern "C" __global__ void histogram(const unsigned char *text, unsigned n,
                                     unsigned *times)
{
    unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        __atomic_fetch_add(&times[text[i]], 1u, __ATOMIC_RELAXED);
}

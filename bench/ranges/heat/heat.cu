/*
 * One time step of heat in a plate whose edge keeps its temperature, one thread
 * per cell. heat.c repeats the sums and expects the same bits.
 */
#include "adsm_device.h"

/*
 * now     ny rows of nx, of which the part's and their neighbours are read
 * next    the part's cells a step later
 * factor  conductivity * time step / (cell size)^2, at most 1/4
 */
extern "C" __global__ void heat_step(long i0, long i1, long j0, long j1,
                                     const float *__restrict__ now,
                                     float *__restrict__ next, long ny, long nx,
                                     float factor)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x();
    if (i >= i1 || j >= j1)
        return;
    const float *cell = now + i * nx + j;
    float value = *cell;
    if (i > 0 && i < ny - 1 && j > 0 && j < nx - 1) {
        float around = (cell[-nx] + cell[nx]) + (cell[-1] + cell[1]);
        value = adsm_fma(factor, adsm_fma(-4.0f, value, around), value);
    }
    next[i * nx + j] = value;
}

ADSM_CPU_KERNEL(heat_step)

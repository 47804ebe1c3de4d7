/*
 * One time step of heat in a block whose sides keep their temperature, one
 * thread per cell. heat3d.c repeats the sums and expects the same bits.
 */
#include "adsm_device.h"

/*
 * now     nz planes of ny rows of nx, of which the part's and their neighbours
 *         are read
 * next    the part's cells a step later
 * factor  conductivity * time step / (cell size)^2, at most 1/6
 */
extern "C" __global__ void heat3d_step(long i0, long i1, long j0, long j1,
                                       long k0, long k1,
                                       const float *__restrict__ now,
                                       float *__restrict__ next, long nz,
                                       long ny, long nx, float factor)
{
    long i = i0 + adsm_thread_z(), j = j0 + adsm_thread_y(),
         k = k0 + adsm_thread_x();
    if (i >= i1 || j >= j1 || k >= k1)
        return;
    long plane = nx * ny, at = i * plane + j * nx + k;
    const float *cell = now + at;
    float value = *cell;
    if (i > 0 && i < nz - 1 && j > 0 && j < ny - 1 && k > 0 && k < nx - 1) {
        float around = (cell[-plane] + cell[plane]) + (cell[-nx] + cell[nx]);
        around += cell[-1] + cell[1];
        value = adsm_fma(factor, adsm_fma(-6.0f, value, around), value);
    }
    next[at] = value;
}

ADSM_CPU_KERNEL(heat3d_step)

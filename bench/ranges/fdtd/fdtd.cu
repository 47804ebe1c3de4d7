/*
 * A step of a wave in a plane: three kernels, one thread per point. fdtd.c
 * repeats them and expects the same bits.
 *
 * All fields have ny rows of nx. A kernel changes the part's rows of one.
 */
#include "adsm_device.h"

/* hz  the part's rows and the one before; source  what row 0 is set to */
extern "C" __global__ void fdtd_ey(long i0, long i1, long j0, long j1,
                                   float *__restrict__ ey,
                                   const float *__restrict__ hz, long nx,
                                   float source)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x(), at = i * nx + j;
    if (i >= i1 || j >= j1)
        return;
    ey[at] = i == 0 ? source : adsm_fma(-0.5f, hz[at] - hz[at - nx], ey[at]);
}

/* hz  the part's rows */
extern "C" __global__ void fdtd_ex(long i0, long i1, long j0, long j1,
                                   float *__restrict__ ex,
                                   const float *__restrict__ hz, long nx)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x(), at = i * nx + j;
    if (i >= i1 || j >= j1 || j == 0)
        return;
    ex[at] = adsm_fma(-0.5f, hz[at] - hz[at - 1], ex[at]);
}

/* ex  the part's rows; ey  those and the one behind */
extern "C" __global__ void fdtd_hz(long i0, long i1, long j0, long j1,
                                   float *__restrict__ hz,
                                   const float *__restrict__ ex,
                                   const float *__restrict__ ey, long ny,
                                   long nx)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x(), at = i * nx + j;
    if (i >= i1 || j >= j1 || i == ny - 1 || j == nx - 1)
        return;
    float around = (ex[at + 1] - ex[at]) + (ey[at + nx] - ey[at]);
    hz[at] = adsm_fma(-0.7f, around, hz[at]);
}

ADSM_CPU_KERNEL(fdtd_ey)
ADSM_CPU_KERNEL(fdtd_ex)
ADSM_CPU_KERNEL(fdtd_hz)

/*
 * One time step of the acoustic wave equation, one thread per inner cell; on one
 * device, or in parts on several.
 *
 * Owns the numerical scheme: second order in time, eighth order in space,
 * and a damping term that grows towards the faces. The outermost WAVE_RADIUS
 * cells are never written and stay zero, so no thread needs a guard inside
 * the stencil. Every sum is written as the fma chain to be executed:
 * bench/wave/reference.c repeats it and expects the same bits.
 */
#include "adsm_device.h"
#include "wave_stencil.h"

/* Sum of the two neighbours `stride` cells away and their three pairs further
 * out, weighted. */
static __device__ inline float pairs(const float *cell, long stride, float sum)
{
    sum = adsm_fma(WAVE_C1, cell[stride] + cell[-stride], sum);
    sum = adsm_fma(WAVE_C2, cell[2 * stride] + cell[-2 * stride], sum);
    sum = adsm_fma(WAVE_C3, cell[3 * stride] + cell[-3 * stride], sum);
    return adsm_fma(WAVE_C4, cell[4 * stride] + cell[-4 * stride], sum);
}

/*
 * One cell of a volume, which may be one of those that are never written.
 *
 * before  in: pressure one step ago; out: pressure one step ahead
 * now     pressure
 * speed   sound speed of each cell, m/s
 * damping nx + ny + nz damping factors, one per plane of each axis
 * factor  (time step / cell size)^2, s^2/m^2
 */
static __device__ inline void
advance(float *__restrict__ before, const float *__restrict__ now,
        const float *__restrict__ speed, const float *__restrict__ damping,
        int nx, int ny, int nz, float factor, int x, int y, int z)
{
    if (x >= nx - WAVE_RADIUS || y >= ny - WAVE_RADIUS || z >= nz - WAVE_RADIUS)
        return;

    long row = nx, plane = row * ny;
    long at = z * plane + y * row + x;
    const float *cell = now + at;

    float laplace = 3.0f * WAVE_C0 * cell[0];
    laplace = pairs(cell, 1, laplace);
    laplace = pairs(cell, row, laplace);
    laplace = pairs(cell, plane, laplace);

    float courant = speed[at] * speed[at] * factor;
    float loss = damping[x] + damping[nx + y] + damping[nx + ny + z];
    float ahead = adsm_fma(1.0f - loss, cell[0] - before[at], cell[0]);
    before[at] = adsm_fma(courant, laplace, ahead);
}

/* The whole volume. */
extern "C" __global__ void wave_step(float *__restrict__ before,
                                     const float *__restrict__ now,
                                     const float *__restrict__ speed,
                                     const float *__restrict__ damping, int nx,
                                     int ny, int nz, float factor)
{
    advance(before, now, speed, damping, nx, ny, nz, factor,
            adsm_thread_x() + WAVE_RADIUS, adsm_thread_y() + WAVE_RADIUS,
            adsm_thread_z() + WAVE_RADIUS);
}

/* The part of it that a device has; indices are those of the whole volume. */
extern "C" __global__ void
wave_part(long z0, long z1, long y0, long y1, long x0, long x1,
          float *__restrict__ before, const float *__restrict__ now,
          const float *__restrict__ speed, const float *__restrict__ damping,
          int nx, int ny, int nz, float factor)
{
    long z = z0 + adsm_thread_z(), y = y0 + adsm_thread_y();
    long x = x0 + adsm_thread_x();
    if (x < x1 && y < y1 && z < z1)
        advance(before, now, speed, damping, nx, ny, nz, factor, (int)x, (int)y,
                (int)z);
}

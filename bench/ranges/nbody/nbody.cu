/*
 * One time step of bodies that attract each other, one thread per body: every
 * body is read, one is written. Square root and division are the exactly
 * rounded ones; nbody.c repeats the sums and expects the same bits.
 */
#include "adsm_device.h"
#include "nbody_kernel.h"

/*
 * all  the bodies before the step; out  the part's own bodies after it
 */
extern "C" __global__ void nbody_step(long i0, long i1,
                                      const struct nbody_body *__restrict__ all,
                                      struct nbody_body *__restrict__ out,
                                      long n, float dt)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    struct nbody_body me = all[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (long k = 0; k < n; k++) {
        float dx = all[k].x - me.x, dy = all[k].y - me.y, dz = all[k].z - me.z;
        float square = dx * dx + dy * dy + dz * dz + NBODY_SOFTENING;
        float pull = all[k].mass / (square * adsm_sqrt(square));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    me.vx += dt * ax;
    me.vy += dt * ay;
    me.vz += dt * az;
    me.x += dt * me.vx;
    me.y += dt * me.vy;
    me.z += dt * me.vz;
    out[i] = me;
}

ADSM_CPU_KERNEL(nbody_step)

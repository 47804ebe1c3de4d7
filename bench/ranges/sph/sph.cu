/*
 * One time step of a fluid made of drops, in three calls, one thread per drop:
 * density around it, what pushes it, where it goes. Square root and division
 * are the exactly rounded ones; sph.c repeats the sums and expects the same
 * bits.
 */
#include "adsm_device.h"
#include "sph_kernel.h"

/*
 * drops  all of them; states  of the part's own
 */
extern "C" __global__ void
sph_density(long i0, long i1, const struct sph_drop *__restrict__ drops,
            struct sph_state *__restrict__ states, long n, struct sph_law law)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    float x = drops[i].x, y = drops[i].y, sum = 0.0f;
    for (long k = 0; k < n; k++) {
        float dx = drops[k].x - x, dy = drops[k].y - y;
        float left = law.reach * law.reach - (dx * dx + dy * dy);
        if (left > 0.0f)
            sum += left * left * left;
    }
    struct sph_state state;
    state.density = law.weigh * sum;
    float over = state.density - law.rest;
    state.pressure = over > 0.0f ? law.stiffness * over : 0.0f;
    states[i] = state;
}

/*
 * drops, states  all of them; pushes  of the part's own
 */
extern "C" __global__ void
sph_force(long i0, long i1, const struct sph_drop *__restrict__ drops,
          const struct sph_state *__restrict__ states,
          struct sph_push *__restrict__ pushes, long n, struct sph_law law)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    struct sph_drop me = drops[i];
    struct sph_state mine = states[i];
    float ax = 0.0f, ay = 0.0f;
    for (long k = 0; k < n; k++) {
        float dx = drops[k].x - me.x, dy = drops[k].y - me.y;
        float square = dx * dx + dy * dy;
        if (!(square < law.reach * law.reach && square > 0.0f))
            continue;
        float distance = adsm_sqrt(square);
        float left = law.reach - distance;
        float between = mine.pressure + states[k].pressure;
        float away = -law.squeeze * between * left * left /
                     (2.0f * states[k].density * distance);
        float along = law.drag * left / states[k].density;
        ax += away * dx + along * (drops[k].vx - me.vx);
        ay += away * dy + along * (drops[k].vy - me.vy);
    }
    struct sph_push push;
    push.ax = ax / mine.density;
    push.ay = ay / mine.density + law.gravity;
    pushes[i] = push;
}

/* A coordinate that has left [0, size] comes back to the wall, its speed is
 * turned. */
static __device__ inline void wall(float *place, float *speed, float size,
                                   float bounce)
{
    if (*place < 0.0f || *place > size) {
        *place = *place < 0.0f ? 0.0f : size;
        *speed *= -bounce;
    }
}

extern "C" __global__ void sph_move(long i0, long i1, struct sph_drop *drops,
                                    const struct sph_push *pushes,
                                    struct sph_law law)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    struct sph_drop me = drops[i];
    me.vx += law.dt * pushes[i].ax;
    me.vy += law.dt * pushes[i].ay;
    me.x += law.dt * me.vx;
    me.y += law.dt * me.vy;
    wall(&me.x, &me.vx, law.width, law.bounce);
    wall(&me.y, &me.vy, law.height, law.bounce);
    drops[i] = me;
}

ADSM_CPU_KERNEL(sph_density)
ADSM_CPU_KERNEL(sph_force)
ADSM_CPU_KERNEL(sph_move)

/*
 * The kernels of eight ways of using arrays from both sides. What they compute
 * says nothing; what they read and write does.
 *
 * Largest changes are found by maximum, which is the same in any order, so that
 * every device and every way gives the same bits.
 */
#include "adsm_device.h"

#include "shape.h"

extern "C" __global__ void scale_add(const float *a, const float *b, float *c,
                                     long n)
{
    long i = adsm_thread_x();
    if (i < n)
        c[i] = adsm_fma(2.0f, a[i], b[i]);
}

extern "C" __global__ void mix(const unsigned *from, unsigned *to, long n)
{
    long i = adsm_thread_x();
    if (i < n)
        to[i] = from[i] * 2654435761u + 12345u;
}

extern "C" __global__ void fill(unsigned *to, long n, unsigned seed)
{
    long i = adsm_thread_x();
    if (i < n)
        to[i] = ((unsigned)i ^ seed) * 2654435761u;
}

/* The mean of a cell's four neighbours; cells at the edge stay. */
static __device__ inline float relaxed(const float *from, int n, int y, int x)
{
    const float *cell = from + (long)y * n + x;
    if (y == 0 || x == 0 || y == n - 1 || x == n - 1)
        return *cell;
    return 0.25f * (cell[-1] + cell[1] + cell[-n] + cell[n]);
}

/* One row of blocks for each row of n cells. */
extern "C" __global__ void smooth(const float *from, float *to, int n)
{
    int x = (int)adsm_thread_x(), y = (int)blockIdx.y;
    if (x < n)
        to[(long)y * n + x] = relaxed(from, n, y, x);
}

static __device__ inline unsigned bits_of(float x)
{
    unsigned bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

static __device__ inline void atomic_max(unsigned *at, unsigned value)
{
    asm volatile("red.max.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

/*
 * The same, one row of blocks for SWEEP_ROWS rows, of which n is a multiple.
 * largest[turn] gets the bits of the largest change, the other one of the two is
 * cleared for the next sweep.
 */
extern "C" __global__ void sweep(const float *from, float *to, int n,
                                 unsigned *largest, int turn)
{
    __shared__ unsigned most[BLOCK];
    int x = (int)adsm_thread_x(), first = (int)blockIdx.y * SWEEP_ROWS;
    unsigned mine = 0;
    if (x == 0 && first == 0)
        largest[1 - turn] = 0;
    for (int y = first; y < first + SWEEP_ROWS && x < n; y++) {
        long at = (long)y * n + x;
        float next = relaxed(from, n, y, x), change = next - from[at];
        unsigned bits = bits_of(change < 0 ? -change : change);
        mine = bits > mine ? bits : mine;
        to[at] = next;
    }
    most[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half && most[threadIdx.x + half] > most[threadIdx.x])
            most[threadIdx.x] = most[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomic_max(&largest[turn], most[0]);
}

/* Where each of n walkers is after WALK_HOPS hops from entry to entry. */
extern "C" __global__ void walk(const unsigned *next, unsigned *result,
                                long walkers, long stride)
{
    long i = adsm_thread_x();
    if (i >= walkers)
        return;
    unsigned at = (unsigned)(i * stride);
    for (int k = 0; k < WALK_HOPS; k++)
        at = next[at];
    result[i] = at;
}

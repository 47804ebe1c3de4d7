/*
 * Histogram of the distances between the points of two sets on the sky, or
 * among those of one. One thread per point of the first set; a block brings
 * the second set into its shared memory a tile at a time and counts there.
 */
#include "adsm_device.h"
#include "tpacf_kernel.h"

/* Which counter: the number of edges that are not above the square. */
static __device__ inline int bin_of(const float *edge, int edges, float square)
{
    int low = 0, high = edges;
    while (low < high) {
        int middle = (low + high) / 2;
        if (square < edge[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/*
 * histogram  edges + 1 counters, added to
 * points     all sets, `count` points of TPACF_NUMBERS numbers in each
 * first, second  sets; when they are the same each pair counts once
 * edge       squares of chords, rising
 */
extern "C" __global__ void tpacf_count(unsigned *__restrict__ histogram,
                                       const float *__restrict__ points,
                                       const float *__restrict__ edge,
                                       int count, int first, int second,
                                       int edges)
{
    static __shared__ float tile[TPACF_NUMBERS * TPACF_THREADS];
    static __shared__ float edge_here[TPACF_EDGES_MAX];
    static __shared__ unsigned counter[TPACF_EDGES_MAX + 1];
    int thread = (int)threadIdx.x;
    long i = adsm_thread_x();
    const float *from = points + (long)first * count * TPACF_NUMBERS;
    const float *to = points + (long)second * count * TPACF_NUMBERS;
    const float *mine = from + (i < count ? i : 0) * TPACF_NUMBERS;
    float x = mine[0], y = mine[1], z = mine[2];
    if (thread < edges)
        edge_here[thread] = edge[thread];
    if (thread <= edges)
        counter[thread] = 0;

    for (int start = 0; start < count; start += TPACF_THREADS) {
        int here =
            count - start < TPACF_THREADS ? count - start : TPACF_THREADS;
        if (thread < here)
            for (int k = 0; k < TPACF_NUMBERS; k++)
                tile[TPACF_NUMBERS * thread + k] =
                    to[TPACF_NUMBERS * (start + thread) + k];
        __syncthreads();
        int j = first == second && i >= start ? i - start + 1 : 0;
        for (; i < count && j < here; j++) {
            const float *other = tile + TPACF_NUMBERS * j;
            float dx = x - other[0], dy = y - other[1], dz = z - other[2];
            float square = adsm_fma(dx, dx, adsm_fma(dy, dy, dz * dz));
            adsm_atomic_add(&counter[bin_of(edge_here, edges, square)], 1);
        }
        __syncthreads();
    }
    if (thread <= edges && counter[thread] > 0)
        adsm_atomic_add(&histogram[thread], counter[thread]);
}

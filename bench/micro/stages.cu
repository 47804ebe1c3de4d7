/*
 * Kernels of bench_pipeline.c: the skeletons of the thesis it follows. What they
 * compute is little, for kernels are paced there.
 *
 * Built into stages.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

typedef unsigned word;

extern "C" __global__ void map(long i0, long i1, const word *x, word *y)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] = 2 * x[i];
}

extern "C" __global__ void nevmap(long i0, long i1, const word *a,
                                  const word *b, word *y)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] = a[i] + 2 * b[i];
}

extern "C" __global__ void maparray(long i0, long i1, const word *x, word *y,
                                    const word *table)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] = x[i] + table[x[i] % 192];
}

extern "C" __global__ void accumulate(long i0, long i1, const word *x, word *y)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        y[i] += x[i];
}

ADSM_MAP_REDUCE(mapreduce, word, sum_u32, (const word *a, const word *b),
                a[i] * b[i])

/*
 * One step of Floyd and Warshall: from everywhere to everywhere by way of place
 * k, where that is shorter. One thread per pair; floyd.c repeats it.
 */
#include "adsm_device.h"

/*
 * path  the part's rows of n; row  row k, from before or after the step, which
 * does not change it
 */
extern "C" __global__ void floyd_step(long i0, long i1, long j0, long j1,
                                      int *path, const int *row, long n, long k)
{
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x();
    if (i >= i1 || j >= j1)
        return;
    int by = path[i * n + k] + row[k * n + j];
    if (by < path[i * n + j])
        path[i * n + j] = by;
}

ADSM_CPU_KERNEL(floyd_step)

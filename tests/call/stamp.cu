/*
 * Kernels that take as long as they are told, and say when they ran, by the
 * devices' clock: on the software device that of the host, CLOCK_MONOTONIC, so
 * that times of different devices can be compared.
 *
 * Built into stamp.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

static __device__ long now()
{
    long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* began[i] and ended[i] are `ns` apart, at least; what[i] is read. */
extern "C" __global__ void stamp(long i0, long i1, const long *what,
                                 long *began, long *ended, long ns)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1 || what[i] < 0)
        return;
    long begin = now(), end;
    do
        end = now();
    while (end - begin < ns);
    began[i] = begin;
    ended[i] = end;
}

/* out[i] = x[i], read and written when it is `until`, or later. */
extern "C" __global__ void late(long i0, long i1, const int *x, int *out,
                                long until)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    while (now() < until)
        ;
    out[i] = x[i];
}

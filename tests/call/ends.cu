/*
 * A kernel that ends badly, and one over very many indices.
 *
 * Built into ends.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

static __device__ inline long nanoseconds()
{
    long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* y[i] = x[i] + 1; index `at` is a trap, late enough for the host to have gone on
 * with what it does behind the call. */
extern "C" __global__ void trap_at(long i0, long i1, const int *x, int *y,
                                   long at)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    y[i] = x[i] + 1;
    if (i != at)
        return;
    for (long begin = nanoseconds(); nanoseconds() - begin < 200000000;)
        ;
    asm volatile("trap;");
}

/* What indices from `from` on are: out[i - from] = i. */
extern "C" __global__ void far_from(long i0, long i1, long from, long *out)
{
    long i = i0 + adsm_thread_x();
    if (i >= from && i < i1)
        out[i - from] = i;
}

/*
 * How often each number was thrown: every thread counts one throw.
 *
 * Built into dice.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

extern "C" __global__ void count(long i0, long i1, const unsigned char *throws,
                                 unsigned *times)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        adsm_atomic_add(&times[throws[i]], 1);
}

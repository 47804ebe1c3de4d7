/*
 * A radix sort's two kernels: how often each digit is in a chunk of keys, and
 * where each key goes when the counts have been added up.
 */
#include "adsm_device.h"

enum { BITS = 4, DIGITS = 1 << BITS, CHUNK = 64 };

/* A thread for each chunk; counts by digit, then by chunk. */
extern "C" __global__ void count(long i0, long i1, const unsigned *key,
                                 adsm_view2<int> counts, int shift)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    int times[DIGITS] = {};
    for (int k = 0; k < CHUNK; k++)
        times[key[i * CHUNK + k] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++)
        counts(d, i) = times[d];
}

extern "C" __global__ void scatter(long i0, long i1, const unsigned *key,
                                   const int *place, unsigned *sorted,
                                   int shift, int chunks)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    int next[DIGITS];
    for (int d = 0; d < DIGITS; d++)
        next[d] = place[d * (long)chunks + i];
    for (int k = 0; k < CHUNK; k++) {
        unsigned here = key[i * CHUNK + k];
        sorted[next[here >> shift & (DIGITS - 1)]++] = here;
    }
}

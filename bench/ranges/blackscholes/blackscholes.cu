/*
 * What options are worth, one thread each. blackscholes.c repeats it by the same
 * polynomials and expects the same bits.
 */
#include "adsm_device.h"
#define ADSM_DEVICE
#include "blackscholes_kernel.h"

/*
 * share, strike, years  of the part's options; call, put  what they are worth
 */
extern "C" __global__ void
blackscholes(long i0, long i1, const float *__restrict__ share,
             const float *__restrict__ strike, const float *__restrict__ years,
             float *__restrict__ call, float *__restrict__ put,
             struct price_market market)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        price_option(share[i], strike[i], years[i], market, &call[i], &put[i]);
}

ADSM_CPU_KERNEL(blackscholes)

/*
 * What an option is worth (Black and Scholes), for the kernel and for the CPU.
 * Plain C: device code includes this.
 *
 * Logarithm, exponential and normal distribution are polynomials, whose products
 * and sums are fused where PRICE_FMA says so and nowhere else, so every device
 * and the CPU compute the same bits. Build with -ffp-contract=off.
 */
#ifndef BENCH_RANGES_BLACKSCHOLES_KERNEL_H
#define BENCH_RANGES_BLACKSCHOLES_KERNEL_H

#ifdef ADSM_DEVICE
#define PRICE_FN   static __device__ inline
#define PRICE_FMA  adsm_fma
#define PRICE_SQRT adsm_sqrt
#define PRICE_NEAR adsm_nearest
#else
#include <math.h>
#define PRICE_FN   static inline
#define PRICE_FMA  fmaf
#define PRICE_SQRT sqrtf
#define PRICE_NEAR rintf
#endif

/* Of a year. */
struct price_market {
    float rate, volatility;
};

union price_bits {
    float value;
    int bits;
};

/** Natural logarithm of a normal number, to 1e-7 of it or of 1. */
PRICE_FN float price_log(float x)
{
    union price_bits part = {x};
    /* x = 2^e * (1 + f), f from sqrt(1/2) - 1 to sqrt(2) - 1 */
    int shift = (part.bits - 0x3f3504f3) >> 23;
    part.bits -= shift * (1 << 23);
    float e = (float)shift, f = part.value - 1.0f, z = f * f;
    float y = PRICE_FMA(7.0376836292e-2f, f, -1.1514610310e-1f);
    y = PRICE_FMA(y, f, 1.1676998740e-1f);
    y = PRICE_FMA(y, f, -1.2420140846e-1f);
    y = PRICE_FMA(y, f, 1.4249322787e-1f);
    y = PRICE_FMA(y, f, -1.6668057665e-1f);
    y = PRICE_FMA(y, f, 2.0000714765e-1f);
    y = PRICE_FMA(y, f, -2.4999993993e-1f);
    y = PRICE_FMA(y, f, 3.3333331174e-1f);
    y = PRICE_FMA(y * f, z, -2.12194440e-4f * e);
    y = PRICE_FMA(-0.5f, z, y);
    return PRICE_FMA(0.693359375f, e, f + y);
}

/** e to the power of x, at most 0; 0 below -80. */
PRICE_FN float price_exp(float x)
{
    if (x < -80.0f)
        return 0.0f;
    float e = PRICE_NEAR(1.44269504f * x);
    float f = PRICE_FMA(-0.693359375f, e, x);
    f = PRICE_FMA(2.12194440e-4f, e, f);
    float y = PRICE_FMA(1.9875691500e-4f, f, 1.3981999507e-3f);
    y = PRICE_FMA(y, f, 8.3334519073e-3f);
    y = PRICE_FMA(y, f, 4.1665795894e-2f);
    y = PRICE_FMA(y, f, 1.6666665459e-1f);
    y = PRICE_FMA(y, f, 5.0000001201e-1f);
    y = PRICE_FMA(y, f * f, f) + 1.0f;
    union price_bits power;
    power.bits = ((int)e + 127) << 23;
    return y * power.value;
}

/** Normal distribution, to 1e-7 (Abramowitz and Stegun, 26.2.17). */
PRICE_FN float price_normal(float d)
{
    float side = d < 0.0f ? -d : d;
    float k = 1.0f / PRICE_FMA(0.2316419f, side, 1.0f);
    float y = PRICE_FMA(1.330274429f, k, -1.821255978f);
    y = PRICE_FMA(y, k, 1.781477937f);
    y = PRICE_FMA(y, k, -0.356563782f);
    y = PRICE_FMA(y, k, 0.31938153f);
    y = 0.39894228f * price_exp(-0.5f * side * side) * (y * k);
    return d < 0.0f ? y : 1.0f - y;
}

/**
 * European options on a share that pays nothing.
 *
 * @share   its price now; @strike  the option's; @years  until then
 * @call @put  receive what the right to buy and the right to sell are worth
 */
PRICE_FN void price_option(float share, float strike, float years,
                           struct price_market market, float *call, float *put)
{
    float width = market.volatility * PRICE_SQRT(years);
    float drift =
        PRICE_FMA(0.5f * market.volatility, market.volatility, market.rate);
    float d1 = PRICE_FMA(drift, years, price_log(share / strike)) / width;
    float in = price_normal(d1), out = price_normal(d1 - width);
    float later = strike * price_exp(-market.rate * years);
    *call = PRICE_FMA(share, in, -(later * out));
    *put = PRICE_FMA(later, 1.0f - out, -(share * (1.0f - in)));
}

#endif

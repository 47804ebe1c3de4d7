/*
 * Option prices: logarithm, exponential, square root and division in single
 * precision against erfc in double precision.
 */
#include "program.h"

const float rate = 0.02f, volatility = 0.30f;

__device__ float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail =
        0.39894228040f * expf(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f +
                                 k * (1.781477937f + k * (-1.821255978f +
                                                          k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

__global__ void price(const float *spot, const float *strike,
                      const float *years, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float root = sqrtf(years[i]);
    float d1 = (logf(spot[i] / strike[i]) +
                (rate + 0.5f * volatility * volatility) * years[i]) /
               (volatility * root);
    float d2 = d1 - volatility * root;
    float worth = strike[i] * expf(-rate * years[i]);
    float call = spot[i] * normal_cdf(d1) - worth * normal_cdf(d2);
    out[i] = make_float2(call, worth * (1 - normal_cdf(d2)) -
                                   spot[i] * (1 - normal_cdf(d1)));
}

static double exact_cdf(double d)
{
    return 0.5 * std::erfc(-d / std::sqrt(2.0));
}

int main()
{
    const int n = 10000;
    std::vector<float> spot(n), strike(n), years(n);
    Random random(19);
    for (int i = 0; i < n; i++) {
        spot[i] = 5 + 25 * random.unit();
        strike[i] = 1 + 99 * random.unit();
        years[i] = 0.25f + 9.75f * random.unit();
    }
    float *device_spot = to_device(spot), *device_strike = to_device(strike);
    float *device_years = to_device(years);
    float2 *out = new_on_device<float2>(n);
    price<<<(n + 255) / 256, 256>>>(device_spot, device_strike, device_years,
                                    out, n);
    std::vector<float2> got = to_host(out, n);
    double calls = 0, puts = 0;
    for (int i = 0; i < n; i++) {
        double t = years[i], s = spot[i], x = strike[i], v = volatility;
        double d1 =
            (std::log(s / x) + (rate + 0.5 * v * v) * t) / (v * std::sqrt(t));
        double d2 = d1 - v * std::sqrt(t), worth = x * std::exp(-rate * t);
        double call = s * exact_cdf(d1) - worth * exact_cdf(d2);
        double put = call + worth - s;
        EXPECT(is_near(got[i].x, call, 2e-5), "call %d: %g, not %g", i,
               got[i].x, call);
        EXPECT(is_near(got[i].y, put, 2e-5), "put %d: %g, not %g", i, got[i].y,
               put);
        calls += got[i].x;
        puts += got[i].y;
    }
    CHECK(cudaFree(device_spot));
    CHECK(cudaFree(device_strike));
    CHECK(cudaFree(device_years));
    CHECK(cudaFree(out));
    return pass("black_scholes", "n %d calls %.2f puts %.2f", n, calls, puts);
}

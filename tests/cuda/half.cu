/*
 * Half precision: conversions in every rounding, arithmetic alone and in
 * pairs, comparisons and special values, against single and double precision
 * rounded on the CPU by hand.
 */
#include "program.h"

#include <algorithm>

#include <cuda_fp16.h>

enum { KINDS = 12 };

__global__ void compute(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half x = __float2half_rn(a[i]), y = __float2half_rn(b[i]);
    __half2 pair = __halves2half2(x, y);
    __half2 swapped = __lowhigh2highlow(pair);
    float *mine = out + i * KINDS;
    mine[0] = __half2float(x);
    mine[1] = __half2float(__hadd(x, y));
    mine[2] = __half2float(x * y);
    mine[3] = __half2float(__hsub(x, y));
    mine[4] = __half2float(__hfma(x, y, x));
    mine[5] = __high2float(__hadd2(pair, swapped));
    mine[6] = __low2float(__hmul2(pair, swapped));
    mine[7] = __hlt(x, y) + 2 * __heq(x, x) + 4 * __hgt(x, __hneg(y));
    mine[8] = __half2float(__hmax(x, y));
    mine[9] = __half2float(__float2half_rz(a[i]));
    mine[10] = __half2float(__float2half_ru(a[i]));
    mine[11] = (float)__half2int_rn(__habs(y));
}

/* A double to the halves around it: towards -1 down, 0 nearest, 1 up. */
static double rounded(double value, int way)
{
    if (value == 0 || std::isinf(value) || std::isnan(value))
        return value;
    int exponent = std::ilogb(value);
    double unit = std::ldexp(1.0, std::max(exponent, -14) - 10);
    double scaled = value / unit, result;
    result = way == 0   ? std::nearbyint(scaled)
             : way == 1 ? std::ceil(scaled)
                        : std::trunc(scaled);
    result *= unit;
    if (std::fabs(result) < 65520 && std::fabs(result) <= 65504)
        return result;
    if (way == 0 || (way == 1 && result > 0))
        return std::copysign(INFINITY, result);
    return std::copysign(65504, result);
}

int main()
{
    const int n = 3000;
    std::vector<float> a(n), b(n);
    Random random(32);
    for (int i = 0; i < n; i++) {
        a[i] = std::ldexp(random.unit() * 2 - 1, random.below(34) - 20);
        b[i] = std::ldexp(random.unit() * 2 - 1, random.below(12) - 2);
    }
    const float special[] = {0,        -0.0f,    65504,   65519.9f,
                             65520,    1e30f,    -1e30f,  INFINITY,
                             5.96e-8f, 2.98e-8f, 6.1e-5f, -1};
    for (int i = 0; i < 12; i++)
        a[i * 3] = special[i];
    float *device_a = to_device(a), *device_b = to_device(b);
    float *out = new_on_device<float>(n * KINDS);
    compute<<<(n + 127) / 128, 128>>>(device_a, device_b, out, n);
    std::vector<float> got = to_host(out, n * KINDS);
    for (int i = 0; i < n; i++) {
        double x = rounded(a[i], 0), y = rounded(b[i], 0);
        double want[KINDS] = {
            x,
            rounded(x + y, 0),
            rounded(x * y, 0),
            rounded(x - y, 0),
            rounded(std::fma(x, y, x), 0),
            rounded(x + y, 0),
            rounded(x * y, 0),
            (x < y) + 2.0 + 4 * (x > -y),
            std::fmax(x, y),
            rounded(a[i], -1),
            rounded(a[i], 1),
            std::nearbyint(std::fabs(y)),
        };
        for (int k = 0; k < KINDS; k++)
            EXPECT(got[i * KINDS + k] == want[k] ||
                       (std::isnan(want[k]) && std::isnan(got[i * KINDS + k])),
                   "%g %g kind %d: %g, not %g", a[i], b[i], k,
                   got[i * KINDS + k], want[k]);
    }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(out));
    return pass("half", "digest %016llx", (unsigned long long)digest(got));
}

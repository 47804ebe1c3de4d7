/*
 * bfloat16: conversions, arithmetic alone and in pairs, a dot product that
 * accumulates in single precision.
 */
#include "program.h"

#include <cuda_bf16.h>

enum { KINDS = 6 };

__global__ void compute(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16(b[i]);
    __nv_bfloat162 pair = __halves2bfloat162(x, y);
    float *mine = out + i * KINDS;
    mine[0] = __bfloat162float(x);
    mine[1] = __bfloat162float(__hadd(x, y));
    mine[2] = __bfloat162float(__hmul(x, y));
    mine[3] = __bfloat162float(__hfma(x, y, y));
    mine[4] = __high2float(__hadd2(pair, pair));
    mine[5] = __bfloat162float(__hmin(x, y)) + 2 * __hge(x, y);
}

__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *out,
                    int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum = fmaf(__bfloat162float(a[i]), __bfloat162float(b[i]), sum);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0)
        *out = sum;
}

static float rounded(double value)
{
    /* Nearest even on 8 bits of significand; no overflow in these data. */
    if (value == 0)
        return 0;
    double unit = std::ldexp(1.0, std::ilogb(value) - 7);
    return (float)(std::nearbyint(value / unit) * unit);
}

int main()
{
    const int n = 2500;
    std::vector<float> a(n), b(n);
    std::vector<__nv_bfloat16> small_a(n), small_b(n);
    Random random(33);
    double want_dot = 0;
    for (int i = 0; i < n; i++) {
        a[i] = std::ldexp(random.unit() * 2 - 1, random.below(60) - 30);
        b[i] = std::ldexp(random.unit() * 2 - 1, random.below(60) - 30);
        small_a[i] = __float2bfloat16(random.below(16) - 8);
        small_b[i] = __float2bfloat16(random.below(16) - 8);
        want_dot +=
            (double)__bfloat162float(small_a[i]) * __bfloat162float(small_b[i]);
    }
    float *device_a = to_device(a), *device_b = to_device(b);
    float *out = new_on_device<float>(n * KINDS);
    compute<<<(n + 127) / 128, 128>>>(device_a, device_b, out, n);
    std::vector<float> got = to_host(out, n * KINDS);
    for (int i = 0; i < n; i++) {
        double x = rounded(a[i]), y = rounded(b[i]);
        float want[KINDS] = {
            (float)x,       rounded(x + y),
            rounded(x * y), rounded(std::fma(x, y, y)),
            rounded(y + y), (float)std::fmin(x, y) + 2 * (x >= y)};
        for (int k = 0; k < KINDS; k++)
            EXPECT(got[i * KINDS + k] == want[k], "%g %g kind %d: %g, not %g",
                   a[i], b[i], k, got[i * KINDS + k], want[k]);
    }
    __nv_bfloat16 *many_a = to_device(small_a), *many_b = to_device(small_b);
    dot<<<1, 32>>>(many_a, many_b, out, n);
    float sum = to_host(out, 1)[0];
    EXPECT(sum == want_dot, "dot %g, not %g", sum, want_dot);
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(out));
    CHECK(cudaFree(many_a));
    CHECK(cudaFree(many_b));
    return pass("bfloat16", "dot %g digest %016llx", sum,
                (unsigned long long)digest(got));
}

/*
 * Loads and stores that say how they are cached, and vectors of them; the
 * values have to be those of plain ones.
 */
#include "program.h"

__global__ void load(const int *__restrict__ in,
                     const float4 *__restrict__ wide, const double2 *pairs,
                     const char4 *bytes, int *out, float4 *wide_out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = __ldg(&in[i]) + __ldca(&in[(i + 1) % n]) * 2 +
              __ldcg(&in[(i + 2) % n]) * 3 + __ldcs(&in[(i + 3) % n]) * 4 +
              __ldlu(&in[(i + 4) % n]) * 5 + __ldcv(&in[(i + 5) % n]) * 6;
    float4 a = __ldg(&wide[i]), b = __ldcs(&wide[n - 1 - i]);
    double2 pair = __ldg(&pairs[i]);
    char4 few = __ldg(&bytes[i]);
    sum += (int)pair.x - (int)pair.y + few.x * few.w - few.y + few.z;
    float4 c = make_float4(a.x + b.w, a.y - b.z, a.z * b.y, a.w + b.x);
    switch (i % 4) {
    case 0:
        __stwb(&wide_out[i], c);
        __stwb(&out[i], sum);
        break;
    case 1:
        __stcg(&wide_out[i], c);
        __stcg(&out[i], sum);
        break;
    case 2:
        __stcs(&wide_out[i], c);
        __stcs(&out[i], sum);
        break;
    default:
        __stwt(&wide_out[i], c);
        __stwt(&out[i], sum);
    }
}

int main()
{
    const int n = 2000;
    std::vector<int> in(n);
    std::vector<float4> wide(n);
    std::vector<double2> pairs(n);
    std::vector<char4> bytes(n);
    Random random(31);
    for (int i = 0; i < n; i++) {
        in[i] = random.below(10000);
        wide[i] = make_float4(i, random.below(99), random.below(99), -i);
        pairs[i] = make_double2(random.below(1000) + 0.5, i);
        bytes[i] = make_char4(random.below(256), random.below(256), -i, i % 7);
    }
    int *device_in = to_device(in), *out = new_on_device<int>(n);
    float4 *device_wide = to_device(wide), *wide_out = new_on_device<float4>(n);
    double2 *device_pairs = to_device(pairs);
    char4 *device_bytes = to_device(bytes);
    load<<<(n + 95) / 96, 96>>>(device_in, device_wide, device_pairs,
                                device_bytes, out, wide_out, n);
    std::vector<int> got = to_host(out, n);
    std::vector<float4> vectors = to_host(wide_out, n);
    for (int i = 0; i < n; i++) {
        int want = (int)pairs[i].x - (int)pairs[i].y + bytes[i].x * bytes[i].w -
                   bytes[i].y + bytes[i].z;
        for (int k = 0; k < 6; k++)
            want += in[(i + k) % n] * (k + 1);
        const float4 &a = wide[i], &b = wide[n - 1 - i], &c = vectors[i];
        EXPECT(got[i] == want, "at %d: %d, not %d", i, got[i], want);
        EXPECT(c.x == a.x + b.w && c.y == a.y - b.z && c.z == a.z * b.y &&
                   c.w == a.w + b.x,
               "vector %d: %g %g %g %g", i, c.x, c.y, c.z, c.w);
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(device_wide));
    CHECK(cudaFree(wide_out));
    CHECK(cudaFree(device_pairs));
    CHECK(cudaFree(device_bytes));
    return pass("cached_loads", "digest %016llx %016llx",
                (unsigned long long)digest(got),
                (unsigned long long)digest(vectors));
}

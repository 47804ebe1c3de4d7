/*
 * Bitonic sort of key and value: short strides in shared memory, long ones
 * one launch each.
 */
#include "program.h"

#include <algorithm>

enum { THREADS = 256, CHUNK = 2 * THREADS };

__device__ void order(unsigned &ka, unsigned &va, unsigned &kb, unsigned &vb,
                      bool up)
{
    if ((ka > kb) == up) {
        unsigned k = ka, v = va;
        ka = kb, va = vb;
        kb = k, vb = v;
    }
}

__global__ void step(unsigned *keys, unsigned *values, int size, int stride)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = 2 * t - (t & (stride - 1));
    bool up = (i & size) == 0;
    order(keys[i], values[i], keys[i + stride], values[i + stride], up);
}

/* All strides below CHUNK: of sizes up to CHUNK, or of one bigger size. */
__global__ void steps(unsigned *keys, unsigned *values, int first, int last)
{
    __shared__ unsigned k[CHUNK], v[CHUNK];
    int base = blockIdx.x * CHUNK, t = threadIdx.x;
    for (int i = t; i < CHUNK; i += THREADS) {
        k[i] = keys[base + i];
        v[i] = values[base + i];
    }
    for (int size = first; size <= last; size *= 2) {
        bool up = ((base + 2 * t) & size) == 0;
        for (int stride = min(size, CHUNK) / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (stride - 1));
            order(k[i], v[i], k[i + stride], v[i + stride], up);
        }
    }
    __syncthreads();
    for (int i = t; i < CHUNK; i += THREADS) {
        keys[base + i] = k[i];
        values[base + i] = v[i];
    }
}

int main()
{
    const int n = 1 << 14;
    std::vector<unsigned> keys(n), values(n);
    Random random(16);
    for (int i = 0; i < n; i++) {
        keys[i] = random.bits();
        values[i] = keys[i] ^ 0x5a5a5a5a;
    }
    unsigned *device_keys = to_device(keys), *device_values = to_device(values);
    steps<<<n / CHUNK, THREADS>>>(device_keys, device_values, 2, CHUNK);
    for (int size = 2 * CHUNK; size <= n; size *= 2) {
        for (int stride = size / 2; stride >= CHUNK; stride /= 2)
            step<<<n / CHUNK, THREADS>>>(device_keys, device_values, size,
                                         stride);
        steps<<<n / CHUNK, THREADS>>>(device_keys, device_values, size, size);
    }
    std::vector<unsigned> got = to_host(device_keys, n);
    std::vector<unsigned> follow = to_host(device_values, n);
    std::sort(keys.begin(), keys.end());
    for (int i = 0; i < n; i++) {
        EXPECT(got[i] == keys[i], "keys[%d] = %x, not %x", i, got[i], keys[i]);
        EXPECT(follow[i] == (got[i] ^ 0x5a5a5a5a), "values[%d]", i);
    }
    CHECK(cudaFree(device_keys));
    CHECK(cudaFree(device_values));
    return pass("bitonic", "n %d digest %016llx", n,
                (unsigned long long)digest(got));
}

/*
 * Copies from global to shared memory that run beside the kernel: pipelines of
 * two stages, groups that are waited for one behind another, and the words of
 * cooperative groups for them.
 */
#include "program.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

enum { TILE = 128, TILES = 24 };

/* Sums of tiles, the next one fetched while this one is added. */
__global__ void piped(const int *in, int *out, int tiles)
{
    __shared__ __align__(16) int stage[2][TILE];
    int sum = 0, t = threadIdx.x;
    auto fetch = [&](int tile) {
        if (t < TILE / 4)
            __pipeline_memcpy_async(&stage[tile & 1][t * 4],
                                    &in[tile * TILE + t * 4], 16);
        __pipeline_commit();
    };
    fetch(0);
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles)
            fetch(tile + 1);
        __pipeline_wait_prior(tile + 1 < tiles ? 1 : 0);
        __syncthreads();
        sum += stage[tile & 1][(t + tile) % TILE];
        __syncthreads();
    }
    out[t] = sum;
}

/* Words of 4 and 8 bytes; of the last only a part, the rest is zeros. */
__global__ void small(const int *in, int *out)
{
    __shared__ __align__(16) int words[TILE * 2];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&words[t], &in[TILE - 1 - t], 4);
    if (t < TILE / 2)
        __pipeline_memcpy_async(&words[TILE + 2 * t], &in[2 * t], 8,
                                t == 5 ? 4 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = words[t];
    out[TILE + t] = words[TILE + t];
}

__global__ void grouped(const int *in, int *out, int n)
{
    __shared__ int part[1000];
    cg::thread_block block = cg::this_thread_block();
    const int *from = in + blockIdx.x * n;
    cg::memcpy_async(block, part, from, n * sizeof(int));
    cg::wait(block);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = part[n - 1 - i] * 2;
}

int main()
{
    std::vector<int> in(TILE * TILES);
    Random random(31);
    for (int &value : in)
        value = (int)random.below(100000);
    int *device = to_device(in), *out = new_on_device<int>(TILE * TILES);

    piped<<<1, TILE>>>(device, out, TILES);
    std::vector<int> sums = to_host(out, TILE);
    for (int t = 0; t < TILE; t++) {
        int want = 0;
        for (int tile = 0; tile < TILES; tile++)
            want += in[tile * TILE + (t + tile) % TILE];
        EXPECT(sums[t] == want, "sum %d: %d, not %d", t, sums[t], want);
    }
    small<<<1, TILE>>>(device, out);
    std::vector<int> words = to_host(out, 2 * TILE);
    for (int t = 0; t < TILE; t++) {
        EXPECT(words[t] == in[TILE - 1 - t], "4 bytes at %d", t);
        EXPECT(words[TILE + t] == (t == 11 ? 0 : in[t]), "8 bytes at %d: %d", t,
               words[TILE + t]);
    }
    const int n = 777, blocks = 3;
    CHECK(cudaMemset(out, 0, TILE * TILES * sizeof(int)));
    grouped<<<blocks, 96>>>(device, out, n);
    std::vector<int> turned = to_host(out, blocks * n);
    for (int i = 0; i < blocks * n; i++) {
        int want = in[i / n * n + n - 1 - i % n] * 2;
        EXPECT(turned[i] == want, "turned at %d: %d", i, turned[i]);
    }
    CHECK(cudaFree(device));
    CHECK(cudaFree(out));
    return pass("async_copies", "digest %016llx",
                (unsigned long long)digest(sums));
}

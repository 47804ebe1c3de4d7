/*
 * Barriers in shared memory: arriving in one place and waiting in another,
 * copies that arrive at one, pipelines over them, barriers of the first CUDA 11
 * kind, and groups of more than one warp, which keep theirs in the shared
 * memory of the system.
 */
#include "program.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier_primitives.h>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

enum { TILE = 256, TILES = 12 };

#pragma nv_diag_suppress static_var_with_dynamic_init

/* Sums of tiles; who has added its part arrives before it must wait. */
__global__ void arrived(const int *in, int *out)
{
    __shared__ int tile[TILE];
    __shared__ Barrier full, empty;
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&full, TILE);
        init(&empty, TILE);
    }
    block.sync();
    for (int i = 0; i < TILES; i++) {
        cuda::memcpy_async(block, tile, in + i * TILE, sizeof tile, full);
        full.arrive_and_wait();
        sum += tile[(t + i) % TILE];
        Barrier::arrival_token token = empty.arrive();
        sum = sum * 3 + i;
        empty.wait(std::move(token));
    }
    out[t] = sum;
}

/* Half of the threads leave after the first round and are expected no more. */
__global__ void dropped(int *out)
{
    __shared__ int words[TILE];
    __shared__ Barrier barrier;
    int t = threadIdx.x;
    if (t == 0)
        init(&barrier, TILE);
    __syncthreads();
    words[t] = t * 5;
    barrier.arrive_and_wait();
    int value = words[TILE - 1 - t];
    if (t % 2) {
        out[t] = value;
        barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    words[t] = value;
    barrier.arrive_and_wait();
    out[t] = words[(t + 2) % TILE];
}

__global__ void primitive(int *out)
{
    __shared__ int words[TILE];
    __shared__ __mbarrier_t barrier;
    int t = threadIdx.x;
    if (t == 0)
        __mbarrier_init(&barrier, TILE);
    __syncthreads();
    words[t] = t * 7;
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[t] = words[TILE - 1 - t];
    __syncthreads();
    if (t == 0)
        __mbarrier_inval(&barrier);
}

__global__ void piped(const int *in, int *out)
{
    __shared__ int stage[2][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;
    auto fetch = [&](int i) {
        pipeline.producer_acquire();
        cuda::memcpy_async(block, stage[i % 2], in + i * TILE, sizeof stage[0],
                           pipeline);
        pipeline.producer_commit();
    };
    fetch(0);
    for (int i = 0; i < TILES; i++) {
        if (i + 1 < TILES)
            fetch(i + 1);
        pipeline.consumer_wait();
        sum += stage[i % 2][(t * 7 + i) % TILE];
        pipeline.consumer_release();
    }
    out[t] = sum;
}

__global__ void grouped(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto token = block.barrier_arrive();
    int value = in[threadIdx.x];
    block.barrier_wait(std::move(token));
    auto pair = cg::tiled_partition<64>(block);
    pair.sync();
    out[threadIdx.x] =
        cg::reduce(pair, value, cg::plus<int>()) + (int)pair.meta_group_rank();
}

static void check(const char *what, const std::vector<int> &got,
                  const std::vector<int> &want)
{
    for (int t = 0; t < TILE; t++)
        EXPECT(got[t] == want[t], "%s: %d is %d, not %d", what, t, got[t],
               want[t]);
}

int main()
{
    std::vector<int> in(TILE * TILES), want(TILE), first;
    Random random(47);
    for (int &value : in)
        value = (int)random.below(1000);
    int *device = to_device(in), *out = new_on_device<int>(TILE);

    arrived<<<1, TILE>>>(device, out);
    for (int t = 0; t < TILE; t++) {
        unsigned sum = 0;
        for (int i = 0; i < TILES; i++)
            sum = (sum + in[i * TILE + (t + i) % TILE]) * 3 + i;
        want[t] = (int)sum;
    }
    check("arrived", first = to_host(out, TILE), want);
    dropped<<<1, TILE>>>(out);
    for (int t = 0; t < TILE; t++)
        want[t] = (TILE - 1 - (t % 2 ? t : (t + 2) % TILE)) * 5;
    check("dropped", to_host(out, TILE), want);
    primitive<<<1, TILE>>>(out);
    for (int t = 0; t < TILE; t++)
        want[t] = (TILE - 1 - t) * 7;
    check("primitive", to_host(out, TILE), want);
    piped<<<1, TILE>>>(device, out);
    for (int t = 0; t < TILE; t++) {
        want[t] = 0;
        for (int i = 0; i < TILES; i++)
            want[t] += in[i * TILE + (t * 7 + i) % TILE];
    }
    check("piped", to_host(out, TILE), want);
    grouped<<<1, TILE>>>(device, out);
    for (int t = 0; t < TILE; t++) {
        want[t] = t / 64;
        for (int i = 0; i < 64; i++)
            want[t] += in[t / 64 * 64 + i];
    }
    check("grouped", to_host(out, TILE), want);
    CHECK(cudaFree(device));
    CHECK(cudaFree(out));
    return pass("block_barriers", "digest %016llx",
                (unsigned long long)digest(first));
}

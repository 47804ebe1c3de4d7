/*
 * Reductions with cooperative groups: blocks, tiles of several widths,
 * coalesced and partitioned threads.
 */
#include "program.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

enum { THREADS = 128 };

template <int WIDTH> __device__ int tile_sum(cg::thread_block block, int value)
{
    auto tile = cg::tiled_partition<WIDTH>(block);
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        value += tile.shfl_down(value, offset);
    return tile.shfl(value, 0);
}

__global__ void sums(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    int i = block.group_index().x * block.size() + block.thread_rank();
    int value = in[i];
    int *mine = out + i * 8;
    mine[0] = tile_sum<32>(block, value);
    mine[1] = tile_sum<8>(block, value);
    mine[2] = tile_sum<2>(block, value);
    auto tile = cg::tiled_partition<16>(block);
    mine[3] = cg::reduce(tile, value, cg::plus<int>());
    mine[4] = cg::reduce(tile, value, cg::greater<int>());
    mine[5] = tile.meta_group_rank() * 100 + tile.meta_group_size();
    if (value % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        mine[6] = some.size() * 100 + some.thread_rank();
    } else {
        mine[6] = -1;
    }
    auto warp = cg::tiled_partition<32>(block);
    auto alike = cg::labeled_partition(warp, value & 1);
    mine[7] = cg::reduce(alike, value, cg::plus<int>());
}

static int range_sum(const std::vector<int> &in, int i, int width)
{
    int sum = 0, from = i / width * width;
    for (int j = from; j < from + width; j++)
        sum += in[j];
    return sum;
}

int main()
{
    const int n = THREADS * 9;
    std::vector<int> in(n);
    Random random(8);
    for (int &value : in)
        value = random.below(10000);
    int *device_in = to_device(in), *out = new_on_device<int>(n * 8);
    sums<<<n / THREADS, THREADS>>>(device_in, out);
    std::vector<int> got = to_host(out, n * 8);
    for (int i = 0; i < n; i++) {
        int most = 0, before = 0, some = 0, alike = 0;
        for (int j = i / 16 * 16; j < i / 16 * 16 + 16; j++)
            most = in[j] > most ? in[j] : most;
        for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) {
            some += in[j] % 3 == 0;
            before += in[j] % 3 == 0 && j < i;
            alike += (in[j] & 1) == (in[i] & 1) ? in[j] : 0;
        }
        int want[8] = {range_sum(in, i, 32),
                       range_sum(in, i, 8),
                       range_sum(in, i, 2),
                       range_sum(in, i, 16),
                       most,
                       i % THREADS / 16 * 100 + THREADS / 16,
                       in[i] % 3 == 0 ? some * 100 + before : -1,
                       alike};
        for (int kind = 0; kind < 8; kind++)
            EXPECT(got[i * 8 + kind] == want[kind],
                   "thread %d kind %d: %d, not %d", i, kind, got[i * 8 + kind],
                   want[kind]);
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return pass("reduce_groups", "digest %016llx",
                (unsigned long long)digest(got));
}

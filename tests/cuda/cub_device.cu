/*
 * CUB: device-wide sort, sum, scan, histogram and selection, and its block
 * primitives in a kernel of our own.
 */
#include "program.h"

#include <algorithm>
#include <cub/cub.cuh>

template <typename Call> void with_room(Call call)
{
    size_t bytes = 0;
    void *room = nullptr;
    CHECK(call(room, bytes));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(call(room, bytes));
    CHECK(cudaFree(room));
}

__global__ void block_sort(int *data, int *sums)
{
    typedef cub::BlockRadixSort<int, 64, 4> Sort;
    typedef cub::BlockReduce<int, 64> Reduce;
    __shared__ union {
        Sort::TempStorage sort;
        Reduce::TempStorage reduce;
    } room;
    int keys[4], base = blockIdx.x * 256 + threadIdx.x * 4;
    for (int k = 0; k < 4; k++)
        keys[k] = data[base + k];
    Sort(room.sort).Sort(keys);
    __syncthreads();
    int sum = Reduce(room.reduce).Sum(keys);
    for (int k = 0; k < 4; k++)
        data[base + k] = keys[k];
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

struct IsOdd {
    __device__ bool operator()(int value) const
    {
        return value & 1;
    }
};

int main()
{
    const int n = 20000, blocks = 5;
    std::vector<int> keys(n), values(n);
    Random random(40);
    for (int i = 0; i < n; i++) {
        keys[i] = (int)random.bits() % 1000000;
        values[i] = i;
    }
    int *in = to_device(keys), *values_in = to_device(values);
    int *out = new_on_device<int>(n), *values_out = new_on_device<int>(n);
    int *few = new_on_device<int>(64);
    with_room([&](void *room, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(room, bytes, in, out, values_in,
                                               values_out, n);
    });
    std::vector<int> sorted = to_host(out, n), order = to_host(values_out, n);
    std::vector<int> want = values;
    std::stable_sort(want.begin(), want.end(),
                     [&](int a, int b) { return keys[a] < keys[b]; });
    for (int i = 0; i < n; i++)
        EXPECT(order[i] == want[i] && sorted[i] == keys[want[i]],
               "sorted[%d] = %d", i, sorted[i]);
    with_room([&](void *room, size_t &bytes) {
        return cub::DeviceReduce::Sum(room, bytes, values_in, few, n);
    });
    with_room([&](void *room, size_t &bytes) {
        return cub::DeviceReduce::Max(room, bytes, in, few + 1, n);
    });
    with_room([&](void *room, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(room, bytes, values_in, out, n);
    });
    std::vector<int> scanned = to_host(out, n), totals = to_host(few, 2);
    for (int i = 0; i < n; i++)
        EXPECT(scanned[i] == (int)((long long)i * (i - 1) / 2), "scan at %d",
               i);
    EXPECT(totals[0] == n / 2 * (n - 1), "sum %d", totals[0]);
    EXPECT(totals[1] == sorted[n - 1], "most %d", totals[1]);
    with_room([&](void *room, size_t &bytes) {
        return cub::DeviceSelect::If(room, bytes, in, out, few, n, IsOdd());
    });
    std::vector<int> odd;
    for (int key : keys)
        if (key & 1)
            odd.push_back(key);
    EXPECT(to_host(few, 1)[0] == (int)odd.size(), "%d odd", to_host(few, 1)[0]);
    EXPECT(to_host(out, odd.size()) == odd, "others are odd");
    with_room([&](void *room, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(room, bytes, values_in, few,
                                                   11, 0, n, n);
    });
    std::vector<int> bins = to_host(few, 10);
    for (int bin : bins)
        EXPECT(bin == n / 10, "bin of %d", bin);
    block_sort<<<blocks, 64>>>(in, few);
    std::vector<int> parts = to_host(in, blocks * 256);
    for (int b = 0; b < blocks; b++) {
        std::sort(keys.begin() + b * 256, keys.begin() + b * 256 + 256);
        EXPECT(std::equal(keys.begin() + b * 256, keys.begin() + b * 256 + 256,
                          parts.begin() + b * 256),
               "block %d", b);
    }
    for (int *p : {in, values_in, out, values_out, few})
        CHECK(cudaFree(p));
    return pass("cub_device", "odd %zu digest %016llx", odd.size(),
                (unsigned long long)digest(sorted));
}

/*
 * Inclusive scan by shuffles: within warps, over the warps of a block, over
 * the blocks; for 32-bit and 64-bit words.
 */
#include "program.h"

enum { THREADS = 512 };

template <typename T> __device__ T warp_scan(T value)
{
    for (int offset = 1; offset < 32; offset *= 2) {
        T before = __shfl_up_sync(0xffffffff, value, offset);
        if (threadIdx.x % 32 >= offset)
            value += before;
    }
    return value;
}

template <typename T> __global__ void scan(const T *in, T *out, T *sums, int n)
{
    __shared__ T warps[32];
    int i = blockIdx.x * THREADS + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T value = warp_scan(i < n ? in[i] : T(0));
    if (lane == 31)
        warps[warp] = value;
    __syncthreads();
    if (warp == 0)
        warps[lane] = warp_scan(lane < THREADS / 32 ? warps[lane] : T(0));
    __syncthreads();
    if (warp > 0)
        value += warps[warp - 1];
    if (i < n)
        out[i] = value;
    if (threadIdx.x == THREADS - 1 && sums)
        sums[blockIdx.x] = value;
}

template <typename T> __global__ void add(T *out, const T *sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}

template <typename T> uint64_t run(int n)
{
    std::vector<T> in(n);
    Random random(10);
    for (T &value : in)
        value = (T)random.below(100000) * (T)random.below(9);
    int blocks = (n + THREADS - 1) / THREADS;
    T *device_in = to_device(in), *out = new_on_device<T>(n);
    T *sums = new_on_device<T>(blocks);
    scan<T><<<blocks, THREADS>>>(device_in, out, sums, n);
    scan<T><<<1, THREADS>>>(sums, sums, nullptr, blocks);
    add<T><<<blocks, THREADS>>>(out, sums, n);
    std::vector<T> got = to_host(out, n);
    T want = 0;
    for (int i = 0; i < n; i++) {
        want += in[i];
        EXPECT(got[i] == want, "out[%d] is wrong", i);
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sums));
    return digest(got);
}

int main()
{
    uint64_t narrow = run<unsigned>(100100), wide = run<long long>(77777);
    return pass("scan_warp", "%016llx %016llx", (unsigned long long)narrow,
                (unsigned long long)wide);
}

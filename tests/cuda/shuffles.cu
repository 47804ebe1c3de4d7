/*
 * The four shuffles in segments of every width, for words of 4 and 8 bytes and
 * halves, with sources out of range.
 */
#include "program.h"

#include <cuda_fp16.h>

enum { KINDS = 6, WIDTHS = 6 };

template <typename T>
__device__ void all_kinds(T value, int width, int by, T *mine)
{
    mine[0] = __shfl_sync(0xffffffff, value, by, width);
    mine[1] = __shfl_up_sync(0xffffffff, value, by, width);
    mine[2] = __shfl_down_sync(0xffffffff, value, by, width);
    mine[3] = __shfl_xor_sync(0xffffffff, value, by, width);
    mine[4] = __shfl_sync(0xffffffff, value, (threadIdx.x * 7 + by), width);
    mine[5] = __shfl_sync(0xffffffff, value, -1, width);
}

template <typename T> __global__ void shuffle(const T *in, int by, T *out)
{
    T value = in[threadIdx.x];
    T *mine = out + threadIdx.x * KINDS * WIDTHS;
    for (int w = 0; w < WIDTHS; w++)
        all_kinds(value, 1 << w, by, mine + w * KINDS);
}

static int source(int kind, int lane, int by, int width)
{
    int base = lane / width * width, at = lane % width;
    switch (kind) {
    case 0:
        return base + by % width;
    case 1:
        return at - by < 0 ? lane : lane - by;
    case 2:
        return at + by >= width ? lane : lane + by;
    case 3:
        /* Towards earlier segments it may reach, not towards later ones. */
        return (lane ^ by) >= base + width ? lane : lane ^ by;
    case 4:
        return base + (lane * 7 + by) % width;
    default:
        return base + width - 1;
    }
}

template <typename T> uint64_t run(T (*make)(int))
{
    std::vector<T> in(32);
    for (int i = 0; i < 32; i++)
        in[i] = make(i);
    T *device_in = to_device(in), *out = new_on_device<T>(32 * KINDS * WIDTHS);
    uint64_t all = 0;
    for (int by : {0, 1, 3, 8, 17, 31}) {
        shuffle<T><<<1, 32>>>(device_in, by, out);
        std::vector<T> got = to_host(out, 32 * KINDS * WIDTHS);
        for (int i = 0; i < 32 * KINDS * WIDTHS; i++) {
            int lane = i / KINDS / WIDTHS, width = 1 << i / KINDS % WIDTHS;
            int from = source(i % KINDS, lane, by, width);
            EXPECT(memcmp(&got[i], &in[from], sizeof(T)) == 0,
                   "lane %d width %d kind %d by %d: not that of %d", lane,
                   width, i % KINDS, by, from);
        }
        all = all * 3 + digest(got);
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return all;
}

int main()
{
    uint64_t all = run<int>([](int i) { return i * 1001; });
    all += run<float>([](int i) { return i * 0.5f; });
    all += run<long long>([](int i) { return (long long)i << 33 | i; });
    all += run<double>([](int i) { return i / 3.0; });
    all += run<__half>([](int i) { return __float2half(i); });
    return pass("shuffles", "digest %016llx", (unsigned long long)all);
}

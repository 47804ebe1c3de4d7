/*
 * Radix sort, four bits a pass: counts per block, a scan of the table, and a
 * stable scatter with ranks from warp ballots.
 */
#include "program.h"

#include <algorithm>

enum { THREADS = 256, WARPS = THREADS / 32, DIGITS = 16 };

__device__ int digit_of(unsigned key, int shift)
{
    return key >> shift & (DIGITS - 1);
}

__global__ void count(const unsigned *keys, int n, int shift, int *table)
{
    __shared__ int counts[DIGITS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&counts[digit_of(keys[i], shift)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        table[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

__global__ void scan_table(int *table, int n)
{
    __shared__ int sums[THREADS];
    int each = (n + THREADS - 1) / THREADS, sum = 0;
    int from = threadIdx.x * each, to = min(from + each, n);
    for (int i = from; i < to; i++)
        sum += table[i];
    sums[threadIdx.x] = sum;
    for (int offset = 1; offset < THREADS; offset *= 2) {
        __syncthreads();
        int before = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
    }
    sum = sums[threadIdx.x] - sum;
    for (int i = from; i < to; i++) {
        int own = table[i];
        table[i] = sum;
        sum += own;
    }
}

__global__ void scatter(const unsigned *in, unsigned *out, int n, int shift,
                        const int *table)
{
    __shared__ int before[WARPS][DIGITS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned key = i < n ? in[i] : 0;
    int digit = digit_of(key, shift);
    unsigned alike = __ballot_sync(0xffffffff, i < n);
    for (int bit = 0; bit < 4; bit++) {
        unsigned set = __ballot_sync(0xffffffff, digit >> bit & 1);
        alike &= digit >> bit & 1 ? set : ~set;
    }
    int rank = __popc(alike & ((1u << lane) - 1));
    if (lane < DIGITS)
        before[warp][lane] = 0;
    __syncwarp();
    if (i < n && rank == 0)
        before[warp][digit] = __popc(alike);
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        int sum = table[threadIdx.x * gridDim.x + blockIdx.x];
        for (int w = 0; w < WARPS; w++) {
            int own = before[w][threadIdx.x];
            before[w][threadIdx.x] = sum;
            sum += own;
        }
    }
    __syncthreads();
    if (i < n)
        out[before[warp][digit] + rank] = key;
}

int main()
{
    const int n = 12345, blocks = (n + THREADS - 1) / THREADS;
    std::vector<unsigned> keys(n);
    Random random(17);
    for (unsigned &key : keys)
        key = random.bits();
    unsigned *a = to_device(keys), *b = new_on_device<unsigned>(n);
    int *table = new_on_device<int>(DIGITS * blocks);
    for (int shift = 0; shift < 32; shift += 4) {
        count<<<blocks, THREADS>>>(a, n, shift, table);
        scan_table<<<1, THREADS>>>(table, DIGITS * blocks);
        scatter<<<blocks, THREADS>>>(a, b, n, shift, table);
        std::swap(a, b);
    }
    std::vector<unsigned> got = to_host(a, n);
    std::sort(keys.begin(), keys.end());
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == keys[i], "keys[%d] = %x, not %x", i, got[i], keys[i]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(table));
    return pass("radix_sort", "n %d digest %016llx", n,
                (unsigned long long)digest(got));
}

/*
 * Histograms: atomics in global memory, and in shared memory with one copy
 * per warp, merged at the end.
 */
#include "program.h"

enum { BINS = 256, THREADS = 192, WARPS = THREADS / 32 };

__global__ void global_bins(const unsigned char *in, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
}

__global__ void shared_bins(const unsigned *in, int words, unsigned *bins)
{
    __shared__ unsigned mine[WARPS][BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += THREADS)
        mine[0][i] = 0;
    __syncthreads();
    unsigned *warp = mine[threadIdx.x / 32];
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words;
         i += gridDim.x * THREADS) {
        unsigned word = in[i];
        atomicAdd(&warp[word & 255], 1);
        atomicAdd(&warp[word >> 8 & 255], 1);
        atomicAdd(&warp[word >> 16 & 255], 1);
        atomicAdd(&warp[word >> 24], 1);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += THREADS) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += mine[w][bin];
        atomicAdd(&bins[bin], sum);
    }
}

int main()
{
    const int n = 160000;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(BINS);
    Random random(12);
    for (unsigned char &value : in) {
        /* Uneven on purpose: small values collide a lot. */
        value = (unsigned char)(random.below(256) * random.below(256) / 256);
        want[value]++;
    }
    unsigned char *device_in = to_device(in);
    unsigned *bins = new_on_device<unsigned>(2 * BINS);
    CHECK(cudaMemset(bins, 0, 2 * BINS * sizeof *bins));
    global_bins<<<20, 128>>>(device_in, n, bins);
    shared_bins<<<8, THREADS>>>((const unsigned *)device_in, n / 4,
                                bins + BINS);
    std::vector<unsigned> got = to_host(bins, 2 * BINS);
    for (int i = 0; i < 2 * BINS; i++)
        EXPECT(got[i] == want[i % BINS], "bin %d: %u, not %u", i, got[i],
               want[i % BINS]);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(bins));
    return pass("histogram", "first %u last %u digest %016llx", want[0],
                want[BINS - 1], (unsigned long long)digest(got));
}

/*
 * pi by throwing darts with a counter-based generator of our own: 64-bit
 * multiplications and integer coordinates, so the count is exact.
 */
#include "program.h"

__device__ __host__ inline uint64_t shuffled(uint64_t counter)
{
    counter += 0x9e3779b97f4a7c15u;
    counter = (counter ^ counter >> 30) * 0xbf58476d1ce4e5b9u;
    counter = (counter ^ counter >> 27) * 0x94d049bb133111ebu;
    return counter ^ counter >> 31;
}

__device__ __host__ inline bool hits(uint64_t dart)
{
    uint64_t bits = shuffled(dart);
    uint64_t x = bits & 0xffffff, y = bits >> 32 & 0xffffff;
    return x * x + y * y < 1ull << 48;
}

__global__ void throw_darts(int each, unsigned long long *count)
{
    uint64_t first = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) * each;
    int mine = 0;
    for (int i = 0; i < each; i++)
        mine += hits(first + i);
    int all = __syncthreads_count(mine > each / 2);
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_xor_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&count[0], mine);
    if (threadIdx.x == 0)
        atomicAdd(&count[1], all);
}

int main()
{
    const int blocks = 24, threads = 128, each = 40;
    unsigned long long *count = new_on_device<unsigned long long>(2);
    CHECK(cudaMemset(count, 0, 2 * sizeof *count));
    throw_darts<<<blocks, threads>>>(each, count);
    std::vector<unsigned long long> got = to_host(count, 2);
    unsigned long long want[2] = {0, 0};
    for (uint64_t thread = 0; thread < blocks * threads; thread++) {
        int mine = 0;
        for (int i = 0; i < each; i++)
            mine += hits(thread * each + i);
        want[0] += mine;
        want[1] += mine > each / 2;
    }
    EXPECT(got[0] == want[0], "%llu hits, not %llu", got[0], want[0]);
    EXPECT(got[1] == want[1], "%llu threads, not %llu", got[1], want[1]);
    double pi = 4.0 * got[0] / (blocks * threads * each);
    EXPECT(std::fabs(pi - M_PI) < 0.02, "pi is %g", pi);
    CHECK(cudaFree(count));
    return pass("monte_carlo", "hits %llu pi %.5f", got[0], pi);
}

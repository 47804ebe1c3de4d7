/*
 * Time on the device: clocks do not run backwards, a sleep lasts, and special
 * registers say where a thread is.
 */
#include "program.h"

struct Times {
    long long clock_before, clock_after;
    unsigned long long global_before, global_after;
    unsigned lane, warp, sm, grid_x;
};

__device__ unsigned long long global_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void look(Times *times, unsigned ns)
{
    Times mine;
    asm("mov.u32 %0, %%laneid;" : "=r"(mine.lane));
    asm("mov.u32 %0, %%warpid;" : "=r"(mine.warp));
    asm("mov.u32 %0, %%smid;" : "=r"(mine.sm));
    asm("mov.u32 %0, %%nctaid.x;" : "=r"(mine.grid_x));
    mine.clock_before = clock64();
    mine.global_before = global_ns();
    for (int k = 0; k < 5; k++)
        __nanosleep(ns);
    mine.global_after = global_ns();
    mine.clock_after = clock64();
    times[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

int main()
{
    const int blocks = 3, threads = 96, n = blocks * threads;
    Times *times = new_on_device<Times>(n);
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    look<<<blocks, threads>>>(times, 2000);
    std::vector<Times> got = to_host(times, n);
    for (int i = 0; i < n; i++) {
        const Times &t = got[i];
        EXPECT(t.clock_after > t.clock_before, "thread %d: %lld to %lld", i,
               t.clock_before, t.clock_after);
        EXPECT(t.global_after >= t.global_before, "thread %d: %llu to %llu", i,
               t.global_before, t.global_after);
        EXPECT(t.lane == i % 32u && t.grid_x == blocks, "thread %d: %u %u", i,
               t.lane, t.grid_x);
        EXPECT((int)t.sm < device.multiProcessorCount, "thread %d on %u", i,
               t.sm);
    }
    CHECK(cudaFree(times));
    return pass("clocks", "threads %d", n);
}

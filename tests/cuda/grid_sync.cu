/*
 * A cooperative launch: all blocks meet inside the kernel, many times, and
 * read what the others wrote before.
 */
#include "program.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { THREADS = 128 };

/* Each round adds the two neighbours, round the ring. */
__global__ void diffuse(unsigned *a, unsigned *b, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = a[i] + a[(i + 1) % n] * 3 + a[(i + n - 1) % n];
        grid.sync();
        unsigned *kept = a;
        a = b;
        b = kept;
    }
}

int main()
{
    int cooperative = 0, per_sm = 0, n = 3000, rounds = 15;
    cudaDeviceProp device;
    CHECK(
        cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    if (!cooperative)
        return skip("grid_sync", "the device has no cooperative launch");
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, diffuse,
                                                        THREADS, 0));
    int most = per_sm * device.multiProcessorCount;
    int blocks = most < 16 ? most : 16;
    std::vector<unsigned> data(n), next(n);
    Random random(30);
    for (unsigned &value : data)
        value = random.bits();
    unsigned *a = to_device(data), *b = new_on_device<unsigned>(n);
    void *arguments[] = {&a, &b, &n, &rounds};
    CHECK(cudaLaunchCooperativeKernel((const void *)diffuse, dim3(blocks),
                                      dim3(THREADS), arguments, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> got = to_host(rounds % 2 ? b : a, n);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            next[i] = data[i] + data[i + 1 == n ? 0 : i + 1] * 3 +
                      data[i ? i - 1 : n - 1];
        data.swap(next);
    }
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == data[i], "at %d: %x, not %x", i, got[i], data[i]);
    /* More blocks than can be there at once. */
    CHECK_FAILS(cudaErrorCooperativeLaunchTooLarge,
                cudaLaunchCooperativeKernel((const void *)diffuse,
                                            dim3(most + 1), dim3(THREADS),
                                            arguments, 0, nullptr));
    cudaGetLastError();
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return pass("grid_sync", "rounds %d digest %016llx", rounds,
                (unsigned long long)digest(got));
}

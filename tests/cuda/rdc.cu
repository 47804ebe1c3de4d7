/*
 * A kernel whose function and table come from another file (-rdc=true).
 */
#include "program.h"
#include "rdc.h"

__global__ void run(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = collatz(i + 1) * 100 + shared_table[i % 16];
}

int main()
{
    const int n = 500;
    int *out = new_on_device<int>(n);
    run<<<(n + 63) / 64, 64>>>(out, n);
    std::vector<int> got = to_host(out, n);
    for (int i = 0; i < n; i++) {
        int steps = 0;
        for (unsigned k = i + 1; k != 1; k = k % 2 ? 3 * k + 1 : k / 2)
            steps++;
        int want = steps * 100 + (i % 16) * (i % 16);
        EXPECT(got[i] == want, "at %d: %d, not %d", i, got[i], want);
    }
    CHECK(cudaFree(out));
    return pass("rdc", "digest %016llx", (unsigned long long)digest(got));
}

/*
 * Functions that call themselves and each other, to different depths in each
 * thread; big frames; a stack limit that is raised.
 */
#include "program.h"

__device__ __host__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __host__ bool is_odd(unsigned n);

__device__ __host__ bool is_even(unsigned n)
{
    return n == 0 ? true : is_odd(n - 1);
}

__device__ __host__ bool is_odd(unsigned n)
{
    return n == 0 ? false : is_even(n - 1);
}

__device__ __host__ void quicksort(int *data, int from, int to)
{
    if (to - from < 2)
        return;
    int pivot = data[(from + to) / 2], i = from, j = to - 1;
    while (i <= j) {
        while (data[i] < pivot)
            i++;
        while (data[j] > pivot)
            j--;
        if (i <= j) {
            int kept = data[i];
            data[i++] = data[j];
            data[j--] = kept;
        }
    }
    quicksort(data, from, j + 1);
    quicksort(data, i, to);
}

__device__ __host__ int deep(int depth, int seed)
{
    int frame[64];
    for (int i = 0; i < 64; i++)
        frame[i] = seed * i + depth;
    int below = depth > 0 ? deep(depth - 1, seed + frame[7] % 5) : 1;
    return below + frame[(unsigned)below % 64];
}

enum { EACH = 40 };

__device__ __host__ int run(int i, int *data)
{
    int sum = ackermann(i % 3, i % 5) * 1000 + is_even(i % 50);
    for (int k = 0; k < EACH; k++)
        data[k] = (k * 7919 + i * 104729) % 1000;
    quicksort(data, 0, EACH);
    return sum + deep(i % 12, i);
}

__global__ void start(int *data, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = run(i, data + i * EACH);
}

int main()
{
    const int n = 150;
    size_t limit = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit >= 16384, "stack of %zu bytes", limit);
    int *data = new_on_device<int>(n * EACH), *out = new_on_device<int>(n);
    start<<<(n + 31) / 32, 32>>>(data, out, n);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> got = to_host(out, n), sorted = to_host(data, n * EACH);
    for (int i = 0; i < n; i++) {
        int mine[EACH], want = run(i, mine);
        EXPECT(got[i] == want, "thread %d: %d, not %d", i, got[i], want);
        EXPECT(memcmp(mine, &sorted[i * EACH], sizeof mine) == 0,
               "thread %d sorted wrongly", i);
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    return pass("recursion", "digest %016llx %016llx",
                (unsigned long long)digest(got),
                (unsigned long long)digest(sorted));
}

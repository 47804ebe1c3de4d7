/*
 * The heap of the device: malloc and free in kernels, kept over launches,
 * new of arrays, a limit that is reached.
 */
#include "program.h"

__device__ int *kept[256];

__global__ void allocate(int n)
{
    int i = threadIdx.x;
    kept[i] = (int *)malloc((i % 8 + 1) * n * sizeof(int));
    if (!kept[i])
        return;
    for (int k = 0; k < (i % 8 + 1) * n; k++)
        kept[i][k] = i * 1000 + k;
}

__global__ void add_up(int n, long long *sums)
{
    int i = threadIdx.x, other = (i * 77 + 5) % blockDim.x;
    long long sum = 0;
    for (int k = 0; k < (other % 8 + 1) * n; k++)
        sum += kept[other][k];
    sums[other] = sum;
    __syncthreads();
    free(kept[i]);
}

__global__ void shuffle_list(int *out)
{
    struct Item {
        int value;
        Item *next;
    };
    Item *list = nullptr;
    for (int k = 0; k < 20; k++)
        list = new Item{(int)threadIdx.x * 100 + k, list};
    int *table = new int[20];
    int count = 0;
    while (list) {
        Item *next = list->next;
        table[count++] = list->value;
        delete list;
        list = next;
    }
    int sum = 0;
    for (int k = 0; k < count; k++)
        sum += table[k] * (k + 1);
    delete[] table;
    out[threadIdx.x] = sum;
}

__global__ void too_much(int *failed, size_t bytes)
{
    void *block = malloc(bytes);
    *failed = block == nullptr;
    free(block);
}

int main()
{
    const int threads = 200, n = 16;
    size_t limit;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    EXPECT(limit >= 32 << 20, "heap of %zu bytes", limit);
    long long *sums = new_on_device<long long>(threads);
    int *out = new_on_device<int>(64), *failed = new_on_device<int>(1);
    std::vector<long long> got;
    for (int round = 0; round < 3; round++) {
        allocate<<<1, threads>>>(n);
        add_up<<<1, threads>>>(n, sums);
        got = to_host(sums, threads);
        for (int i = 0; i < threads; i++) {
            long long count = (i % 8 + 1) * n;
            long long want = count * i * 1000 + count * (count - 1) / 2;
            EXPECT(got[i] == want, "block %d: %lld, not %lld", i, got[i], want);
        }
    }
    shuffle_list<<<1, 64>>>(out);
    std::vector<int> sum = to_host(out, 64);
    for (int t = 0; t < 64; t++) {
        int want = 0;
        for (int k = 0; k < 20; k++)
            want += (t * 100 + 19 - k) * (k + 1);
        EXPECT(sum[t] == want, "list %d: %d, not %d", t, sum[t], want);
    }
    too_much<<<1, 1>>>(failed, (size_t)1 << 40);
    EXPECT(to_host(failed, 1)[0] == 1, "a terabyte was had");
    CHECK(cudaFree(sums));
    CHECK(cudaFree(out));
    CHECK(cudaFree(failed));
    return pass("device_malloc", "digest %016llx",
                (unsigned long long)digest(got));
}

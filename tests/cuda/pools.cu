/*
 * Memory in stream order: cudaMallocAsync from the default pool and from one
 * made by the program, reuse, release threshold, trimming.
 */
#include "program.h"

__global__ void fill(int *data, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = value + i;
}

__global__ void add(int *to, const int *from, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        to[i] += from[i];
}

int main()
{
    int supported = 0;
    CHECK(
        cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    if (!supported)
        return skip("pools", "the device has no memory pools");
    const int n = 5000;
    cudaStream_t stream;
    cudaMemPool_t standard, own;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    uint64_t keep = UINT64_MAX, used = 0, most = 0;
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold,
                                  &keep));
    std::vector<int> got(n), want(n);
    for (int round = 0; round < 5; round++) {
        int *a, *b;
        CHECK(cudaMallocAsync(&a, n * 4, stream));
        CHECK(cudaMallocAsync(&b, n * 4, stream));
        EXPECT(a != b, "one address twice");
        fill<<<1, 256, 0, stream>>>(a, n, round);
        fill<<<1, 256, 0, stream>>>(b, n, round * 100);
        add<<<1, 256, 0, stream>>>(a, b, n);
        CHECK(cudaFreeAsync(b, stream));
        CHECK(cudaMemcpyAsync(got.data(), a, n * 4, cudaMemcpyDeviceToHost,
                              stream));
        CHECK(cudaFreeAsync(a, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++)
            EXPECT(got[i] == round * 101 + 2 * i, "round %d: %d at %d", round,
                   got[i], i);
    }
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent,
                                  &used));
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &most));
    EXPECT(used == 0 && most >= 2 * n * 4, "%llu %llu",
           (unsigned long long)used, (unsigned long long)most);
    CHECK(cudaMemPoolTrimTo(standard, 0));

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 0;
    CHECK(cudaMemPoolCreate(&own, &props));
    int *c, *d;
    CHECK(cudaMallocFromPoolAsync(&c, n * 4, own, stream));
    fill<<<1, 128, 0, stream>>>(c, n, -7);
    CHECK(cudaDeviceSetMemPool(0, own));
    CHECK(cudaMallocAsync(&d, n * 4, stream));
    CHECK(cudaMemcpyAsync(d, c, n * 4, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    got = to_host(d, n);
    EXPECT(got[0] == -7 && got[n - 1] == n - 8, "%d %d", got[0], got[n - 1]);
    CHECK(cudaFreeAsync(c, stream));
    CHECK(cudaFree(d)); /* allowed as well */
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSetMemPool(0, standard));
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaStreamDestroy(stream));
    return pass("pools", "digest %016llx", (unsigned long long)digest(got));
}

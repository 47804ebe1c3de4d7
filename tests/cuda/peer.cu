/*
 * Two devices: copies between them with and without peer access, a kernel of
 * one that reads the memory of the other, results gathered on both.
 */
#include "program.h"

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = value + i;
}

__global__ void add(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

int main()
{
    const int n = 6000, blocks = (n + 255) / 256;
    int count, there = 0, back = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count < 2)
        return skip("peer", "there is one device");
    int *data[2], *copy[2];
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&data[d], n * 4));
        CHECK(cudaMalloc(&copy[d], n * 4));
        fill<<<blocks, 256>>>(data[d], n, d * 1000);
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaMemcpyPeer(copy[1], 1, data[0], 0, n * 4));
    CHECK(cudaMemcpy(copy[0], data[1], n * 4, cudaMemcpyDefault));
    CHECK(cudaSetDevice(1));
    add<<<blocks, 256>>>(copy[1], data[1], n);
    std::vector<int> got = to_host(copy[1], n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == 1000 + 2 * i, "copied: %d at %d", got[i], i);
    CHECK(cudaDeviceCanAccessPeer(&there, 0, 1));
    CHECK(cudaDeviceCanAccessPeer(&back, 1, 0));
    if (there && back) {
        CHECK(cudaSetDevice(0));
        CHECK(cudaDeviceEnablePeerAccess(1, 0));
        CHECK_FAILS(cudaErrorPeerAccessAlreadyEnabled,
                    cudaDeviceEnablePeerAccess(1, 0));
        cudaGetLastError();
        add<<<blocks, 256>>>(data[0], data[1], n);
        CHECK(cudaMemcpyPeerAsync(copy[1], 1, data[0], 0, n * 4, 0));
        CHECK(cudaDeviceSynchronize());
        got = to_host(copy[1], n);
        for (int i = 0; i < n; i++)
            EXPECT(got[i] == 1000 + 2 * i, "direct: %d at %d", got[i], i);
        CHECK(cudaDeviceDisablePeerAccess(1));
        CHECK_FAILS(cudaErrorPeerAccessNotEnabled,
                    cudaDeviceDisablePeerAccess(1));
        cudaGetLastError();
    }
    std::vector<int> other = to_host(copy[0], n);
    for (int i = 0; i < n; i++)
        EXPECT(other[i] == 1000 + i, "by default: %d at %d", other[i], i);
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(data[d]));
        CHECK(cudaFree(copy[d]));
    }
    return pass("peer", "direct %d digest %016llx", there && back,
                (unsigned long long)digest(got));
}

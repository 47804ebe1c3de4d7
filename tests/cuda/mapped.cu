/*
 * Host memory that kernels see: mapped when allocated and when registered,
 * write-combined, portable; its flags and its device pointers.
 */
#include "program.h"

__global__ void triple(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 3;
}

__global__ void tally(int *counter)
{
    atomicAdd(counter, 2);
}

int main()
{
    const int n = 5000;
    int can = 0;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCanMapHostMemory, 0));
    if (!can)
        return skip("mapped", "the device cannot map host memory");
    int *in, *out, *device_in, *device_out;
    unsigned flags;
    CHECK(cudaHostAlloc(&in, n * 4,
                        cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CHECK(cudaHostAlloc(&out, n * 4,
                        cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetDevicePointer(&device_in, in, 0));
    CHECK(cudaHostGetDevicePointer(&device_out, out, 0));
    CHECK(cudaHostGetFlags(&flags, out));
    EXPECT(flags & cudaHostAllocMapped, "flags %x", flags);
    for (int i = 0; i < n; i++)
        in[i] = i - 1000;
    triple<<<(n + 127) / 128, 128>>>(device_in, device_out, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == 3 * (i - 1000), "out[%d] = %d", i, out[i]);
    long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += out[i];

    /* A page of our own, registered and unregistered. */
    void *page = aligned_alloc(4096, 8192);
    int *counter = (int *)page, *device_counter;
    memset(page, 0, 8192);
    counter[100] = 7;
    CHECK(cudaHostRegister(page, 8192, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&device_counter, counter + 100, 0));
    tally<<<4, 32>>>(device_counter);
    CHECK(cudaDeviceSynchronize());
    EXPECT(counter[100] == 7 + 2 * 128, "counter %d", counter[100]);
    CHECK_FAILS(cudaErrorHostMemoryAlreadyRegistered,
                cudaHostRegister(page, 4096, cudaHostRegisterMapped));
    CHECK(cudaHostUnregister(page));
    CHECK_FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(page));
    cudaGetLastError();
    cudaPointerAttributes about;
    CHECK(cudaPointerGetAttributes(&about, in + 5));
    EXPECT(about.type == cudaMemoryTypeHost && about.hostPointer == in + 5,
           "type %d", about.type);
    free(page);
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return pass("mapped", "sum %lld", sum);
}

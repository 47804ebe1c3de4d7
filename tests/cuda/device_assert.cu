/*
 * assert in a kernel: one that holds is silent, one that fails says where,
 * ends the kernel and makes the context useless.
 */
#include "program.h"

#include <cassert>

__global__ void positive(const int *data, int *out)
{
    assert(data[threadIdx.x] > 0 && "must be positive");
    out[threadIdx.x] = data[threadIdx.x] * 2;
}

int main()
{
    std::vector<int> data(32, 5);
    int *device = to_device(data), *out = new_on_device<int>(32);
    positive<<<1, 32>>>(device, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(to_host(out, 32)[31] == 10, "wrong result");
    int bad = -1;
    CHECK(cudaMemcpy(device + 9, &bad, sizeof bad, cudaMemcpyHostToDevice));
    positive<<<1, 32>>>(device, out);
    cudaError_t error = cudaDeviceSynchronize();
    EXPECT(error == cudaErrorAssert, "%s", cudaGetErrorName(error));
    EXPECT(cudaGetLastError() == cudaErrorAssert, "not the last error");
    EXPECT(cudaMemcpy(data.data(), out, 4, cudaMemcpyDeviceToHost) ==
               cudaErrorAssert,
           "the context goes on");
    return pass("device_assert", "%s", cudaGetErrorName(error));
}

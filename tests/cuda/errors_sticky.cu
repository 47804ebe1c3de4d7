/*
 * An illegal access: the context dies, every later call says so, and the
 * program lives.
 */
#include "program.h"

__global__ void store(int *where)
{
    where[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *device = new_on_device<int>(64), host[64];
    store<<<1, 64>>>(device);
    CHECK(cudaDeviceSynchronize());
    store<<<1, 32>>>((int *)16);
    cudaError_t sync = cudaDeviceSynchronize();
    EXPECT(sync == cudaErrorIllegalAddress, "%s", cudaGetErrorName(sync));
    cudaError_t last = cudaGetLastError(), again = cudaGetLastError();
    EXPECT(last == cudaErrorIllegalAddress && again == last, "%s, then %s",
           cudaGetErrorName(last), cudaGetErrorName(again));
    cudaError_t copy =
        cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    EXPECT(copy == cudaErrorIllegalAddress, "%s", cudaGetErrorName(copy));
    void *more;
    cudaError_t more_memory = cudaMalloc(&more, 100);
    EXPECT(more_memory == cudaErrorIllegalAddress, "%s",
           cudaGetErrorName(more_memory));
    store<<<1, 32>>>(device);
    cudaError_t launch = cudaGetLastError();
    EXPECT(launch == cudaErrorIllegalAddress, "%s", cudaGetErrorName(launch));
    return pass("errors_sticky", "sync %d last %d copy %d launch %d", sync,
                last, copy, launch);
}

/*
 * What the device says of itself: properties and attributes have to agree,
 * and the limits have to be those that launches keep.
 */
#include "program.h"

__global__ void mark(int *data)
{
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0)
        atomicAdd(data, 1);
}

static int attribute(cudaDeviceAttr which)
{
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main()
{
    int count = 0, current = -1, runtime = 0, driver = 0;
    cudaDeviceProp p;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&current));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    EXPECT(count >= 1 && current == 0, "%d %d", count, current);
    EXPECT(runtime == CUDART_VERSION && driver >= runtime, "%d %d", runtime,
           driver);
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(strlen(p.name) > 0 && strlen(p.name) < sizeof p.name, "no name");
    EXPECT(p.warpSize == 32, "%d", p.warpSize);
    EXPECT(p.major == attribute(cudaDevAttrComputeCapabilityMajor) &&
               p.minor == attribute(cudaDevAttrComputeCapabilityMinor) &&
               p.major * 10 + p.minor >= 75,
           "%d.%d", p.major, p.minor);
    EXPECT(p.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock) &&
               p.maxThreadsPerBlock == 1024,
           "%d", p.maxThreadsPerBlock);
    EXPECT(p.maxThreadsDim[0] == attribute(cudaDevAttrMaxBlockDimX) &&
               p.maxThreadsDim[2] == attribute(cudaDevAttrMaxBlockDimZ),
           "%d %d", p.maxThreadsDim[0], p.maxThreadsDim[2]);
    EXPECT(p.maxGridSize[0] == attribute(cudaDevAttrMaxGridDimX) &&
               p.maxGridSize[1] == attribute(cudaDevAttrMaxGridDimY),
           "%d %d", p.maxGridSize[0], p.maxGridSize[1]);
    EXPECT((int)p.sharedMemPerBlock ==
               attribute(cudaDevAttrMaxSharedMemoryPerBlock),
           "%zu", p.sharedMemPerBlock);
    EXPECT((int)p.totalConstMem == attribute(cudaDevAttrTotalConstantMemory) &&
               p.totalConstMem == 65536,
           "%zu", p.totalConstMem);
    EXPECT(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount),
           "%d", p.multiProcessorCount);
    EXPECT(p.unifiedAddressing == attribute(cudaDevAttrUnifiedAddressing), "%d",
           p.unifiedAddressing);
    EXPECT(p.concurrentKernels == attribute(cudaDevAttrConcurrentKernels), "%d",
           p.concurrentKernels);
    EXPECT(p.cooperativeLaunch == attribute(cudaDevAttrCooperativeLaunch), "%d",
           p.cooperativeLaunch);
    size_t free_bytes, total_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    EXPECT(free_bytes <= total_bytes && total_bytes <= p.totalGlobalMem,
           "%zu of %zu", free_bytes, total_bytes);
    char bus[32];
    int again = -1;
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    CHECK(cudaDeviceGetByPCIBusId(&again, bus));
    EXPECT(again == 0, "bus %s is device %d", bus, again);
    CHECK_FAILS(cudaErrorInvalidDevice, cudaSetDevice(count));
    CHECK_FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, -1));
    cudaGetLastError();

    /* The largest block in each direction, and one more. */
    int *data = to_device(std::vector<int>(1));
    mark<<<3, dim3(p.maxThreadsDim[0], 1, 1)>>>(data);
    mark<<<3, dim3(1, p.maxThreadsDim[1], 1)>>>(data);
    mark<<<3, dim3(1, 1, p.maxThreadsDim[2])>>>(data);
    CHECK(cudaGetLastError());
    mark<<<1, dim3(1, 1, p.maxThreadsDim[2] + 1)>>>(data);
    CHECK_FAILS(cudaErrorInvalidConfiguration, cudaGetLastError());
    int marks = to_host(data, 1)[0];
    EXPECT(marks == 9, "%d blocks", marks);
    CHECK(cudaFree(data));
    return pass("properties", "runtime %d marks %d", runtime, marks);
}

/*
 * What fits on a multiprocessor: the answers of the occupancy calls have to
 * agree with each other and with the limits of the device.
 */
#include "program.h"

__global__ void plain(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void __launch_bounds__(128, 2) bounded(int *data)
{
    __shared__ int tile[1024];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[127 - threadIdx.x];
}

extern __shared__ int dynamic[];

__global__ void hungry(int *data)
{
    dynamic[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

struct WordEach {
    __host__ __device__ int operator()(int threads) const
    {
        return threads * 4;
    }
};

int main()
{
    cudaDeviceProp device;
    cudaFuncAttributes about;
    int blocks, fewer, grid, block;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    EXPECT(blocks >= 1 && blocks * 256 <= device.maxThreadsPerMultiProcessor,
           "%d blocks", blocks);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, hungry, 256,
                                                        40000));
    EXPECT(fewer >= 1 && fewer <= blocks &&
               fewer * 40000 <= (int)device.sharedMemPerMultiprocessor,
           "%d blocks with 40000 bytes", fewer);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &fewer, hungry, 1024, 0, cudaOccupancyDisableCachingOverride));
    EXPECT(fewer * 1024 <= device.maxThreadsPerMultiProcessor, "%d", fewer);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    EXPECT(block >= 32 && block <= device.maxThreadsPerBlock, "%d", block);
    EXPECT(grid >= device.multiProcessorCount, "%d", grid);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    EXPECT(block <= 128, "%d of at most 128", block);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, hungry,
                                                         WordEach(), 512));
    EXPECT(block >= 32 && block <= 512, "%d of at most 512", block);
    CHECK(cudaFuncGetAttributes(&about, bounded));
    EXPECT(about.sharedSizeBytes == 4096, "%zu bytes", about.sharedSizeBytes);
    EXPECT(about.maxThreadsPerBlock == 128, "%d", about.maxThreadsPerBlock);
    CHECK(cudaFuncGetAttributes(&about, plain));
    EXPECT(about.sharedSizeBytes == 0 && about.numRegs > 0 &&
               about.maxThreadsPerBlock <= device.maxThreadsPerBlock,
           "%zu %d %d", about.sharedSizeBytes, about.numRegs,
           about.maxThreadsPerBlock);
    CHECK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferShared));
    CHECK(cudaFuncSetAttribute(
        hungry, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    size_t room;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, hungry, 1, 256));
    EXPECT(room > 0 && room <= device.sharedMemPerMultiprocessor, "%zu", room);

    std::vector<int> values(128);
    for (int i = 0; i < 128; i++)
        values[i] = i * 3;
    int *data = to_device(values);
    bounded<<<1, 128>>>(data);
    CHECK(cudaGetLastError());
    bounded<<<1, 256>>>(data); /* more than its bounds */
    cudaError_t error = cudaGetLastError();
    EXPECT(error != cudaSuccess, "256 threads were too many");
    values = to_host(data, 128);
    EXPECT(values[0] == 127 * 3 && values[127] == 0, "%d", values[0]);
    CHECK(cudaFree(data));
    return pass("occupancy", "digest %016llx",
                (unsigned long long)digest(values));
}

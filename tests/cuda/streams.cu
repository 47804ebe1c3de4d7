/*
 * Chunks on several streams: up, kernel, down, all asynchronous from pinned
 * memory, with the streams kept busy for several rounds.
 */
#include "program.h"

enum { STREAMS = 4, CHUNK = 20000, ROUNDS = 3 };

__global__ void work(int *data, int n, int add)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        data[i] = data[i] * 3 + add;
}

int main()
{
    const int n = STREAMS * CHUNK;
    int *pinned, *device;
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        pinned[i] = i;
    cudaStream_t streams[STREAMS];
    for (int s = 0; s < STREAMS; s++)
        CHECK(cudaStreamCreateWithFlags(
            &streams[s], s % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < STREAMS; s++) {
            int *host = pinned + s * CHUNK, *there = device + s * CHUNK;
            CHECK(cudaMemcpyAsync(there, host, CHUNK * 4,
                                  cudaMemcpyHostToDevice, streams[s]));
            work<<<8, 128, 0, streams[s]>>>(there, CHUNK, s + round);
            CHECK(cudaMemcpyAsync(host, there, CHUNK * 4,
                                  cudaMemcpyDeviceToHost, streams[s]));
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamSynchronize(streams[s]));
        CHECK(cudaStreamQuery(streams[s]));
        CHECK(cudaStreamDestroy(streams[s]));
    }
    for (int i = 0; i < n; i++) {
        int want = i;
        for (int round = 0; round < ROUNDS; round++)
            want = want * 3 + i / CHUNK + round;
        EXPECT(pinned[i] == want, "at %d: %d, not %d", i, pinned[i], want);
    }
    uint64_t all = digest(pinned, n * sizeof(int));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return pass("streams", "n %d digest %016llx", n, (unsigned long long)all);
}

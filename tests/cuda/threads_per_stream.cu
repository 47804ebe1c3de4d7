/*
 * Threads of the host, each on its own default stream (compiled with
 * -default-stream per-thread): <<<>>> without a stream does not mix them.
 */
#include "program.h"

#include <atomic>
#include <thread>

enum { THREADS = 4, N = 4096, ROUNDS = 12 };

__global__ void step(int *data, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor + i;
}

static std::atomic<int> wrong;

static void run(int thread, uint64_t *result)
{
    std::vector<int> data(N), want(N);
    for (int i = 0; i < N; i++)
        want[i] = data[i] = i * thread;
    int *device;
    CHECK(cudaMalloc(&device, N * 4));
    CHECK(
        cudaMemcpyAsync(device, data.data(), N * 4, cudaMemcpyHostToDevice, 0));
    for (int r = 0; r < ROUNDS; r++) {
        step<<<(N + 255) / 256, 256>>>(device, N, r + thread);
        for (int i = 0; i < N; i++)
            want[i] = want[i] * (r + thread) + i;
    }
    CHECK(cudaMemcpyAsync(data.data(), device, N * 4, cudaMemcpyDeviceToHost,
                          cudaStreamPerThread));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < N; i++)
        wrong += data[i] != want[i];
    CHECK(cudaFree(device));
    *result = digest(data);
}

int main()
{
    std::vector<std::thread> threads;
    uint64_t results[THREADS], all = 0;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back(run, t + 1, &results[t]);
    for (std::thread &thread : threads)
        thread.join();
    EXPECT(wrong == 0, "%d wrong", wrong.load());
    for (uint64_t result : results)
        all = all * 3 + result;
    return pass("threads_per_stream", "threads %d digest %016llx", THREADS,
                (unsigned long long)all);
}

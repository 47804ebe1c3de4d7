/*
 * Threads of the host that share one context: streams of their own, one table
 * on the device that all add to, errors that stay each thread's.
 */
#include "program.h"

#include <mutex>
#include <thread>

enum { THREADS = 6, N = 1000, ROUNDS = 8 };

__global__ void add(unsigned *table, int n, unsigned value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&table[i], value + i);
}

static std::mutex lock;
static int errors_seen;

static void run(int thread, unsigned *table)
{
    cudaStream_t stream;
    cudaEvent_t done;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&done));
    for (int r = 0; r < ROUNDS; r++) {
        add<<<8, 128, 0, stream>>>(table, N, thread * 100 + r);
        /* A mistake of this thread is no other thread's error. */
        if (thread % 2)
            add<<<0, 128, 0, stream>>>(table, N, 1);
        cudaError_t error = cudaGetLastError();
        EXPECT((error == cudaErrorInvalidConfiguration) == (thread % 2 == 1),
               "thread %d: %s", thread, cudaGetErrorName(error));
        std::lock_guard<std::mutex> guard(lock);
        errors_seen += error != cudaSuccess;
    }
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    unsigned *table;
    CHECK(cudaMalloc(&table, N * sizeof *table));
    CHECK(cudaMemset(table, 0, N * sizeof *table));
    CHECK(cudaDeviceSynchronize());
    std::vector<std::thread> threads;
    unsigned base = 0;
    for (int t = 0; t < THREADS; t++) {
        threads.emplace_back(run, t, table);
        for (int r = 0; r < ROUNDS; r++)
            base += t * 100 + r;
    }
    for (std::thread &thread : threads)
        thread.join();
    std::vector<unsigned> got = to_host(table, N);
    for (int i = 0; i < N; i++)
        EXPECT(got[i] == base + i * THREADS * ROUNDS, "table[%d] = %u", i,
               got[i]);
    CHECK(cudaFree(table));
    return pass("threads_shared", "errors %d digest %016llx", errors_seen,
                (unsigned long long)digest(got));
}

/*
 * Functions of the host in stream order: cudaLaunchHostFunc and
 * cudaStreamAddCallback see exactly what the work before them left, and the
 * work after them sees what they wrote.
 */
#include "program.h"

struct Note {
    volatile int *data;
    int seen, order, *calls;
    cudaError_t status;
};

__global__ void add(int *data, int value)
{
    atomicAdd(&data[threadIdx.x], value);
}

static void note(void *argument)
{
    Note *n = (Note *)argument;
    n->seen = n->data[3];
    n->data[3] = n->seen * 2;
    n->order = ++*n->calls;
}

static void CUDART_CB note_too(cudaStream_t, cudaError_t status, void *argument)
{
    note(argument);
    ((Note *)argument)->status = status;
}

int main()
{
    const int rounds = 6, bytes = 32 * sizeof(int);
    int *host, *device, calls = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMemsetAsync(device, 0, bytes, stream));
    Note notes[rounds];
    for (int r = 0; r < rounds; r++) {
        notes[r] = {host, -1, -1, &calls, cudaErrorUnknown};
        add<<<2, 32, 0, stream>>>(device, r + 1);
        CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost,
                              stream));
        if (r % 2)
            CHECK(cudaStreamAddCallback(stream, note_too, &notes[r], 0));
        else
            CHECK(cudaLaunchHostFunc(stream, note, &notes[r]));
        CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice,
                              stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    int want = 0, plain = 0;
    for (int r = 0; r < rounds; r++) {
        want += 2 * (r + 1);
        plain += 2 * (r + 1);
        EXPECT(notes[r].seen == want, "round %d: %d, not %d", r, notes[r].seen,
               want);
        EXPECT(notes[r].order == r + 1, "round %d was call %d", r,
               notes[r].order);
        EXPECT(r % 2 == 0 || notes[r].status == cudaSuccess, "status %d",
               notes[r].status);
        want *= 2;
    }
    std::vector<int> got = to_host(device, 32);
    EXPECT(got[3] == want && got[4] == plain, "%d %d", got[3], got[4]);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return pass("host_functions", "calls %d last %d", calls, got[3]);
}

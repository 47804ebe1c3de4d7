/*
 * A graph captured from two streams that fork and join through events, and
 * replayed many times; work between replays is not part of it.
 */
#include "program.h"

enum { N = 1024 };

__global__ void scale(int *data, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] *= factor;
}

__global__ void join(int *out, const int *a, const int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += a[i] - b[i];
}

int main()
{
    std::vector<int> ones(N, 1), got(N);
    int *a = to_device(ones), *b = to_device(ones);
    int *out = new_on_device<int>(N);
    cudaStream_t stream, side;
    cudaEvent_t fork, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaMemset(out, 0, N * 4));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());

    cudaStreamCaptureStatus status;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    scale<<<N / 64, 64, 0, stream>>>(a, 3);
    scale<<<N / 64, 64, 0, side>>>(b, 2);
    CHECK(cudaEventRecord(joined, side));
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
    join<<<N / 128, 128, 0, stream>>>(out, a, b);
    CHECK(cudaMemcpyAsync(got.data(), out, N * 4, cudaMemcpyDeviceToHost,
                          stream));
    CHECK(cudaStreamIsCapturing(side, &status));
    EXPECT(status == cudaStreamCaptureStatusActive, "%d", status);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone, "%d", status);
    EXPECT(got[0] == 0, "it ran while it was captured");
    EXPECT(to_host(out, N)[5] == 0, "it ran while it was captured");

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    long long want = 0, three = 1, two = 1;
    for (int round = 0; round < 8; round++) {
        CHECK(cudaGraphLaunch(exec, stream));
        if (round == 3)
            scale<<<N / 64, 64, 0, stream>>>(a, -1);
        CHECK(cudaStreamSynchronize(stream));
        three *= 3;
        two *= 2;
        want += three - two;
        three = round == 3 ? -three : three;
        for (int i = 0; i < N; i++)
            EXPECT(got[i] == want, "round %d: %d, not %lld", round, got[i],
                   want);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(joined));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(side));
    for (int *p : {a, b, out})
        CHECK(cudaFree(p));
    return pass("graph_captured", "last %lld", want);
}

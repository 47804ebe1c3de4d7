/*
 * A graph built node by node: copies, sets, kernels, a host function; launched
 * several times, then with a kernel's arguments changed.
 */
#include "program.h"

enum { N = 2048 };

__global__ void axpy(int *y, const int *x, int a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += a * x[i];
}

static void count(void *argument)
{
    ++*(int *)argument;
}

int main()
{
    std::vector<int> in(N), got(N);
    for (int i = 0; i < N; i++)
        in[i] = i * 3 - 100;
    int *x = new_on_device<int>(N), *y = new_on_device<int>(N);
    int calls = 0, factor = 2;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t up, clear, first, second, down, host;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, x, in.data(), N * 4,
                                   cudaMemcpyHostToDevice));
    cudaMemsetParams set = {};
    set.dst = y;
    set.value = 1;
    set.elementSize = 4;
    set.width = N;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    void *arguments[] = {&y, &x, &factor};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)axpy;
    kernel.gridDim = dim3(N / 128);
    kernel.blockDim = dim3(128);
    kernel.kernelParams = arguments;
    cudaGraphNode_t before[] = {up, clear};
    CHECK(cudaGraphAddKernelNode(&first, graph, before, 2, &kernel));
    CHECK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &kernel));
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
#else
    CHECK(cudaGraphAddDependencies(graph, &first, &second, 1));
#endif
    CHECK(cudaGraphAddMemcpyNode1D(&down, graph, &second, 1, got.data(), y,
                                   N * 4, cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count, &calls};
    CHECK(cudaGraphAddHostNode(&host, graph, &down, 1, &call));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 6, "%zu nodes", nodes);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < 3; round++) {
        in[7] = round * 1000;
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            EXPECT(got[i] == 1 + 4 * in[i], "round %d: %d at %d", round, got[i],
                   i);
    }
    factor = -5;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        EXPECT(got[i] == 1 - 3 * in[i], "changed: %d at %d", got[i], i);
    EXPECT(calls == 4, "%d calls", calls);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return pass("graph_explicit", "nodes %zu calls %d digest %016llx", nodes,
                calls, (unsigned long long)digest(got));
}

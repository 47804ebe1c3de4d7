/*
 * Memory that nodes of graphs allocate, recorded and made by hand: it is filled
 * by one graph, used between two launches, and freed by another graph, which is
 * recorded while it is in use, or by a call.
 *
 *   explicit   used by copies
 *   touch      by the CPU, through the address that its node was given
 */
#include "victim.h"

enum { LARGE = 700000, SMALL = 300, ROUNDS = 4 };

static bool touch;
static uint32_t host[LARGE];
static CUstream stream;
static CUfunction step;

static void show(const char *what, CUdeviceptr words, unsigned n)
{
    if (!touch)
        CHECK(cuMemcpyDtoH(host, words, n * 4));
    const uint8_t *at = touch ? (uint8_t *)words : (uint8_t *)host;
    printf("%s %016llx\n", what, (unsigned long long)victim_hash(at, n * 4));
}

static void launch_step(CUdeviceptr words, unsigned n, unsigned k)
{
    void *params[] = {&words, &n, &k};
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                         params, NULL));
}

static CUgraphExec end_recording(CUgraph *graph)
{
    CUgraphExec exec;
    CHECK(cuStreamEndCapture(stream, graph));
    CHECK(cuGraphInstantiate(&exec, *graph, 0));
    return exec;
}

static void begin_recording(void)
{
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
}

static void run(CUgraphExec exec)
{
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* Three graphs: one that allocates and fills, one that uses, one that frees. */
static void recorded(unsigned n, unsigned seed)
{
    CUdeviceptr words;
    CUgraph graphs[3];
    CUgraphExec fills, uses, frees = NULL;
    begin_recording();
    CHECK(cuMemAllocAsync(&words, n * 4, stream));
    CHECK(cuMemsetD32Async(words, seed, n, stream));
    launch_step(words, n, seed);
    fills = end_recording(&graphs[0]);
    begin_recording();
    launch_step(words, n, seed + 1);
    uses = end_recording(&graphs[1]);
    for (unsigned r = 0; r < ROUNDS; r++) {
        run(fills);
        show("filled", words, n);
        victim_change(words, n, seed + r, touch ? NULL : host);
        if (r == 0) {
            begin_recording();
            launch_step(words, n, seed + 2);
            CHECK(cuMemFreeAsync(words, stream));
            frees = end_recording(&graphs[2]);
        }
        run(uses);
        show("used", words, n);
        victim_change(words, n, seed + r + 5, touch ? NULL : host);
        if (r % 2) {
            run(frees);
        } else {
            show("freed", words, n);
            CHECK(cuMemFreeAsync(words, stream));
            CHECK(cuStreamSynchronize(stream));
        }
        CHECK(cuDeviceGraphMemTrim(0));
    }
    CHECK(cuGraphExecDestroy(fills));
    CHECK(cuGraphExecDestroy(uses));
    CHECK(cuGraphExecDestroy(frees));
    for (int i = 0; i < 3; i++)
        CHECK(cuGraphDestroy(graphs[i]));
}

static CUdeviceptr add_alloc(CUgraph graph, CUgraphNode *node, size_t bytes,
                             bool general)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = bytes};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    any.alloc.poolProps = params.poolProps;
    any.alloc.bytesize = bytes;
    if (general)
        CHECK(cuGraphAddNode(node, graph, NULL, NULL, 0, &any));
    else
        CHECK(cuGraphAddMemAllocNode(node, graph, NULL, 0, &params));
    return general ? any.alloc.dptr : params.dptr;
}

/* The nodes by hand; the memory goes by cuMemFree. */
static void by_hand(unsigned n, bool general, unsigned seed)
{
    CUgraph graph;
    CUgraphNode alloc, set;
    CUgraphExec exec;
    CHECK(cuGraphCreate(&graph, 0));
    CUdeviceptr words = add_alloc(graph, &alloc, n * 4, general);
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = words, .value = seed, .elementSize = 4, .width = n, .height = 1};
    CHECK(cuGraphAddMemsetNode(&set, graph, &alloc, 1, &params, NULL));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned r = 0; r < ROUNDS; r++) {
        run(exec);
        victim_change(words, n, seed + r, touch ? NULL : host);
        launch_step(words, n, seed);
        CHECK(cuStreamSynchronize(stream));
        show("by hand", words, n);
        CHECK(cuMemFree(words));
    }
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    CUmodule module;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 4; i++) {
        unsigned n = i % 2 ? LARGE : SMALL;
        recorded(n, 10 * i);
        by_hand(n, i > 1, 10 * i + 3);
    }
    return 0;
}

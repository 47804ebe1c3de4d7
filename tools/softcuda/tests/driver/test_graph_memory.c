/*
 * Nodes of graphs that allocate and free memory, made and captured.
 */
#include "tests/driver/driver_test.h"

enum { N = 1 << 20, BYTES = N * 4 };

static CUDA_MEM_ALLOC_NODE_PARAMS allocating(size_t bytes)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = bytes};
}

static CUgraphNode set_node(CUgraph graph, CUgraphNode before, CUdeviceptr p,
                            unsigned value)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = p, .value = value, .elementSize = 4, .width = N, .height = 1};
    OK(cuGraphAddMemsetNode(&node, graph, &before, 1, &set, NULL));
    return node;
}

static CUgraphNode down_node(CUgraph graph, CUgraphNode before, void *host,
                             CUdeviceptr p)
{
    CUgraphNode node;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    OK(cuGraphAddMemcpyNode(&node, graph, &before, 1, &copy, NULL));
    return node;
}

static uint64_t held(CUgraphMem_attribute attribute)
{
    uint64_t bytes = 1;
    OK(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

static size_t in_use(void)
{
    size_t left, all;
    OK(cuMemGetInfo(&left, &all));
    return all - left;
}

START_TEST(memory_between_two_nodes_is_a_launchs_own)
{
    static uint32_t back[N];
    CUgraph graph;
    CUgraphNode alloc, free_it;
    CUgraphExec exec;
    CUgraphNodeType type;
    CUdeviceptr told;
    CUDA_MEM_ALLOC_NODE_PARAMS params = allocating(BYTES), got;
    begin();
    size_t before = in_use();
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    CUgraphNode last = set_node(graph, alloc, params.dptr, 7);
    last = down_node(graph, last, back, params.dptr);
    OK(cuGraphAddMemFreeNode(&free_it, graph, &last, 1, params.dptr));
    OK(cuGraphNodeGetType(alloc, &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    OK(cuGraphMemAllocNodeGetParams(alloc, &got));
    ck_assert(got.dptr == params.dptr && got.bytesize == BYTES);
    OK(cuGraphMemFreeNodeGetParams(free_it, &told));
    ck_assert_uint_eq(told, params.dptr);
    ck_assert_uint_eq(held(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), BYTES);
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        memset(back, 0, sizeof back);
        OK(cuGraphLaunch(exec, NULL));
        OK(cuStreamSynchronize(NULL));
        ck_assert(back[0] == 7 && back[N - 1] == 7);
    }
    /* nothing is left that could be freed */
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(params.dptr));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec)); /* what was launched goes on */
    OK(cuCtxSynchronize());
    usleep(20000); /* the block goes with the launch's last operation */
    ck_assert_uint_eq(held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    ck_assert_uint_eq(held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), BYTES);
    ck_assert_uint_eq(in_use(), before);
    OK(cuDeviceGraphMemTrim(0));
}
END_TEST

/* Capture an allocation that the launch leaves to the program. */
static CUgraphExec keeping(CUstream s, CUdeviceptr *p, unsigned value,
                           unsigned long long flags)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(p, BYTES, s));
    OK(cuMemsetD32Async(*p, value, N, s));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphInstantiate(&exec, graph, flags));
    OK(cuGraphDestroy(graph));
    return exec;
}

START_TEST(memory_a_launch_leaves_is_freed_by_the_program)
{
    CUstream s;
    CUdeviceptr p;
    uint32_t got = 0;
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    size_t before = in_use();
    CUgraphExec exec = keeping(s, &p, 5, 0);
    for (int i = 0; i < 4; i++) {
        OK(cuGraphLaunch(exec, s));
        WANT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, s));
        OK(cuMemcpyDtoHAsync(&got, p + BYTES - 4, 4, s));
        if (i == 3)
            OK(cuGraphExecDestroy(exec)); /* the memory stays */
        OK(i % 2 ? cuMemFreeAsync(p, s) : cuMemFree(p));
        WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));
        OK(cuStreamSynchronize(s));
        ck_assert_uint_eq(got, 5);
    }
    ck_assert_uint_eq(held(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    usleep(20000);
    ck_assert_uint_eq(in_use(), before);
}
END_TEST

START_TEST(auto_free_lets_a_graph_be_launched_again)
{
    CUstream s;
    CUdeviceptr p;
    uint32_t got = 0;
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec =
        keeping(s, &p, 6, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    OK(cuGraphLaunch(exec, s));
    OK(cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 6);
}
END_TEST

START_TEST(a_graph_frees_what_another_allocates)
{
    CUstream s;
    CUdeviceptr p;
    CUgraph graph;
    CUgraphExec second;
    static uint32_t back[N];
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUgraphExec first = keeping(s, &p, 8, 0);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyDtoHAsync(back, p, BYTES, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphInstantiate(&second, graph, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(second, s));
    for (int i = 0; i < 3; i++) {
        back[N - 1] = 0;
        OK(cuGraphLaunch(first, s));
        OK(cuGraphLaunch(second, s));
        OK(cuStreamSynchronize(s));
        ck_assert_uint_eq(back[N - 1], 8);
    }
}
END_TEST

START_TEST(wrong_memory_nodes_are_refused)
{
    CUgraph graph;
    CUgraphNode node, alloc;
    CUdeviceptr plain;
    uint64_t bytes = 1;
    begin();
    OK(cuGraphCreate(&graph, 0));
    OK(cuMemAlloc(&plain, 4096));
    CUDA_MEM_ALLOC_NODE_PARAMS params = allocating(0);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL));
    params = allocating((size_t)1 << 50);
    WANT(CUDA_ERROR_OUT_OF_MEMORY,
         cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    params = allocating(4096);
    params.poolProps.location.id = 99;
    WANT(CUDA_ERROR_INVALID_DEVICE,
         cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddMemFreeNode(&node, graph, NULL, 0, plain));
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    any.alloc.poolProps = allocating(4096).poolProps;
    any.alloc.bytesize = 4096;
    OK(cuGraphAddNode(&alloc, graph, NULL, NULL, 0, &any));
    ck_assert_uint_ne(any.alloc.dptr, 0);
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeSetParams(alloc, &any));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(any.alloc.dptr));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
                                      &bytes));
    bytes = 0;
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
                                    &bytes));
    OK(cuGraphDestroy(graph));
    ck_assert_uint_eq(held(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(any.alloc.dptr));
}
END_TEST

SUITE_MAIN("softcuda driver: memory of graphs", 30,
           memory_between_two_nodes_is_a_launchs_own,
           memory_a_launch_leaves_is_freed_by_the_program,
           auto_free_lets_a_graph_be_launched_again,
           a_graph_frees_what_another_allocates, wrong_memory_nodes_are_refused)

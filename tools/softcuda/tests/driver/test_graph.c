/*
 * Graphs made node by node, executable graphs and their updates.
 */
#include <pthread.h>
#include <stdbool.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

enum { N = 1000 };

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction f;
    if (!module)
        OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* A node that adds `v` to `n` words at `p`. */
static CUDA_KERNEL_NODE_PARAMS adding(CUdeviceptr *p, unsigned *n, unsigned *v,
                                      void **args)
{
    args[0] = p;
    args[1] = n;
    args[2] = v;
    return (CUDA_KERNEL_NODE_PARAMS){.func = function("add"),
                                     .gridDimX = (*n + 127) / 128,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 128,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = args};
}

static CUDA_MEMSET_NODE_PARAMS setting(CUdeviceptr p, unsigned value, size_t n)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = p, .value = value, .elementSize = 4, .width = n, .height = 1};
}

static CUDA_MEMCPY3D down(void *host, CUdeviceptr p, size_t bytes)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = p,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = host,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

static void count(void *calls)
{
    ++*(int *)calls;
}

static void sleep_ms(void *ms)
{
    usleep((useconds_t)(uintptr_t)ms * 1000);
}

/* memset -> kernel -> copy -> host function */
struct chain {
    CUgraph graph;
    CUgraphNode set, add, copy, host;
    CUdeviceptr p;
    unsigned host_words[N], n, v;
    int calls;
};

static void make_chain(struct chain *c)
{
    void *args[3];
    *c = (struct chain){.n = N, .v = 5};
    OK(cuMemAlloc(&c->p, N * 4));
    OK(cuGraphCreate(&c->graph, 0));
    CUDA_MEMSET_NODE_PARAMS set = setting(c->p, 7, N);
    CUDA_KERNEL_NODE_PARAMS add = adding(&c->p, &c->n, &c->v, args);
    CUDA_MEMCPY3D copy = down(c->host_words, c->p, N * 4);
    CUDA_HOST_NODE_PARAMS host = {count, &c->calls};
    OK(cuGraphAddMemsetNode(&c->set, c->graph, NULL, 0, &set, NULL));
    OK(cuGraphAddKernelNode(&c->add, c->graph, &c->set, 1, &add));
    OK(cuGraphAddMemcpyNode(&c->copy, c->graph, &c->add, 1, &copy, NULL));
    OK(cuGraphAddHostNode(&c->host, c->graph, &c->copy, 1, &host));
}

static void expect_all(const struct chain *c, unsigned value)
{
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(c->host_words[i], value);
}

START_TEST(a_chain_runs_in_order_as_often_as_launched)
{
    struct chain c;
    CUgraphExec exec;
    CUstream s;
    begin();
    make_chain(&c);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuGraphInstantiate(&exec, c.graph, 0));
    c.v = 1000; /* parameters were copied */
    for (int round = 1; round <= 20; round++) {
        OK(cuGraphLaunch(exec, s));
        OK(cuStreamSynchronize(s));
        expect_all(&c, 12);
        ck_assert_int_eq(c.calls, round);
        memset(c.host_words, 0, sizeof c.host_words);
    }
    for (int round = 0; round < 50; round++)
        OK(cuGraphLaunch(exec, round % 2 ? s : NULL));
    OK(cuGraphExecDestroy(exec)); /* what was launched goes on */
    OK(cuGraphDestroy(c.graph));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(c.calls, 70);
    expect_all(&c, 12);
}
END_TEST

START_TEST(a_launch_takes_its_place_in_the_stream)
{
    struct chain c;
    CUgraphExec exec;
    CUstream s;
    CUdeviceptr out;
    unsigned got;
    begin();
    make_chain(&c);
    OK(cuMemAlloc(&out, 4));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuGraphInstantiate(&exec, c.graph, 0));
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)30));
    OK(cuMemsetD32Async(c.p, 1, N, s)); /* before */
    OK(cuGraphLaunch(exec, s));
    OK(cuMemcpyDtoDAsync(out, c.p, 4, s)); /* behind */
    OK(cuMemsetD32Async(c.p, 2, N, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&got, out, 4));
    ck_assert_uint_eq(got, 12);
    expect_all(&c, 12);
}
END_TEST

START_TEST(branches_run_at_the_same_time_and_join)
{
    CUgraph graph;
    CUgraphNode a, b, joined;
    CUgraphExec exec;
    int calls = 0;
    begin();
    CUdeviceptr p;
    unsigned turns = 3000000, got;
    OK(cuMemAlloc(&p, 4));
    void *args[] = {&p, &turns};
    CUDA_KERNEL_NODE_PARAMS spin = {.func = function("spin"),
                                    .gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = args};
    CUDA_HOST_NODE_PARAMS nap = {sleep_ms, (void *)50}, last = {count, &calls};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&a, graph, NULL, 0, &spin));
    OK(cuGraphAddHostNode(&b, graph, NULL, 0, &nap));
    CUgraphNode both[] = {a, b};
    OK(cuGraphAddHostNode(&joined, graph, both, 2, &last));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    ck_assert_int_eq(calls, 0);
    OK(cuStreamSynchronize(NULL));
    ck_assert_int_eq(calls, 1);
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, turns);
}
END_TEST

START_TEST(structure_is_told)
{
    struct chain c;
    CUgraphNode nodes[8], from[8], to[8];
    size_t n = 0;
    CUgraphNodeType type;
    begin();
    make_chain(&c);
    OK(cuGraphGetNodes(c.graph, NULL, &n));
    ck_assert_uint_eq(n, 4);
    n = 8;
    OK(cuGraphGetNodes(c.graph, nodes, &n));
    ck_assert(n == 4 && nodes[0] == c.set && nodes[3] == c.host && !nodes[4]);
    n = 2;
    OK(cuGraphGetNodes(c.graph, nodes, &n));
    ck_assert_uint_eq(n, 2);
    OK(cuGraphGetRootNodes(c.graph, NULL, &n));
    ck_assert_uint_eq(n, 1);
    n = 8;
    OK(cuGraphGetRootNodes(c.graph, nodes, &n));
    ck_assert(n == 1 && nodes[0] == c.set && !nodes[1]);
    OK(cuGraphGetEdges(c.graph, NULL, NULL, NULL, &n));
    ck_assert_uint_eq(n, 3);
    OK(cuGraphGetEdges(c.graph, from, to, NULL, &n));
    ck_assert(from[0] == c.set && to[0] == c.add && to[2] == c.host);
    n = 8;
    OK(cuGraphNodeGetDependencies(c.copy, nodes, NULL, &n));
    ck_assert(n == 1 && nodes[0] == c.add);
    n = 8;
    OK(cuGraphNodeGetDependentNodes(c.copy, nodes, NULL, &n));
    ck_assert(n == 1 && nodes[0] == c.host);
    OK(cuGraphNodeGetType(c.copy, &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddDependencies(c.graph, &c.set, &c.add, NULL, 1));
    OK(cuGraphAddDependencies(c.graph, &c.set, &c.host, NULL, 1));
    OK(cuGraphRemoveDependencies(c.graph, &c.set, &c.host, NULL, 1));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphRemoveDependencies(c.graph, &c.set, &c.host, NULL, 1));
    OK(cuGraphDestroyNode(c.copy));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(c.copy));
    OK(cuGraphGetEdges(c.graph, NULL, NULL, NULL, &n));
    ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(parameters_are_read_and_changed)
{
    struct chain c;
    CUgraphExec exec;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS host;
    unsigned enabled = 2;
    void *args[3];
    begin();
    make_chain(&c);
    OK(cuGraphKernelNodeGetParams(c.add, &kernel));
    ck_assert_uint_eq(*(unsigned *)kernel.kernelParams[2], 5);
    OK(cuGraphMemsetNodeGetParams(c.set, &set));
    ck_assert_uint_eq(set.value, 7);
    OK(cuGraphMemcpyNodeGetParams(c.copy, &copy));
    ck_assert_uint_eq(copy.srcDevice, c.p);
    OK(cuGraphHostNodeGetParams(c.host, &host));
    ck_assert(host.fn == count);
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphHostNodeGetParams(c.add, &host));
    OK(cuGraphInstantiate(&exec, c.graph, 0));
    c.v = 100;
    kernel = adding(&c.p, &c.n, &c.v, args);
    OK(cuGraphExecKernelNodeSetParams(exec, c.add, &kernel));
    set.value = 9;
    OK(cuGraphExecMemsetNodeSetParams(exec, c.set, &set, NULL));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    expect_all(&c, 109);
    /* the graph itself did not change */
    CUgraphExec second;
    OK(cuGraphInstantiate(&second, c.graph, 0));
    OK(cuGraphLaunch(second, NULL));
    OK(cuCtxSynchronize());
    expect_all(&c, 12);
    OK(cuGraphKernelNodeSetParams(c.add, &kernel));
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphExecUpdate(second, c.graph, &info));
    OK(cuGraphNodeSetEnabled(second, c.set, 0));
    OK(cuGraphNodeGetEnabled(second, c.set, &enabled));
    ck_assert_uint_eq(enabled, 0);
    OK(cuGraphLaunch(second, NULL));
    OK(cuCtxSynchronize());
    expect_all(&c, 112);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphExecMemsetNodeSetParams(exec, c.add, &set, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphExecKernelNodeSetParams(NULL, c.add, &kernel));
    CUgraphNode more;
    OK(cuGraphAddEmptyNode(&more, c.graph, NULL, 0));
    WANT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
         cuGraphExecUpdate(second, c.graph, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}
END_TEST

START_TEST(child_graphs_and_clones_are_copies)
{
    struct chain c;
    CUgraph outer, clone, inside;
    CUgraphNode child, after, found;
    CUgraphExec exec;
    int calls = 0;
    begin();
    make_chain(&c);
    OK(cuGraphCreate(&outer, 0));
    OK(cuGraphAddChildGraphNode(&child, outer, NULL, 0, c.graph));
    CUDA_HOST_NODE_PARAMS host = {count, &calls};
    OK(cuGraphAddHostNode(&after, outer, &child, 1, &host));
    OK(cuGraphClone(&clone, outer));
    OK(cuGraphNodeFindInClone(&found, after, clone));
    ck_assert_ptr_ne(found, after);
    OK(cuGraphChildGraphNodeGetGraph(child, &inside));
    ck_assert_ptr_ne(inside, c.graph);
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inside));
    OK(cuGraphDestroy(outer));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphNodeFindInClone(&found, after, clone));
    OK(cuGraphInstantiate(&exec, clone, 0));
    OK(cuGraphDestroy(clone));
    for (int i = 0; i < 5; i++)
        OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    expect_all(&c, 12);
    ck_assert_int_eq(c.calls, 5);
    ck_assert_int_eq(calls, 5);
}
END_TEST

START_TEST(events_are_recorded_and_waited_for)
{
    CUgraph graph;
    CUgraphNode nap, record, wait, host;
    CUgraphExec exec;
    CUevent done, gate, got;
    CUstream s, t;
    int calls = 0;
    begin();
    OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&gate, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&graph, 0));
    CUDA_HOST_NODE_PARAMS sleep = {sleep_ms, (void *)40}, one = {count, &calls};
    OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, gate));
    OK(cuGraphAddHostNode(&nap, graph, &wait, 1, &sleep));
    OK(cuGraphAddHostNode(&host, graph, &nap, 1, &one));
    OK(cuGraphAddEventRecordNode(&record, graph, &host, 1, done));
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    ck_assert_ptr_eq(got, done);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuLaunchHostFunc(t, sleep_ms, (void *)40));
    OK(cuEventRecord(gate, t));
    OK(cuGraphLaunch(exec, s));
    WANT(CUDA_ERROR_NOT_READY, cuEventQuery(done));
    OK(cuEventSynchronize(done));
    ck_assert_int_eq(calls, 1);
    OK(cuEventQuery(gate));
    OK(cuEventDestroy(gate));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
}
END_TEST

START_TEST(what_cannot_run_is_refused)
{
    struct chain c;
    CUgraphNode node;
    CUgraphExec exec;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_MEMCPY3D copy;
    void *args[3];
    begin();
    make_chain(&c);
    kernel = adding(&c.p, &c.n, &c.v, args);
    kernel.blockDimX = 5000;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddKernelNode(&node, c.graph, NULL, 0, &kernel));
    kernel = adding(&c.p, &c.n, &c.v, args);
    kernel.func = (CUfunction)&c;
    WANT(CUDA_ERROR_INVALID_HANDLE,
         cuGraphAddKernelNode(&node, c.graph, NULL, 0, &kernel));
    set = setting(c.p, 1, N + 1000000);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddMemsetNode(&node, c.graph, NULL, 0, &set, NULL));
    set = setting(c.p, 1, N);
    set.elementSize = 3;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddMemsetNode(&node, c.graph, NULL, 0, &set, NULL));
    copy = down(c.host_words, 4096, 4);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddMemcpyNode(&node, c.graph, NULL, 0, &copy, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddEmptyNode(&node, c.graph, NULL, 1));
    CUgraphNode wrong[] = {(CUgraphNode)c.graph};
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddEmptyNode(&node, c.graph, wrong, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, NULL, NULL, 0));
    CUgraphNodeParams choice = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    WANT(CUDA_ERROR_NOT_SUPPORTED,
         cuGraphAddNode(&node, c.graph, NULL, NULL, 0, &choice));
    choice.type = (CUgraphNodeType)99;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuGraphAddNode(&node, c.graph, NULL, NULL, 0, &choice));
    OK(cuGraphAddDependencies(c.graph, &c.host, &c.set, NULL, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, c.graph, 0));
    OK(cuGraphRemoveDependencies(c.graph, &c.host, &c.set, NULL, 1));
    OK(cuGraphInstantiate(&exec, c.graph, 0));
    OK(cuMemFree(c.p));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, NULL));
    OK(cuGraphExecDestroy(exec));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(exec));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, NULL));
    OK(cuGraphDestroy(c.graph));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(c.graph));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&c.graph, 1));
}
END_TEST

START_TEST(a_long_graph_keeps_its_order)
{
    enum { LENGTH = 3000 };
    CUgraph graph;
    CUgraphNode before = NULL, node;
    CUgraphExec exec;
    CUdeviceptr p;
    unsigned n = 1, v = 1, got;
    void *args[3];
    begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 0, 1));
    OK(cuGraphCreate(&graph, 0));
    CUDA_KERNEL_NODE_PARAMS kernel = adding(&p, &n, &v, args);
    for (int i = 0; i < LENGTH; i++) {
        OK(cuGraphAddKernelNode(&node, graph, &before, i > 0, &kernel));
        before = node;
    }
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, NULL));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 3 * LENGTH);
}
END_TEST

START_TEST(an_empty_graph_can_be_launched)
{
    CUgraph graph, outer;
    CUgraphNode node;
    CUgraphExec exec;
    begin();
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphUpload(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuGraphCreate(&outer, 0));
    OK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    OK(cuGraphInstantiate(&exec, outer, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
}
END_TEST

static CUcontext shared;
static CUgraphExec common;

/* Captures, launches and destroys graphs of its own, and launches one that
 * the others launch as well. */
static void *churn(void *failed)
{
    CUstream s;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p;
    bool ok = !cuCtxSetCurrent(shared) && !cuMemAlloc(&p, 256) &&
              !cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    for (unsigned i = 0; ok && i < 60; i++) {
        unsigned got = 0;
        ok = !cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) &&
             !cuMemsetD32Async(p, i, 64, s) &&
             !cuMemcpyDtoDAsync(p + 128, p, 128, s) &&
             !cuStreamEndCapture(s, &graph) &&
             !cuGraphInstantiate(&exec, graph, 0) && !cuGraphDestroy(graph) &&
             !cuGraphLaunch(exec, s) && !cuGraphLaunch(common, s) &&
             !cuGraphExecDestroy(exec) &&
             !cuMemcpyAsync((CUdeviceptr)&got, p + 252, 4, s) &&
             !cuStreamSynchronize(s) && got == i;
    }
    if (!ok)
        *(bool *)failed = true;
    return NULL;
}

START_TEST(threads_do_not_disturb_each_other)
{
    enum { THREADS = 4 };
    struct chain c;
    pthread_t threads[THREADS];
    bool failed[THREADS] = {false};
    shared = begin();
    make_chain(&c);
    OK(cuGraphInstantiate(&common, c.graph, 0));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, &failed[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert(!failed[i]);
    ck_assert_int_eq(c.calls, THREADS * 60);
    expect_all(&c, 12);
}
END_TEST

START_TEST(a_fault_inside_shows_and_stays)
{
    CUgraph graph;
    CUgraphNode first, second;
    CUgraphExec exec;
    CUcontext ctx = begin();
    int calls = 0;
    CUDA_KERNEL_NODE_PARAMS stop = {.func = function("stop"),
                                    .gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1};
    CUDA_HOST_NODE_PARAMS host = {count, &calls};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&first, graph, NULL, 0, &stop));
    OK(cuGraphAddHostNode(&second, graph, &first, 1, &host));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    WANT(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(NULL));
    WANT(CUDA_ERROR_LAUNCH_FAILED, cuGraphLaunch(exec, NULL));
    ck_assert_int_eq(calls, 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuCtxDestroy(ctx));
}
END_TEST

SUITE_MAIN("softcuda driver: graphs", 30,
           a_chain_runs_in_order_as_often_as_launched,
           a_launch_takes_its_place_in_the_stream,
           branches_run_at_the_same_time_and_join, structure_is_told,
           parameters_are_read_and_changed, child_graphs_and_clones_are_copies,
           events_are_recorded_and_waited_for, what_cannot_run_is_refused,
           a_long_graph_keeps_its_order, an_empty_graph_can_be_launched,
           threads_do_not_disturb_each_other, a_fault_inside_shows_and_stays)

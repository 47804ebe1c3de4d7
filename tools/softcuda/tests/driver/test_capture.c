/*
 * Stream capture: what is noted down, across streams, and what is refused.
 */
#include <pthread.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

static CUdeviceptr words; /* 16 of them, 0 */

static CUmodule module;

static CUfunction function(const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUstream stream(void)
{
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    return s;
}

static CUevent event(void)
{
    CUevent e;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    return e;
}

static void start(void)
{
    begin();
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuMemAlloc(&words, 64));
    OK(cuMemsetD32(words, 0, 16));
    OK(cuCtxSynchronize());
}

/* words[at] += v */
static CUresult add(CUstream s, unsigned at, unsigned v)
{
    CUdeviceptr p = words + at * 4;
    unsigned n = 1;
    return cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1, 0, s,
                          (void *[]){&p, &n, &v}, NULL);
}

static unsigned word(unsigned at)
{
    unsigned value;
    OK(cuMemcpyDtoH(&value, words + at * 4, 4));
    return value;
}

static size_t nodes_of(CUgraph graph)
{
    size_t n = 0;
    OK(cuGraphGetNodes(graph, NULL, &n));
    return n;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void count(void *calls)
{
    ++*(int *)calls;
}

START_TEST(every_kind_of_work_is_captured)
{
    CUgraph graph;
    unsigned back[16] = {0};
    int calls = 0;
    start();
    CUstream s = stream();
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD32Async(words, 3, 16, s));
    OK(add(s, 2, 10));
    OK(cuMemcpyDtoDAsync(words + 40, words + 8, 4, s));
    OK(cuMemcpyDtoHAsync(back, words, 64, s));
    OK(cuLaunchHostFunc(s, count, &calls));
    OK(cuStreamEndCapture(s, &graph));
    ck_assert_uint_eq(nodes_of(graph), 5);
    ck_assert_uint_eq(word(2), 0);
    CUgraphExec exec = instantiate(graph);
    for (int i = 1; i <= 3; i++) {
        OK(cuGraphLaunch(exec, s));
        OK(cuStreamSynchronize(s));
        ck_assert(back[2] == 13 && back[10] == 13 && back[15] == 3);
        ck_assert_int_eq(calls, i);
    }
    /* a launch is captured as a child graph */
    CUgraph outer;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuGraphLaunch(exec, s));
    OK(add(s, 2, 1));
    OK(cuStreamEndCapture(s, &outer));
    ck_assert_uint_eq(nodes_of(outer), 2);
    OK(cuGraphLaunch(instantiate(outer), s));
    OK(cuStreamSynchronize(s));
    ck_assert_uint_eq(word(2), 14);
}
END_TEST

START_TEST(shaped_copies_are_captured)
{
    unsigned host[4][8], back[4][3];
    CUgraph graph;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR d = {8, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    start();
    CUstream s = stream();
    fill_random((uint8_t *)host, sizeof host, 1);
    OK(cuArrayCreate(&array, &d));
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 32,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .WidthInBytes = 32,
                        .Height = 4};
    CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .srcXInBytes = 8,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .dstPitch = 12,
                          .WidthInBytes = 12,
                          .Height = 4};
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemcpy2DAsync(&up, s));
    OK(cuMemcpy2DAsync(&down, s));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphLaunch(instantiate(graph), s));
    OK(cuStreamSynchronize(s));
    for (int y = 0; y < 4; y++)
        ck_assert_mem_eq(back[y], &host[y][2], 12);
}
END_TEST

START_TEST(events_bring_other_streams_in)
{
    CUgraph graph;
    CUstreamCaptureStatus status;
    start();
    CUstream s = stream(), t = stream(), u = stream();
    CUevent fork = event(), join_t = event(), join_u = event();
    for (int round = 0; round < 2; round++) {
        OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        OK(add(s, 0, 1));
        OK(cuEventRecord(fork, s));
        OK(cuStreamWaitEvent(t, fork, 0));
        OK(cuStreamWaitEvent(u, fork, 0));
        OK(add(t, 1, 1));
        OK(add(u, 2, 1));
        OK(cuStreamIsCapturing(u, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        WANT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
             cuStreamEndCapture(u, &graph));
        OK(cuEventRecord(join_t, t));
        OK(cuEventRecord(join_u, u));
        OK(cuStreamWaitEvent(s, join_t, 0));
        OK(cuStreamWaitEvent(s, join_u, 0));
        OK(add(s, 0, 1));
        OK(cuStreamEndCapture(s, &graph));
        OK(cuStreamIsCapturing(u, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
        size_t edges = 0;
        OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
        /* s to t, u and its own next; t and u to that */
        ck_assert_uint_eq(edges, 5);
    }
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(exec, t));
    OK(add(t, 1, 1)); /* a stream of its own again */
    OK(cuStreamSynchronize(t));
    ck_assert_uint_eq(word(0), 20);
    ck_assert_uint_eq(word(1), 11);
    ck_assert_uint_eq(word(2), 10);
}
END_TEST

START_TEST(what_is_not_joined_fails)
{
    CUgraph graph = (CUgraph)1;
    start();
    CUstream s = stream(), t = stream();
    CUevent fork = event();
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(add(t, 1, 1));
    WANT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(s, &graph));
    ck_assert_ptr_null(graph);
    WANT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &graph));
    OK(add(t, 1, 1));
    ck_assert_uint_eq(word(1), 1);
    WANT(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(fork));
    WANT(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(fork));
    WANT(CUDA_ERROR_CAPTURED_EVENT, cuStreamWaitEvent(t, fork, 0));
    OK(cuEventRecord(fork, s));
    OK(cuEventSynchronize(fork));
}
END_TEST

START_TEST(what_cannot_be_captured_fails_the_capture)
{
    CUgraph graph;
    CUstreamCaptureStatus status;
    CUdeviceptr p;
    start();
    CUstream s = stream(), t = stream();
    CUevent outside = event();
    OK(cuEventRecord(outside, t));
    OK(cuMemAllocAsync(&p, 64, t)); /* no node's */
    for (int what = 0; what < 5; what++) {
        OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
        if (what == 0)
            WANT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s));
        else if (what == 1)
            WANT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(s));
        else if (what == 2)
            WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));
        else if (what == 3)
            WANT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                 cuStreamWaitEvent(s, outside, 0));
        else
            WANT(CUDA_ERROR_INVALID_VALUE, cuStreamEndCapture(s, NULL));
        if (what == 4) {
            OK(cuStreamEndCapture(s, &graph));
            continue;
        }
        OK(cuStreamIsCapturing(s, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, add(s, 0, 1));
        WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
             cuStreamEndCapture(s, &graph));
        OK(add(s, 0, 1));
    }
    ck_assert_uint_eq(word(0), 4);
}
END_TEST

START_TEST(null_stream_must_not_wait_for_a_capture)
{
    CUgraph graph;
    CUstream s, free;
    start();
    s = stream();
    OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
    WANT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    WANT(CUDA_ERROR_ILLEGAL_STATE,
         cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    WANT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, add(NULL, 0, 1));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuStreamBeginCapture(free, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(add(NULL, 0, 1));
    OK(cuStreamEndCapture(free, &graph));
    ck_assert_uint_eq(word(0), 1);
}
END_TEST

START_TEST(captures_are_kept_apart)
{
    CUgraph graph;
    start();
    CUstream s = stream(), t = stream();
    CUevent e = event();
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(e, s));
    WANT(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(t, e, 0));
    WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
    WANT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(t, &graph));
}
END_TEST

START_TEST(dependencies_can_be_seen_and_set)
{
    CUgraph graph, given;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    const CUgraphNode *before;
    size_t n = 9;
    CUgraphNode extra;
    start();
    CUstream s = stream();
    OK(cuGraphCreate(&given, 0));
    OK(cuGraphAddEmptyNode(&extra, given, NULL, 0));
    OK(cuStreamBeginCaptureToGraph(s, given, &extra, NULL, 1,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(given));
    OK(add(s, 0, 1));
    OK(cuStreamGetCaptureInfo(s, &status, &id, &graph, &before, NULL, &n));
    ck_assert(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id > 0 && n == 1);
    ck_assert_ptr_eq(graph, given);
    ck_assert_ptr_ne(before[0], extra);
    OK(cuStreamUpdateCaptureDependencies(s, &extra, NULL, 1,
                                         CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cuStreamGetCaptureInfo(s, &status, NULL, NULL, &before, NULL, &n));
    ck_assert_uint_eq(n, 2);
    OK(cuStreamUpdateCaptureDependencies(s, &extra, NULL, 1,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(add(s, 1, 1));
    OK(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cuStreamEndCapture(s, &graph));
    ck_assert_ptr_eq(graph, given);
    ck_assert_uint_eq(nodes_of(given), 3);
    OK(cuGraphDestroy(given));
}
END_TEST

START_TEST(external_events_become_nodes)
{
    CUgraph graph;
    CUgraphNode nodes[4];
    CUgraphNodeType type;
    size_t n = 4;
    start();
    CUstream s = stream();
    CUevent e = event(), outside = event();
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamWaitEvent(s, outside, CU_EVENT_WAIT_EXTERNAL));
    OK(add(s, 0, 1));
    OK(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphGetNodes(graph, nodes, &n));
    ck_assert_uint_eq(n, 3);
    OK(cuGraphNodeGetType(nodes[0], &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    OK(cuGraphNodeGetType(nodes[2], &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    OK(cuGraphLaunch(instantiate(graph), s));
    OK(cuEventSynchronize(e));
    ck_assert_uint_eq(word(0), 1);
}
END_TEST

static CUresult foreign;
static CUcontext shared;

static void *end_elsewhere(void *s)
{
    CUgraph graph;
    cuCtxSetCurrent(shared);
    foreign = cuStreamEndCapture(s, &graph);
    return NULL;
}

START_TEST(streams_and_threads_that_go_end_captures)
{
    CUgraph graph;
    pthread_t thread;
    start();
    CUstream s = stream(), t = stream();
    CUevent fork = event();
    OK(cuCtxGetCurrent(&shared));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    pthread_create(&thread, NULL, end_elsewhere, s);
    pthread_join(thread, NULL);
    ck_assert_int_eq(foreign, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(add(t, 0, 1));
    OK(cuStreamDestroy(t));
    WANT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(s, &graph));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(add(s, 0, 1));
    OK(cuStreamDestroy(s));
    s = stream();
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    pthread_create(&thread, NULL, end_elsewhere, s);
    pthread_join(thread, NULL);
    ck_assert_int_eq(foreign, CUDA_SUCCESS);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(add(s, 0, 1));
    OK(cuCtxDestroy(shared));
}
END_TEST

START_TEST(what_was_joined_outlives_its_stream)
{
    CUgraph graph;
    start();
    /* destroyed behind the join, or between what is joined and that */
    for (int late = 0; late < 2; late++) {
        CUstream s = stream(), t = stream();
        CUevent fork = event(), join = event();
        OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
        OK(add(s, 0, 1));
        OK(cuEventRecord(fork, s));
        OK(cuStreamWaitEvent(t, fork, 0));
        OK(add(t, 1, 10));
        OK(cuEventRecord(join, t));
        if (!late)
            OK(cuStreamDestroy(t));
        OK(cuStreamWaitEvent(s, join, 0));
        if (late)
            OK(cuStreamDestroy(t));
        OK(cuEventDestroy(fork));
        OK(cuEventDestroy(join));
        OK(add(s, 1, 100));
        OK(cuStreamEndCapture(s, &graph));
        ck_assert_uint_eq(nodes_of(graph), 3);
        OK(cuGraphLaunch(instantiate(graph), s));
        OK(cuStreamSynchronize(s));
        ck_assert_uint_eq(word(0), 1 + (unsigned)late);
        ck_assert_uint_eq(word(1), 110 * (1 + (unsigned)late));
    }
}
END_TEST

SUITE_MAIN("softcuda driver: capture", 30, every_kind_of_work_is_captured,
           shaped_copies_are_captured, events_bring_other_streams_in,
           what_is_not_joined_fails, what_cannot_be_captured_fails_the_capture,
           null_stream_must_not_wait_for_a_capture, captures_are_kept_apart,
           dependencies_can_be_seen_and_set, external_events_become_nodes,
           streams_and_threads_that_go_end_captures,
           what_was_joined_outlives_its_stream)

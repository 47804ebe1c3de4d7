/* Calls of the driver, one of each kind; see calls.h. */
#include "calls.h"

#include "interpose/victims/victim.h"

enum { BYTES = 1 << 20 };

/* ---- what the calls are about ------------------------------------------------- */

static struct {
    CUmodule module;
    CUfunction step;
    CUdeviceptr a, b; /* BYTES each */
    CUstream stream;
    CUevent event, done;
    CUgraph graph;
    CUgraphExec exec;
    CUmemoryPool pool;
    unsigned words, number; /* of step */
} s;

static uint32_t plain[1024];

static void launch(void)
{
    void *params[] = {&s.a, &s.words, &s.number};
    CHECK(cuLaunchKernel(s.step, 1, 1, 1, 32, 1, 1, 0, s.stream, params, NULL));
}

static void make_graph(void)
{
    CHECK(cuStreamBeginCapture(s.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch();
    CHECK(cuMemsetD32Async(s.b, 1, 64, s.stream));
    CHECK(cuMemcpyDtoDAsync(s.b, s.a, 64, s.stream));
    launch();
    CHECK(cuStreamEndCapture(s.stream, &s.graph));
    CHECK(cuGraphInstantiate(&s.exec, s.graph, 0));
}

void calls_prepare(void)
{
    victim_start();
    CHECK(cuModuleLoadData(&s.module, victim_ptx));
    CHECK(cuModuleGetFunction(&s.step, s.module, "step"));
    CHECK(cuMemAlloc(&s.a, BYTES));
    CHECK(cuMemAlloc(&s.b, BYTES));
    CHECK(cuMemsetD8(s.a, 0, BYTES));
    CHECK(cuStreamCreate(&s.stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&s.event, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&s.done, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventRecord(s.done, s.stream));
    CHECK(cuDeviceGetDefaultMemPool(&s.pool, 0));
    s.words = 32;
    make_graph();
}

void calls_wait(void)
{
    CHECK(cuCtxSynchronize());
}

/* ---- the kinds ------------------------------------------------------------------ */

static void launch_wait(void)
{
    launch();
    CHECK(cuStreamSynchronize(s.stream));
}

static void launch_config(void)
{
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = s.stream};
    void *params[] = {&s.a, &s.words, &s.number};
    CHECK(cuLaunchKernelEx(&config, s.step, params, NULL));
}

static void launch_graph(void)
{
    CHECK(cuGraphLaunch(s.exec, s.stream));
}

static void copy_up(void)
{
    CHECK(cuMemcpyHtoD(s.a, plain, 4));
}

static void copy_down(void)
{
    CHECK(cuMemcpyDtoH(plain, s.a, 4));
}

static void copy_inside(void)
{
    CHECK(cuMemcpyDtoD(s.b, s.a, 4));
}

static void copy_any(void)
{
    CHECK(cuMemcpy(s.b, (CUdeviceptr)(uintptr_t)plain, 4));
}

static void copy_up_async(void)
{
    CHECK(cuMemcpyHtoDAsync(s.a, plain, 4, s.stream));
}

static void copy_down_async(void)
{
    CHECK(cuMemcpyDtoHAsync(plain, s.a, 4, s.stream));
}

static void copy_inside_async(void)
{
    CHECK(cuMemcpyDtoDAsync(s.b, s.a, 4, s.stream));
}

static void copy_rows(void)
{
    const CUDA_MEMCPY2D how = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = plain,
                               .srcPitch = 64,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = s.a,
                               .dstPitch = 512,
                               .WidthInBytes = 16,
                               .Height = 8};
    CHECK(cuMemcpy2DAsync(&how, s.stream));
}

static void set_bytes(void)
{
    CHECK(cuMemsetD8(s.a, 1, 4));
}

static void set_words(void)
{
    CHECK(cuMemsetD32Async(s.a, 1, 4, s.stream));
}

static void set_rows(void)
{
    CHECK(cuMemsetD2D8Async(s.a, 512, 1, 16, 8, s.stream));
}

static void event_record(void)
{
    CHECK(cuEventRecord(s.event, s.stream));
}

static void event_query(void)
{
    CHECK(cuEventQuery(s.done));
}

static void event_synchronize(void)
{
    CHECK(cuEventSynchronize(s.done));
}

static void event_create(void)
{
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventDestroy(event));
}

static void stream_query(void)
{
    CUresult result = cuStreamQuery(s.stream);
    if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
}

static void stream_synchronize(void)
{
    CHECK(cuStreamSynchronize(s.stream));
}

static void stream_wait_event(void)
{
    CHECK(cuStreamWaitEvent(s.stream, s.done, 0));
}

static void stream_create(void)
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamDestroy(stream));
}

static void context_synchronize(void)
{
    CHECK(cuCtxSynchronize());
}

static void allocate(void)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, BYTES));
    CHECK(cuMemFree(at));
}

static void allocate_little(void)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, 100));
    CHECK(cuMemFree(at));
}

static void allocate_much(void)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, 32 * BYTES));
    CHECK(cuMemFree(at));
}

static void allocate_rows(void)
{
    CUdeviceptr at;
    size_t pitch;
    CHECK(cuMemAllocPitch(&at, &pitch, 100, 100, 4));
    CHECK(cuMemFree(at));
}

static void allocate_async(void)
{
    CUdeviceptr at;
    CHECK(cuMemAllocAsync(&at, BYTES, s.stream));
    CHECK(cuMemFreeAsync(at, s.stream));
}

static void allocate_from_pool(void)
{
    CUdeviceptr at;
    CHECK(cuMemAllocFromPoolAsync(&at, BYTES, s.pool, s.stream));
    CHECK(cuMemFreeAsync(at, s.stream));
}

static void allocate_host(void)
{
    void *at;
    CHECK(cuMemHostAlloc(&at, 4096, 0));
    CHECK(cuMemFreeHost(at));
}

static void map_memory(void)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc access = {prop.location,
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    CHECK(cuMemAddressReserve(&at, 2 * BYTES, 0, 0, 0));
    CHECK(cuMemCreate(&handle, 2 * BYTES, &prop, 0));
    CHECK(cuMemMap(at, 2 * BYTES, 0, handle, 0));
    CHECK(cuMemSetAccess(at, 2 * BYTES, &access, 1));
    CHECK(cuMemUnmap(at, 2 * BYTES));
    CHECK(cuMemRelease(handle));
    CHECK(cuMemAddressFree(at, 2 * BYTES));
}

static void ask_context(void)
{
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxPushCurrent(context));
    CHECK(cuCtxPopCurrent(&context));
}

static void ask_pointer(void)
{
    unsigned type;
    CUdeviceptr base;
    size_t bytes;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, s.a));
    CHECK(cuMemGetAddressRange(&base, &bytes, s.a + 4));
}

static void ask_memory(void)
{
    size_t left, total;
    CHECK(cuMemGetInfo(&left, &total));
}

static void ask_kernel(void)
{
    int value;
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, s.step));
}

static void capture(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CHECK(cuStreamBeginCapture(s.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch();
    CHECK(cuStreamEndCapture(s.stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void load_module(void)
{
    CUmodule module;
    CUfunction step;
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuModuleUnload(module));
}

const struct call calls[] = {
    {"launch", launch, true},
    {"launch-wait", launch_wait, false},
    {"launch-config", launch_config, true},
    {"launch-graph", launch_graph, true},
    {"copy-up", copy_up, true},
    {"copy-down", copy_down, true},
    {"copy-inside", copy_inside, true},
    {"copy-any", copy_any, true},
    {"copy-up-async", copy_up_async, true},
    {"copy-down-async", copy_down_async, true},
    {"copy-inside-async", copy_inside_async, true},
    {"copy-rows", copy_rows, true},
    {"set-bytes", set_bytes, true},
    {"set-words-async", set_words, true},
    {"set-rows-async", set_rows, true},
    {"event-record", event_record, false},
    {"event-query", event_query, false},
    {"event-synchronize", event_synchronize, false},
    {"event-create", event_create, false},
    {"stream-query", stream_query, false},
    {"stream-synchronize", stream_synchronize, false},
    {"stream-wait-event", stream_wait_event, false},
    {"stream-create", stream_create, false},
    {"context-synchronize", context_synchronize, false},
    {"allocate", allocate, false},
    {"allocate-little", allocate_little, false},
    {"allocate-much", allocate_much, false},
    {"allocate-rows", allocate_rows, false},
    {"allocate-async", allocate_async, false},
    {"allocate-from-pool", allocate_from_pool, false},
    {"allocate-host", allocate_host, false},
    {"map-memory", map_memory, false},
    {"ask-context", ask_context, false},
    {"ask-pointer", ask_pointer, false},
    {"ask-memory", ask_memory, false},
    {"ask-kernel", ask_kernel, false},
    {"capture", capture, false},
    {"load-module", load_module, false},
    {NULL, NULL, false},
};

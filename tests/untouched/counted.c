/*
 * Driver calls in loops, by a program that knows nothing of this project and
 * never touches device memory from the CPU: `counted N`, N calls of each kind.
 *
 * Printed for each kind, if not zero: "KIND driver NAME COUNT", calls that came
 * to the planted driver (tests/drivers/planted.h), and "KIND heap calls COUNT",
 * calls of malloc and its like by this thread, but not those that the driver
 * makes. trace.c adds what else happened between the marks. In the end "process
 * status NAME COUNT", threads and KiB of memory.
 */
#include "marks.h"

#include "drivers/planted.h"
#include "interpose/victims/victim.h"

#include <errno.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 1 << 20, WARM = 300, EXPORTS_MOST = 2048 };

/* ---- the heap -------------------------------------------------------------- */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);
extern void __libc_free(void *at);

static _Thread_local const volatile long *inside; /* set: this thread counts */
static unsigned long heap_calls;

static void count_heap(void)
{
    heap_calls += inside && *inside == 0;
}

PLANTED_EXPORT void *malloc(size_t bytes)
{
    count_heap();
    return __libc_malloc(bytes);
}

PLANTED_EXPORT void *calloc(size_t count, size_t bytes)
{
    count_heap();
    return __libc_calloc(count, bytes);
}

PLANTED_EXPORT void *realloc(void *at, size_t bytes)
{
    count_heap();
    return __libc_realloc(at, bytes);
}

PLANTED_EXPORT void *memalign(size_t align, size_t bytes)
{
    count_heap();
    return __libc_memalign(align, bytes);
}

PLANTED_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    return memalign(align, bytes);
}

PLANTED_EXPORT int posix_memalign(void **at, size_t align, size_t bytes)
{
    *at = memalign(align, bytes);
    return *at ? 0 : ENOMEM;
}

PLANTED_EXPORT void free(void *at)
{
    count_heap();
    __libc_free(at);
}

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

static void prepare(void)
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

static const struct {
    const char *name;
    void (*call)(void);
} kinds[] = {
    {"launch", launch},
    {"launch-wait", launch_wait},
    {"launch-config", launch_config},
    {"launch-graph", launch_graph},
    {"copy-up", copy_up},
    {"copy-down", copy_down},
    {"copy-inside", copy_inside},
    {"copy-any", copy_any},
    {"copy-up-async", copy_up_async},
    {"copy-down-async", copy_down_async},
    {"copy-inside-async", copy_inside_async},
    {"copy-rows", copy_rows},
    {"set-bytes", set_bytes},
    {"set-words-async", set_words},
    {"set-rows-async", set_rows},
    {"event-record", event_record},
    {"event-query", event_query},
    {"event-synchronize", event_synchronize},
    {"event-create", event_create},
    {"stream-query", stream_query},
    {"stream-synchronize", stream_synchronize},
    {"stream-wait-event", stream_wait_event},
    {"stream-create", stream_create},
    {"context-synchronize", context_synchronize},
    {"allocate", allocate},
    {"allocate-little", allocate_little},
    {"allocate-much", allocate_much},
    {"allocate-rows", allocate_rows},
    {"allocate-async", allocate_async},
    {"allocate-from-pool", allocate_from_pool},
    {"allocate-host", allocate_host},
    {"map-memory", map_memory},
    {"ask-context", ask_context},
    {"ask-pointer", ask_pointer},
    {"ask-memory", ask_memory},
    {"ask-kernel", ask_kernel},
    {"capture", capture},
    {"load-module", load_module},
};

/* ---- counting ------------------------------------------------------------------- */

/* No function of libc: those are hooked. */
static void mark(long which, const char *name, const volatile long *where)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(which), "D"(name), "S"(where)
                     : "rcx", "r11", "memory");
#else
    (void)which, (void)name, (void)where;
    exit(77);
#endif
}

static unsigned long long before[EXPORTS_MOST];

static void note(void)
{
    const char *name;
    for (int i = 0; i < EXPORTS_MOST; i++)
        before[i] = plantedCount(i, &name);
    heap_calls = 0;
}

static void report(const char *kind)
{
    const char *name;
    unsigned long calls = heap_calls;
    for (int i = 0; i < EXPORTS_MOST; i++) {
        unsigned long long made = plantedCount(i, &name) - before[i];
        if (made)
            printf("%s driver %s %llu\n", kind, name, made);
    }
    if (calls)
        printf("%s heap calls %lu\n", kind, calls);
    fflush(stdout);
}

static void count(const char *kind, void (*call)(void), int calls)
{
    for (int i = 0; i < WARM; i++)
        call();
    CHECK(cuCtxSynchronize());
    note();
    mark(MARK_BEGIN, kind, plantedInside());
    inside = plantedInside();
    for (int i = 0; i < calls; i++)
        call();
    inside = NULL;
    mark(MARK_END, NULL, NULL);
    report(kind);
    CHECK(cuCtxSynchronize());
}

/* What the process has become. */
static void report_process(void)
{
    static const char *const names[] = {"VmSize", "VmRSS", "Threads"};
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0)
                printf("process status %s %ld\n", names[i],
                       strtol(line + strlen(names[i]) + 1, NULL, 10));
    if (status)
        fclose(status);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    prepare();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        count(kinds[i].name, kinds[i].call, atoi(argv[1]));
    report_process();
    return 0;
}

/* Contexts and pools, and what the driver refuses, with the name of each error. */
#include "answers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <dlfcn.h>

static char plain[4096];

/* ---- pools -------------------------------------------------------------------- */

static void say_pool(const char *when, CUmemoryPool pool)
{
    char name[96];
    for (int which = 1; which <= 9; which++) {
        uint64_t value = 0xa5a5a5a5a5a5a5a5;
        CUresult result =
            cuMemPoolGetAttribute(pool, (CUmemPool_attribute)which, &value);
        snprintf(name, sizeof name, "pool attribute %d %s", which, when);
        say(name, "%s %llx", result_name(result), (unsigned long long)value);
    }
}

void ask_pools(void)
{
    CUmemoryPool pool = NULL, current = NULL;
    CUmemAccess_flags access = 0;
    CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUdeviceptr at[3] = {0};
    say_result("default pool", cuDeviceGetDefaultMemPool(&pool, 0));
    say_result("current pool", cuDeviceGetMemPool(&current, 0));
    say("pools", "%s", pool == current ? "one" : "two");
    say_pool("at first", pool);
    say_result("pool access", cuMemPoolGetAccess(&access, pool, &device));
    say("pool access flags", "%d", access);
    for (int i = 0; i < 3; i++)
        say_result("from pool", cuMemAllocAsync(&at[i], MIB << i, NULL));
    say_pool("with 7 MiB", pool);
    for (int i = 0; i < 3; i++)
        say_result("to pool", cuMemFreeAsync(at[i], NULL));
    say_result("pool ready", cuStreamSynchronize(NULL));
    say_pool("with nothing", pool);
    say_result("trim", cuMemPoolTrimTo(pool, 0));
    say_pool("trimmed", pool);
    say_result("to pool twice", cuMemFreeAsync(at[0], NULL));
    say_result("to pool zero", cuMemFreeAsync(0, NULL));
    say_result("destroy default pool", cuMemPoolDestroy(pool));
}

/* ---- refused memory ------------------------------------------------------------- */

static void refuse_memory(CUdeviceptr at)
{
    CUdeviceptr none = 0;
    size_t pitch;
    void *host;
    say_result("allocate 0", cuMemAlloc(&none, 0));
    say_result("allocate 1 TiB", cuMemAlloc(&none, (size_t)1 << 40));
    say_result("allocate everything", cuMemAlloc(&none, SIZE_MAX));
    say_result("allocate to NULL", cuMemAlloc(NULL, 4));
    say_result("rows of 0", cuMemAllocPitch(&none, &pitch, 0, 4, 4));
    say_result("no rows", cuMemAllocPitch(&none, &pitch, 4, 0, 4));
    say_result("rows of 5 by element", cuMemAllocPitch(&none, &pitch, 4, 4, 5));
    say_result("async 0", cuMemAllocAsync(&none, 0, NULL));
    say_result("async 1 TiB", cuMemAllocAsync(&none, (size_t)1 << 40, NULL));
    say_result("managed 0", cuMemAllocManaged(&none, 0, CU_MEM_ATTACH_GLOBAL));
    say_result("managed flags", cuMemAllocManaged(&none, 4, 99));
    say_result("host 0", cuMemHostAlloc(&host, 0, 0));
    say_result("host flags", cuMemHostAlloc(&host, 4, 99));
    say_result("free garbage", cuMemFree(0x123456789000));
    say_result("free 0", cuMemFree(0));
    say_result("free plain", cuMemFree((uintptr_t)plain));
    say_result("free middle", cuMemFree(at + 512));
    say_result("free one byte on", cuMemFree(at + 1));
    say_result("free as host", cuMemFreeHost((void *)(uintptr_t)at));
    say_result("register", cuMemHostRegister((void *)(uintptr_t)at, 4096, 0));
    say_result("register 0", cuMemHostRegister(plain, 0, 0));
    say_result("unregister plain", cuMemHostUnregister(plain));
    say_result("reserve 1", cuMemAddressReserve(&none, 1, 0, 0, 0));
    say_result("unmap", cuMemUnmap(at, 2 * MIB));
    say_result("address range to NULL", cuMemGetAddressRange(NULL, NULL, at));
    say_result("info to NULL", cuMemGetInfo(NULL, NULL));
}

/* Memory is MIB bytes. */
static void refuse_copies(CUdeviceptr at)
{
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = plain,
                                .srcPitch = 16,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = at,
                                .dstPitch = 8,
                                .WidthInBytes = 16,
                                .Height = 4};
    say_result("copy 0 up", cuMemcpyHtoD(at, plain, 0));
    say_result("copy up at the end", cuMemcpyHtoD(at + MIB - 4, plain, 4));
    say_result("copy up behind", cuMemcpyHtoD(at + 40 * MIB, plain, 8));
    say_result("copy down behind", cuMemcpyDtoH(plain, at + 40 * MIB, 8));
    say_result("copy up over the end", cuMemcpyHtoD(at, plain, 4096));
    say_result("copy from garbage", cuMemcpyDtoH(plain, 0x123456789000, 8));
    say_result("copy to garbage", cuMemcpyHtoD(0x123456789000, plain, 8));
    say_result("copy to zero", cuMemcpyHtoD(0, plain, 8));
    say_result("copy from NULL", cuMemcpyHtoD(at, NULL, 8));
    say_result("copy to NULL", cuMemcpyDtoH(NULL, at, 8));
    say_result("copy inside", cuMemcpyDtoD(at, at + 512, 512));
    say_result("copy inside over itself", cuMemcpyDtoD(at, at + 4, 512));
    say_result("copy inside from garbage", cuMemcpyDtoD(at, 0x123456789000, 8));
    say_result("copy rows of a short pitch", cuMemcpy2D(&rows));
    say_result("copy rows of NULL", cuMemcpy2D(NULL));
    say_result("copy any plain",
               cuMemcpy((uintptr_t)plain, (uintptr_t)plain + 64, 64));
    say_result("set 0", cuMemsetD8(at, 1, 0));
    say_result("set odd words", cuMemsetD32(at + 1, 1, 4));
    say_result("set garbage", cuMemsetD8(0x123456789000, 1, 4));
    say_result("set behind", cuMemsetD8(at + 40 * MIB, 1, 4));
    say_result("set rows of a short pitch", cuMemsetD2D8(at, 4, 1, 8, 4));
    say_result("copies done", cuCtxSynchronize());
}

/* ---- refused work ---------------------------------------------------------------- */

static CUresult launch(unsigned grid, unsigned block, unsigned shared,
                       CUstream stream, CUdeviceptr at)
{
    unsigned number = 7;
    void *params[] = {&at, &number};
    return cuLaunchKernel(answers_kernel(), grid, 1, 1, block, 1, 1, shared,
                          stream, params, NULL);
}

static void refuse_launches(CUdeviceptr at)
{
    char block[16] = {0};
    size_t bytes = sizeof block;
    void *params[] = {&at, &bytes};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CUfunction put = answers_kernel();
    say_result("launch", launch(1, 1, 0, NULL, at));
    say_result("launch no grid", launch(0, 1, 0, NULL, at));
    say_result("launch no block", launch(1, 0, 0, NULL, at));
    say_result("launch block of 2048", launch(1, 2048, 0, NULL, at));
    say_result("launch 1 GiB of shared memory",
               launch(1, 1, 1 << 30, NULL, at));
    say_result("launch NULL",
               cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    say_result("launch no parameters",
               cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    say_result("launch both parameters",
               cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    say_result("launch no configuration",
               cuLaunchKernelEx(NULL, put, params, NULL));
    say_result("launch graph NULL", cuGraphLaunch(NULL, NULL));
    say_result("launches done", cuCtxSynchronize());
}

static void refuse_kernels(void)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr at;
    size_t bytes;
    int value;
    say_result("module of nonsense", cuModuleLoadData(&module, "nonsense"));
    say_result("module of NULL", cuModuleLoadData(&module, NULL));
    say_result("module file", cuModuleLoad(&module, "/dev/null/file"));
    say_result("module", cuFuncGetModule(&module, answers_kernel()));
    say_result("no kernel", cuModuleGetFunction(&function, module, "none"));
    say_result("no global", cuModuleGetGlobal(&at, &bytes, module, "none"));
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++) {
        char name[64];
        value = -1;
        CUresult result = cuFuncGetAttribute(&value, (CUfunction_attribute)i,
                                             answers_kernel());
        snprintf(name, sizeof name, "kernel attribute %d", i);
        say(name, "%s %d", result_name(result), value);
    }
}

/* A real driver ends the program where what is destroyed is used. */
static bool is_software(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver && dlsym(driver, "softcudaStats") != NULL;
}

static void refuse_streams(CUdeviceptr at)
{
    CUstream stream;
    CUevent event, other;
    float ms;
    say_result("stream", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    say_result("stream flags", cuStreamCreate(&stream, 99));
    say_result("event", cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    say_result("event flags", cuEventCreate(&other, 99));
    say_result("event not recorded", cuEventQuery(event));
    say_result("event record", cuEventRecord(event, stream));
    say_result("event wait", cuEventSynchronize(event));
    say_result("event time", cuEventElapsedTime(&ms, event, event));
    say_result("event NULL", cuEventRecord(NULL, stream));
    say_result("stream wait for NULL", cuStreamWaitEvent(stream, NULL, 0));
    say_result("stream end of no capture", cuStreamEndCapture(stream, NULL));
    say_result("destroy event", cuEventDestroy(event));
    say_result("destroy stream", cuStreamDestroy(stream));
    if (!is_software())
        return;
    say_result("destroyed stream", cuStreamSynchronize(stream));
    say_result("destroyed stream asked", cuStreamQuery(stream));
    say_result("destroyed stream twice", cuStreamDestroy(stream));
    say_result("destroyed stream launch", launch(1, 1, 0, stream, at));
    say_result("destroyed stream copy",
               cuMemcpyHtoDAsync(at, plain, 4, stream));
    say_result("destroyed event", cuEventQuery(event));
    say_result("destroyed event record", cuEventRecord(event, NULL));
}

static void refuse_captured(CUdeviceptr at)
{
    CUstream stream;
    CUgraph graph = NULL;
    say_result("stream", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    say_result("capture",
               cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    say_result("captured launch", launch(1, 1, 0, stream, at));
    say_result("captured allocation", cuMemAlloc(&at, MIB));
    say_result("captured synchronize", cuStreamSynchronize(stream));
    say_result("captured copy", cuMemcpyHtoD(at, plain, 4));
    say_result("capture end", cuStreamEndCapture(stream, &graph));
    say("captured graph", "%s", graph ? "one" : "none");
    say_result("destroy stream", cuStreamDestroy(stream));
}

void ask_refusals(void)
{
    CUdeviceptr at = 0;
    say_result("memory", cuMemAlloc(&at, MIB));
    refuse_memory(at);
    refuse_copies(at);
    refuse_launches(at);
    refuse_kernels();
    refuse_streams(at);
    refuse_captured(at);
    say_result("free", cuMemFree(at));
    say_result("free twice", cuMemFree(at));
    say_result("launch on freed memory asked", cuCtxSynchronize());
}

/* ---- contexts -------------------------------------------------------------------- */

static void say_context(const char *name, CUcontext first, CUcontext second)
{
    CUcontext now = NULL;
    CUresult result = cuCtxGetCurrent(&now);
    say(name, "%s %s", result_name(result),
        now == first    ? "first"
        : now == second ? "second"
        : now           ? "other"
                        : "none");
}

static void ask_limits(void)
{
    char name[64];
    for (int i = 0; i < CU_LIMIT_MAX; i++) {
        size_t value = 99;
        CUresult result = cuCtxGetLimit(&value, (CUlimit)i);
        snprintf(name, sizeof name, "limit %d", i);
        say(name, "%s %zu", result_name(result), value);
    }
}

static void ask_context(void)
{
    CUdevice device = -1;
    unsigned flags = 99, version = 0;
    int active = -1, least = 99, greatest = 99;
    CUresult result = cuCtxGetDevice(&device);
    say("context device", "%s %d", result_name(result), device);
    result = cuCtxGetFlags(&flags);
    say("context flags", "%s %u", result_name(result), flags);
    result = cuCtxGetApiVersion(NULL, &version);
    say("context version", "%s %u", result_name(result), version);
    result = cuDevicePrimaryCtxGetState(0, &flags, &active);
    say("primary state", "%s %u %d", result_name(result), flags, active);
    result = cuCtxGetStreamPriorityRange(&least, &greatest);
    say("priorities", "%s %d %d", result_name(result), least, greatest);
}

static void ask_without_context(CUdeviceptr at)
{
    CUdeviceptr none = 0;
    size_t left, total;
    CUdevice device;
    say_result("no context allocate", cuMemAlloc(&none, 4));
    say_result("no context free", cuMemFree(at));
    say_result("no context info", cuMemGetInfo(&left, &total));
    say_result("no context device", cuCtxGetDevice(&device));
    say_result("no context set", cuMemsetD8(at, 1, 4));
    say_result("no context copy", cuMemcpyHtoD(at, plain, 4));
    say_result("no context launch", launch(1, 1, 0, NULL, at));
    say_result("no context synchronize", cuCtxSynchronize());
    say_result("no context pop", cuCtxPopCurrent(NULL));
}

void ask_contexts(void)
{
    CUcontext first = NULL, second = NULL, popped = NULL;
    CUdeviceptr at = 0;
    size_t bytes;
    ask_limits();
    ask_context();
    say_result("current", cuCtxGetCurrent(&first));
    say_result("create", cuCtxCreate(&second, NULL, 0, 0));
    say_context("created is current", first, second);
    say_result("memory of second", cuMemAlloc(&at, MIB));
    say_result("push first", cuCtxPushCurrent(first));
    say_context("pushed is current", first, second);
    const struct memory of = {"second", at, MIB};
    CUdeviceptr base = 0;
    CUresult result = cuMemGetAddressRange(&base, &bytes, of.at + 4);
    say("range of another's", "%s %lld", result_name(result),
        (long long)(base - of.at));
    say_result("set another's", cuMemsetD8(at, 1, 4));
    say_result("pop", cuCtxPopCurrent(&popped));
    say("popped", "%s", popped == first ? "first" : "other");
    say_result("pop again", cuCtxPopCurrent(&popped));
    say_context("popped again", first, second);
    say_result("pop for the third time", cuCtxPopCurrent(&popped));
    say_context("popped for the third time", first, second);
    ask_without_context(at);
    say_result("set NULL", cuCtxSetCurrent(NULL));
    say_result("destroy NULL", cuCtxDestroy(NULL));
    say_result("destroy", cuCtxDestroy(second));
    say_result("set first", cuCtxSetCurrent(first));
    say_context("set is current", first, second);
    say_result("range of the destroyed",
               cuMemGetAddressRange(&base, &bytes, at));
    say_result("free of the destroyed", cuMemFree(at));
}

void ask_after_fault(void)
{
    CUdeviceptr at = 0;
    size_t left, total;
    CUcontext context;
    say_result("memory", cuMemAlloc(&at, MIB));
    say_result("fault launch", launch(1, 1, 0, NULL, 0x123456789000));
    say_result("fault synchronize", cuCtxSynchronize());
    say_result("fault again", cuCtxSynchronize());
    say_result("fault allocate", cuMemAlloc(&at, MIB));
    say_result("fault free", cuMemFree(at));
    say_result("fault info", cuMemGetInfo(&left, &total));
    say_result("fault copy", cuMemcpyDtoH(plain, at, 4));
    say_result("fault launch again", launch(1, 1, 0, NULL, at));
    say_result("fault current", cuCtxGetCurrent(&context));
    say_result("fault reset", cuDevicePrimaryCtxReset(0));
    say_result("fault allocate after reset", cuMemAlloc(&at, MIB));
}

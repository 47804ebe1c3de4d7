/*
 * The CUDA driver API, checked and timed. See cuda.h.
 */
#include "common/cuda.h"

void cuda_check(CUresult result, const char *call)
{
    const char *name = "an unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    bench_die(BENCH_EXIT_DEVICE, "%s gave %s", call, name);
}

CUmodule cuda_load(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, bench_ptx));
    return module;
}

CUfunction cuda_kernel(CUmodule module, const char *name)
{
    CUfunction kernel;
    CHECK(cuModuleGetFunction(&kernel, module, name));
    return kernel;
}

void *cuda_variable(CUmodule module, const char *name)
{
    CUdeviceptr address;
    CHECK(cuModuleGetGlobal(&address, NULL, module, name));
    return (void *)address;
}

void *device_alloc(size_t bytes)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, bytes));
    return (void *)address;
}

void device_free(void *device)
{
    CHECK(cuMemFree((CUdeviceptr)device));
}

void *host_alloc(size_t bytes)
{
    return bench_alloc(bytes);
}

void upload(void *device, const void *host, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cuMemcpyHtoD((CUdeviceptr)device, host, bytes));
    bench_copied(bytes, 0);
    bench_enter(before);
}

void download(void *host, const void *device, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cuMemcpyDtoH(host, (CUdeviceptr)device, bytes));
    bench_copied(0, bytes);
    bench_enter(before);
}

void device_clear(void *device, size_t bytes)
{
    CHECK(cuMemsetD8((CUdeviceptr)device, 0, bytes));
}

void variable_set(void *variable, const void *values, size_t bytes)
{
    upload(variable, values, bytes);
}

void launch(CUfunction kernel, struct bench_dim grid, struct bench_dim block,
            void **arguments)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y,
                         block.z, 0, NULL, arguments, NULL));
    bench_launched();
    bench_enter(before);
}

void device_wait(void)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cuCtxSynchronize());
    bench_enter(before);
}

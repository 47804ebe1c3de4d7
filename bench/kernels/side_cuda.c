/* The CUDA driver API as a side; see side.h. */
#include "side.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static const char text[] = {
#include "kernels_ptx.inc"
};
static CUmodule module;

#define CHECK(call) check(call, #call)

static void check(CUresult result, const char *call)
{
    const char *name = "unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "bench_kernels: %s: %s\n", call, name);
    exit(1);
}

static side_memory cuda_alloc(size_t bytes)
{
    CUdeviceptr p;
    CHECK(cuMemAlloc(&p, bytes));
    return p;
}

static void cuda_free(side_memory memory)
{
    CHECK(cuMemFree(memory));
}

static void cuda_upload(side_memory memory, const void *from, size_t bytes)
{
    CHECK(cuMemcpyHtoD(memory, from, bytes));
}

static void cuda_download(void *to, side_memory memory, size_t bytes)
{
    CHECK(cuMemcpyDtoH(to, memory, bytes));
}

static void cuda_zero(side_memory memory, size_t bytes)
{
    CHECK(cuMemsetD8Async(memory, 0, bytes, NULL));
}

static void cuda_launch(const char *kernel, const unsigned grid[3],
                        const unsigned block[3], const struct side_arg *args,
                        int count)
{
    CUfunction function;
    void *params[SIDE_MOST_ARGS];
    CHECK(cuModuleGetFunction(&function, module, kernel));
    for (int i = 0; i < count; i++)
        params[i] = (void *)(uintptr_t)&args[i].memory;
    CHECK(cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                         block[1], block[2], 0, NULL, params, NULL));
}

static void cuda_finish(void)
{
    CHECK(cuCtxSynchronize());
}

const struct side *side_cuda(void)
{
    static const struct side side = {
        .name = "softcuda",
        .alloc = cuda_alloc,
        .free = cuda_free,
        .upload = cuda_upload,
        .download = cuda_download,
        .zero = cuda_zero,
        .launch = cuda_launch,
        .finish = cuda_finish,
    };
    CUdevice device;
    CUcontext context;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) {
        fprintf(stderr, "bench_kernels: no CUDA device\n");
        exit(77);
    }
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    return &side;
}

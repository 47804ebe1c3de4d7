/*
 * What the CUDA forms share, on the runtime API instead of the driver's. See
 * cuda.h.
 */
#include "common/cuda.h"
#include "common/runtime.h"

#include <cuda_runtime_api.h>
#include <string.h>

static void check(cudaError_t result, const char *call)
{
    if (result != cudaSuccess)
        bench_die(BENCH_EXIT_DEVICE, "%s gave %s", call,
                  cudaGetErrorName(result));
}

#undef CHECK
#define CHECK(call) check(call, #call)

/* The program has its code with it. */
CUmodule cuda_load(void)
{
    CHECK(cudaSetDevice(0));
    return NULL;
}

static const void *symbol(const char *name)
{
    const struct runtime_symbol *s = runtime_symbols;
    while (s->name && strcmp(s->name, name) != 0)
        s++;
    if (!s->name)
        bench_die(BENCH_EXIT_DEVICE, "there is no %s", name);
    return s->host;
}

CUfunction cuda_kernel(CUmodule module, const char *name)
{
    (void)module;
    return (CUfunction)symbol(name);
}

void *cuda_variable(CUmodule module, const char *name)
{
    void *address;
    (void)module;
    CHECK(cudaGetSymbolAddress(&address, symbol(name)));
    return address;
}

void *device_alloc(size_t bytes)
{
    void *device;
    CHECK(cudaMalloc(&device, bytes));
    return device;
}

void device_free(void *device)
{
    CHECK(cudaFree(device));
}

void *host_alloc(size_t bytes)
{
    return bench_alloc(bytes);
}

void upload(void *device, const void *host, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    bench_copied(bytes, 0);
    bench_enter(before);
}

void download(void *host, const void *device, size_t bytes)
{
    enum bench_phase before = bench_enter(BENCH_COPY);
    CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    bench_copied(0, bytes);
    bench_enter(before);
}

void device_clear(void *device, size_t bytes)
{
    CHECK(cudaMemset(device, 0, bytes));
}

void variable_set(void *variable, const void *values, size_t bytes)
{
    upload(variable, values, bytes);
}

void launch(CUfunction kernel, struct bench_dim grid, struct bench_dim block,
            void **arguments)
{
    const struct dim3 blocks = {grid.x, grid.y, grid.z};
    const struct dim3 threads = {block.x, block.y, block.z};
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cudaLaunchKernel((const void *)kernel, blocks, threads, arguments, 0,
                           NULL));
    bench_launched();
    bench_enter(before);
}

void device_wait(void)
{
    enum bench_phase before = bench_enter(BENCH_KERNEL);
    CHECK(cudaDeviceSynchronize());
    bench_enter(before);
}

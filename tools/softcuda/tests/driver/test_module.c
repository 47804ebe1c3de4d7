/*
 * Modules, launches and what goes wrong with them.
 */
#include <stdio.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

static CUmodule load(void)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, kernels_ptx));
    return module;
}

static CUfunction function(CUmodule module, const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUresult launch(CUfunction f, unsigned grid, unsigned block, void **args)
{
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, NULL, args, NULL);
}

START_TEST(kernel_changes_device_memory)
{
    enum { N = 100003 };
    unsigned n = N, v = 5, *host = malloc(N * 4);
    CUdeviceptr p;
    begin();
    CUmodule module = load();
    OK(cuMemAlloc(&p, N * 4));
    OK(cuMemsetD32(p, 7, N));
    OK(launch(function(module, "add"), (N + 127) / 128, 128,
              (void *[]){&p, &n, &v}));
    OK(cuMemcpyDtoH(host, p, N * 4));
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], 12);
    OK(cuModuleUnload(module));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    free(host);
}
END_TEST

START_TEST(packed_parameters_and_attributes_launch_too)
{
    unsigned got;
    CUdeviceptr p;
    begin();
    CUfunction add = function(load(), "add");
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 1, 1));
    struct {
        CUdeviceptr p;
        unsigned n, v;
    } args = {p, 1, 10};
    size_t size = sizeof args;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                   .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    OK(cuLaunchKernelEx(&config, add, (void *[]){&p, &args.n, &args.v}, NULL));
    config.gridDimX = 1000000;
    WANT(
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        cuLaunchKernelEx(&config, add, (void *[]){&p, &args.n, &args.v}, NULL));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 21);
    size = 8;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
}
END_TEST

START_TEST(variables_are_shared_with_copies)
{
    CUdeviceptr counter, table, p;
    size_t bytes;
    unsigned value = 100, got[4];
    begin();
    CUmodule module = load();
    OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
    ck_assert_uint_eq(bytes, 16);
    OK(cuMemcpyDtoH(got, counter, 16));
    ck_assert_uint_eq(got[3], 4);
    OK(cuMemcpyHtoD(counter, &value, 4));
    OK(cuModuleGetGlobal(&table, &bytes, module, "table"));
    value = 1000;
    OK(cuMemcpyHtoD(table + 4, &value, 4));
    OK(cuMemAlloc(&p, 4));
    OK(launch(function(module, "count"), 1, 1, (void *[]){&p}));
    OK(cuMemcpyDtoH(got, p, 4));
    ck_assert_uint_eq(got[0], 1101);
    OK(cuMemcpyDtoH(got, counter, 4));
    ck_assert_uint_eq(got[0], 101);
    WANT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, &bytes, module, "x"));
    WANT(CUDA_ERROR_NOT_FOUND,
         cuModuleGetFunction(&(CUfunction){0}, module, "nothing"));
}
END_TEST

START_TEST(library_kernel_launches_as_a_function)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    unsigned count, n = 1, v = 3, got;
    const char *name;
    CUdeviceptr p;
    begin();
    OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, library));
    ck_assert_uint_eq(count, 6);
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    OK(cuKernelGetName(&name, kernel));
    ck_assert_str_eq(name, "add");
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 0, 1));
    OK(launch(f, 1, 1, (void *[]){&p, &n, &v}));
    OK(launch((CUfunction)(void *)kernel, 1, 1, (void *[]){&p, &n, &v}));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 6);
    WANT(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "no"));
    OK(cuLibraryUnload(library));
    WANT(CUDA_ERROR_INVALID_HANDLE, launch(f, 1, 1, NULL));
}
END_TEST

START_TEST(function_tells_its_parameters_and_limits)
{
    size_t offset, size;
    int value, blocks, grid;
    begin();
    CUfunction add = function(load(), "add");
    OK(cuFuncGetParamInfo(add, 2, &offset, &size));
    ck_assert_uint_eq(offset, 12);
    ck_assert_uint_eq(size, 4);
    WANT(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(add, 3, &offset, &size));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                          add));
    ck_assert_int_eq(value, 1024);
    OK(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          100000));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    ck_assert_int_ge(blocks, 1);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &value, add, NULL, 0, 0));
    ck_assert(grid >= 1 && value >= 32 && value <= 1024);
}
END_TEST

START_TEST(launches_beyond_the_limits_are_refused)
{
    begin();
    CUmodule module = load();
    CUfunction f = function(module, "empty");
    WANT(CUDA_ERROR_INVALID_VALUE, launch(f, 0, 1, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, launch(f, 1, 1025, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(f, 1, 1, 1, 32, 32, 2, 0, NULL, NULL, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, NULL, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, launch(function(module, "add"), 1, 1, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         launch(function(module, "shaped"), 1, 64, NULL));
    OK(cuLaunchKernel(function(module, "shaped"), 1, 1, 1, 32, 2, 1, 0, NULL,
                      NULL, NULL));
    WANT(CUDA_ERROR_INVALID_HANDLE, launch(NULL, 1, 1, NULL));
    WANT(CUDA_ERROR_INVALID_HANDLE,
         launch((CUfunction)(void *)module, 1, 1, NULL));
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(wild_address_sticks_to_its_context_only)
{
    unsigned n = 1, v = 1, got;
    CUdeviceptr wild = 16, p, freed, misaligned;
    CUcontext ctx = begin(), other;
    CUfunction add = function(load(), "add");
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 0, 1));
    OK(launch(add, 1, 1, (void *[]){&p, &n, &v}));
    OK(launch(add, 1, 1, (void *[]){&wild, &n, &v}));
    /* must not run; the error may have shown already */
    CUresult behind = launch(add, 1, 1, (void *[]){&p, &n, &v});
    ck_assert(behind == CUDA_SUCCESS || behind == CUDA_ERROR_ILLEGAL_ADDRESS);
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 4));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemcpyDtoH(&got, p, 4));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, launch(add, 1, 1, NULL));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuMemcpyDtoH(&got, p, 4));
    ck_assert_uint_eq(got, 1);
    OK(cuCtxDestroy(ctx));
    add = function(load(), "add");
    OK(cuMemAlloc(&misaligned, 8));
    OK(cuMemAlloc(&freed, 4 * MIB));
    OK(cuMemFree(freed));
    OK(launch(add, 1, 1, (void *[]){&freed, &n, &v}));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy(other));
    begin();
    OK(cuMemAlloc(&misaligned, 8));
    misaligned += 2;
    OK(launch(function(load(), "add"), 1, 1, (void *[]){&misaligned, &n, &v}));
    WANT(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}
END_TEST

START_TEST(trap_is_a_launch_failure)
{
    CUstream s;
    CUevent e;
    begin();
    CUfunction stop = function(load(), "stop");
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuLaunchKernel(stop, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    /* a fast device has failed before the record gets there */
    if (cuEventRecord(e, s) == CUDA_SUCCESS)
        WANT(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(e));
    WANT(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(s));
}
END_TEST

START_TEST(kernel_overlaps_both_copies)
{
    unsigned turns = 200000, got;
    CUdeviceptr a, b, c;
    CUstream s[3];
    void *up, *down;
    enum { BYTES = 1 << 20 };
    setenv("SOFTCUDA_LINK", "20MB/s", 1);
    begin();
    CUfunction spin = function(load(), "spin");
    OK(cuMemAlloc(&a, 4));
    OK(cuMemAlloc(&b, BYTES));
    OK(cuMemAlloc(&c, BYTES));
    OK(cuMemHostAlloc(&up, BYTES, 0));
    OK(cuMemHostAlloc(&down, BYTES, 0));
    for (int i = 0; i < 3; i++)
        OK(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
    double start, alone = 0;
    for (int i = 0; i < 4; i++) {
        /* as many turns as take about as long as one copy */
        start = now_ms();
        OK(launch(spin, 1, 1, (void *[]){&a, &turns}));
        OK(cuCtxSynchronize());
        alone = now_ms() - start;
        if (i < 3)
            turns = (unsigned)(turns * 52 / (alone + 0.01)) + 1;
    }
    start = now_ms();
    OK(cuMemcpyHtoDAsync(b, up, BYTES, s[0]));
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s[1], (void *[]){&a, &turns},
                      NULL));
    OK(cuMemcpyDtoHAsync(down, c, BYTES, s[2]));
    OK(cuCtxSynchronize());
    double all = now_ms() - start;
    ck_assert_msg(all < 0.75 * (alone + 2 * 52),
                  "%g ms; the kernel alone %g, each copy 52", all, alone);
    OK(cuMemcpyDtoH(&got, a, 4));
    ck_assert_uint_eq(got, turns);
}
END_TEST

SUITE_MAIN("softcuda driver: modules", 30, kernel_changes_device_memory,
           packed_parameters_and_attributes_launch_too,
           variables_are_shared_with_copies,
           library_kernel_launches_as_a_function,
           function_tells_its_parameters_and_limits,
           launches_beyond_the_limits_are_refused,
           wild_address_sticks_to_its_context_only, trap_is_a_launch_failure,
           kernel_overlaps_both_copies)

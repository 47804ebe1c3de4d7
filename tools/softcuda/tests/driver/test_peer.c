/*
 * Several devices: copies between them, kernels that read each other.
 */
#include <sys/resource.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

enum { DEVICES = 4 };

static CUcontext ctx[DEVICES];
static CUfunction add[DEVICES];

static void begin_all(void)
{
    CUmodule module;
    setenv("SOFTCUDA_DEVICES", "4", 1);
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    OK(cuInit(0));
    for (int i = 0; i < DEVICES; i++) {
        OK(cuCtxCreate(&ctx[i], NULL, 0, i));
        OK(cuModuleLoadData(&module, kernels_ptx));
        OK(cuModuleGetFunction(&add[i], module, "add"));
    }
}

static CUresult add_on(int device, CUdeviceptr p, unsigned v)
{
    unsigned n = 1;
    OK(cuCtxSetCurrent(ctx[device]));
    OK(cuLaunchKernel(add[device], 1, 1, 1, 1, 1, 1, 0, NULL,
                      (void *[]){&p, &n, &v}, NULL));
    return cuCtxSynchronize();
}

START_TEST(copies_between_devices_arrive)
{
    enum { N = 1000003 };
    uint8_t *host = malloc(N), *got = malloc(N);
    CUdeviceptr p[DEVICES];
    begin_all();
    for (int i = 0; i < DEVICES; i++) {
        OK(cuCtxSetCurrent(ctx[i]));
        OK(cuMemAlloc(&p[i], N));
    }
    fill_random(host, N, 4);
    OK(cuCtxSetCurrent(ctx[0]));
    OK(cuMemcpyHtoD(p[0], host, N));
    for (int i = 1; i < DEVICES; i++)
        OK(cuMemcpyPeer(p[i], ctx[i], p[i - 1], ctx[i - 1], N));
    OK(cuMemcpyDtoD(p[1], p[3], N));
    OK(cuMemcpyDtoH(got, p[1], N));
    ck_assert_mem_eq(got, host, N);
    free(host);
    free(got);
}
END_TEST

/* As hardware, which has its own way from one device to the other. */
START_TEST(copies_between_devices_need_no_memory_of_the_program)
{
    enum { FEW = 4000 };
    uint8_t host[FEW], got[FEW];
    CUdeviceptr p[2];
    struct rlimit usual, none;
    begin_all();
    for (int i = 0; i < 2; i++) {
        OK(cuCtxSetCurrent(ctx[i]));
        OK(cuMemAlloc(&p[i], FEW));
    }
    fill_random(host, FEW, 5);
    OK(cuCtxSetCurrent(ctx[0]));
    OK(cuMemcpyHtoD(p[0], host, FEW));
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &usual), 0);
    none = (struct rlimit){0, usual.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    CUresult copied = cuMemcpyPeer(p[1], ctx[1], p[0], ctx[0], FEW);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &usual), 0);
    OK(copied);
    OK(cuMemcpyDtoH(got, p[1], FEW));
    ck_assert_mem_eq(got, host, FEW);
}
END_TEST

START_TEST(kernel_needs_peer_access_for_foreign_memory)
{
    CUdeviceptr small, large, late;
    unsigned got;
    int can;
    begin_all();
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 1);
    OK(cuCtxSetCurrent(ctx[1]));
    OK(cuMemAlloc(&small, 4));
    OK(cuMemAlloc(&large, 8 * MIB));
    OK(cuMemsetD32(small, 1, 1));
    OK(cuMemsetD32(large, 1, 1));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(ctx[0]));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(ctx[0], 0));
    OK(cuCtxEnablePeerAccess(ctx[1], 0));
    WANT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
         cuCtxEnablePeerAccess(ctx[1], 0));
    OK(cuCtxSetCurrent(ctx[1]));
    OK(cuMemAlloc(&late, 4 * MIB));
    OK(cuMemsetD32(late, 1, 1));
    OK(cuCtxSynchronize());
    OK(add_on(0, small, 10));
    OK(add_on(0, large, 10));
    OK(add_on(0, late, 10));
    OK(cuMemcpyDtoH(&got, small, 4));
    ck_assert_uint_eq(got, 11);
    OK(cuMemcpyDtoH(&got, late, 4));
    ck_assert_uint_eq(got, 11);
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, add_on(2, small, 10));
    OK(cuCtxSetCurrent(ctx[0]));
    OK(cuCtxDisablePeerAccess(ctx[1]));
    WANT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(ctx[1]));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, add_on(0, small, 10));
    OK(add_on(1, small, 10));
}
END_TEST

START_TEST(peer_access_can_be_switched_off)
{
    int can;
    setenv("SOFTCUDA_PEER", "0", 1);
    begin_all();
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 0);
    WANT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(ctx[1], 0));
}
END_TEST

START_TEST(mapped_memory_is_given_to_other_devices)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 2}};
    CUmemAccessDesc both[2] = {
        {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 2},
         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 3},
         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    unsigned got = 0;
    begin_all();
    OK(cuMemAddressReserve(&at, 2 * MIB, 0, 0, 0));
    OK(cuMemCreate(&handle, 2 * MIB, &prop, 0));
    OK(cuMemMap(at, 2 * MIB, 0, handle, 0));
    OK(cuMemSetAccess(at, 2 * MIB, both, 2));
    OK(add_on(3, at, 5));
    OK(add_on(2, at, 6));
    OK(cuMemcpyDtoH(&got, at, 4));
    ck_assert_uint_eq(got, 11);
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, add_on(1, at, 1));
}
END_TEST

START_TEST(pinned_memory_is_seen_by_all_devices)
{
    unsigned *host;
    begin_all();
    OK(cuMemHostAlloc((void **)&host, 4096, 0));
    host[0] = 0;
    for (int i = 0; i < DEVICES; i++)
        OK(add_on(i, (CUdeviceptr)(uintptr_t)host, 1u << (8 * i)));
    ck_assert_uint_eq(host[0], 0x01010101);
}
END_TEST

SUITE_MAIN("softcuda driver: peers", 30, copies_between_devices_arrive,
           copies_between_devices_need_no_memory_of_the_program,
           kernel_needs_peer_access_for_foreign_memory,
           peer_access_can_be_switched_off,
           mapped_memory_is_given_to_other_devices,
           pinned_memory_is_seen_by_all_devices)

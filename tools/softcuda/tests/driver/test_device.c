/*
 * Bring-up: cuInit, device queries, options, contexts, error names.
 */
#include "tests/driver/driver_test.h"

START_TEST(calls_before_init_say_so)
{
    int count;
    CUdevice device;
    CUdeviceptr p;
    WANT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    WANT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
    WANT(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
    WANT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuDriverGetVersion(&count));
    ck_assert_int_ge(count, 13000);
}
END_TEST

START_TEST(calls_without_context_say_so)
{
    CUdeviceptr p;
    CUcontext ctx;
    OK(cuInit(0));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    OK(cuCtxGetCurrent(&ctx));
    ck_assert_ptr_null(ctx);
}
END_TEST

START_TEST(four_devices_asked_for_are_there)
{
    int count, value;
    char name[64], bus[16];
    CUdevice device;
    size_t total;
    setenv("SOFTCUDA_DEVICES", "4", 1);
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 4);
    for (int i = 0; i < 4; i++) {
        OK(cuDeviceGet(&device, i));
        OK(cuDeviceGetName(name, sizeof name, device));
        OK(cuDeviceTotalMem(&total, device));
        ck_assert_uint_eq(total, 64 * MIB);
        OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
        OK(cuDeviceGetByPCIBusId(&value, bus));
        ck_assert_int_eq(value, i);
        CUcontext ctx;
        OK(cuCtxCreate(&ctx, NULL, 0, device));
    }
    WANT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 4));
    WANT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
}
END_TEST

START_TEST(attributes_up_to_143_answer)
{
    int value;
    OK(cuInit(0));
    for (int i = 1; i <= 143; i++)
        OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
    ck_assert_int_eq(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0));
    ck_assert_int_eq(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    ck_assert_int_eq(value, 32);
}
END_TEST

START_TEST(bad_options_keep_the_defaults)
{
    int count;
    size_t total;
    setenv("SOFTCUDA_DEVICES", "99", 1);
    setenv("SOFTCUDA_MEMORY", "lots", 1);
    setenv("SOFTCUDA_LINK", "fast", 1);
    setenv("SOFTCUDA_PEER", "maybe", 1);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 1);
    OK(cuDeviceTotalMem(&total, 0));
    ck_assert_uint_eq(total, 512 * MIB);
}
END_TEST

START_TEST(integrated_device_pays_for_page_locked_memory)
{
    int is;
    size_t before, less, after, total;
    void *host;
    setenv("SOFTCUDA_INTEGRATED", "1", 1);
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    (void)begin();
    OK(cuDeviceGetAttribute(&is, CU_DEVICE_ATTRIBUTE_INTEGRATED, 0));
    ck_assert_int_eq(is, 1);
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemHostAlloc(&host, 40 * MIB, 0));
    OK(cuMemGetInfo(&less, &total));
    ck_assert_uint_eq(before - less, 40 * MIB);
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocHost(&host, 40 * MIB));
    OK(cuMemFreeHost(host));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
    OK(cuMemHostAlloc(&host, 60 * MIB, 0));
}
END_TEST

START_TEST(other_devices_have_memory_of_their_own)
{
    int is;
    size_t before, after, total;
    void *host;
    (void)begin();
    OK(cuDeviceGetAttribute(&is, CU_DEVICE_ATTRIBUTE_INTEGRATED, 0));
    ck_assert_int_eq(is, 0);
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemHostAlloc(&host, 40 * MIB, 0));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
}
END_TEST

START_TEST(contexts_stack_per_thread)
{
    CUcontext a = begin(), b, now;
    OK(cuCtxCreate(&b, NULL, 0, 0));
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, b);
    OK(cuCtxPopCurrent(&now));
    ck_assert_ptr_eq(now, b);
    OK(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, a);
    OK(cuCtxSetCurrent(b));
    OK(cuCtxDestroy(b));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(b));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(b));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)(void *)&now));
}
END_TEST

START_TEST(primary_context_is_shared_and_counted)
{
    CUcontext a, b;
    unsigned flags;
    int active;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuDevicePrimaryCtxRetain(&b, 0));
    ck_assert_ptr_eq(a, b);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
}
END_TEST

START_TEST(reset_primary_context_is_still_to_be_released)
{
    CUcontext context;
    unsigned flags;
    int active;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
}
END_TEST

START_TEST(every_error_has_name_and_text)
{
    const char *name, *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
    ck_assert_str_eq(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    ck_assert_str_eq(text, "out of memory");
    WANT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &name));
    ck_assert_ptr_null(name);
}
END_TEST

START_TEST(device_program_missing_is_a_status)
{
    CUcontext ctx;
    setenv("SOFTCUDA_DEVICE_PROGRAM", "/dev/null/softcuda-device", 1);
    OK(cuInit(0));
    WANT(CUDA_ERROR_OPERATING_SYSTEM, cuCtxCreate(&ctx, NULL, 0, 0));
    setenv("SOFTCUDA_DEVICE_PROGRAM", "/bin/false", 1);
    WANT(CUDA_ERROR_OPERATING_SYSTEM, cuCtxCreate(&ctx, NULL, 0, 0));
}
END_TEST

SUITE_MAIN("softcuda driver: device", 20, calls_before_init_say_so,
           calls_without_context_say_so, four_devices_asked_for_are_there,
           attributes_up_to_143_answer, bad_options_keep_the_defaults,
           integrated_device_pays_for_page_locked_memory,
           other_devices_have_memory_of_their_own, contexts_stack_per_thread,
           primary_context_is_shared_and_counted,
           reset_primary_context_is_still_to_be_released,
           every_error_has_name_and_text, device_program_missing_is_a_status)

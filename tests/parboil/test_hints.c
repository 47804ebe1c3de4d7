/*
 * The hints about managed memory: in the library that gives them they reach
 * the device, in the other one nothing does. HINTS=given or none says which
 * library this program is linked with.
 */
#include "common/suite.h"
#include "managed/hints.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define BYTES ((size_t)3 << 20)

static bool given;

static void device_open(void)
{
    CUdevice device;
    CUcontext context;
    const char *hints = getenv("HINTS");
    given = hints && strcmp(hints, "given") == 0;
    ck_assert_int_eq(cuInit(0), CUDA_SUCCESS);
    ck_assert_int_eq(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    ck_assert_int_eq(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    ck_assert_int_eq(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

static char *managed_alloc(void)
{
    CUdeviceptr address;
    ck_assert_int_eq(cuMemAllocManaged(&address, BYTES, CU_MEM_ATTACH_GLOBAL),
                     CUDA_SUCCESS);
    return (char *)(uintptr_t)address;
}

static int attribute(CUmem_range_attribute which, const char *memory)
{
    int value = -100;
    ck_assert_int_eq(cuMemRangeGetAttribute(&value, sizeof value, which,
                                            (CUdeviceptr)(uintptr_t)memory, 1),
                     CUDA_SUCCESS);
    return value;
}

START_TEST(advice_reaches_the_device_where_it_is_given)
{
    device_open();
    char *input = managed_alloc(), *work = managed_alloc();
    ck_assert_int_eq(hint_read_mostly(input, BYTES), CUDA_SUCCESS);
    ck_assert_int_eq(hint_prefer_device(work, BYTES), CUDA_SUCCESS);
    ck_assert_int_eq(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, input),
                     given);
    ck_assert_int_eq(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, work), 0);
    ck_assert_int_eq(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, work),
                     given ? 0 : CU_DEVICE_INVALID);
    ck_assert_int_eq(
        attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, input),
        CU_DEVICE_INVALID);
}
END_TEST

START_TEST(prefetch_names_the_side_that_uses_the_memory_next)
{
    device_open();
    CUmem_range_attribute last = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
    char *memory = managed_alloc();
    ck_assert_int_eq(hint_to_device(memory, BYTES), CUDA_SUCCESS);
    ck_assert_int_eq(attribute(last, memory), given ? 0 : CU_DEVICE_INVALID);
    ck_assert_int_eq(hint_to_host(memory + 4096, 4), CUDA_SUCCESS);
    ck_assert_int_eq(attribute(last, memory),
                     given ? CU_DEVICE_CPU : CU_DEVICE_INVALID);
}
END_TEST

static void CUDA_CB finish_late(void *done)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    *(volatile bool *)done = true;
}

START_TEST(prefetch_to_the_host_has_ended_when_it_returns)
{
    volatile bool done = false;
    device_open();
    char *memory = managed_alloc();
    ck_assert_int_eq(cuLaunchHostFunc(NULL, finish_late, (void *)&done),
                     CUDA_SUCCESS);
    ck_assert_int_eq(hint_to_host(memory, BYTES), CUDA_SUCCESS);
    ck_assert(done || !given);
    ck_assert_int_eq(cuCtxSynchronize(), CUDA_SUCCESS);
}
END_TEST

/* This device has concurrent managed access: what it refuses is wrong. */
START_TEST(refusal_is_passed_on_where_the_device_could_follow)
{
    device_open();
    CUresult wanted = given ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    CUdeviceptr plain;
    ck_assert_int_eq(cuMemAlloc(&plain, BYTES), CUDA_SUCCESS);
    const void *memory = (const void *)(uintptr_t)plain;
    ck_assert_int_eq(hint_read_mostly(memory, BYTES), wanted);
    ck_assert_int_eq(hint_prefer_device(memory, BYTES), wanted);
    ck_assert_int_eq(hint_to_device(memory, BYTES), wanted);
    ck_assert_int_eq(hint_to_host(memory, BYTES), wanted);
}
END_TEST

SUITE_MAIN("hints about managed memory", 30,
           advice_reaches_the_device_where_it_is_given,
           prefetch_names_the_side_that_uses_the_memory_next,
           prefetch_to_the_host_has_ended_when_it_returns,
           refusal_is_passed_on_where_the_device_could_follow)

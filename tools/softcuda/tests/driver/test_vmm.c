/*
 * Virtual memory management: reserve, create, map, access, and back.
 */
#include "tests/driver/driver_test.h"

static const CUmemAllocationProp prop = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
static const CUmemAccessDesc full = {
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

START_TEST(two_handles_side_by_side_are_one_range)
{
    CUdeviceptr at;
    CUmemGenericAllocationHandle a, b;
    size_t page;
    unsigned long long flags;
    uint8_t *host = malloc(4 * MIB), *got = malloc(4 * MIB);
    begin();
    OK(cuMemGetAllocationGranularity(&page, &prop,
                                     CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ck_assert_uint_eq(page, 2 * MIB);
    OK(cuMemAddressReserve(&at, 8 * page, 0, 0, 0));
    OK(cuMemCreate(&a, page, &prop, 0));
    OK(cuMemCreate(&b, page, &prop, 0));
    OK(cuMemMap(at, page, 0, a, 0));
    OK(cuMemMap(at + page, page, 0, b, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(at, host, 8));
    OK(cuMemSetAccess(at, 2 * page, &full, 1));
    OK(cuMemGetAccess(&flags, &full.location, at + page));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fill_random(host, 4 * MIB, 3);
    OK(cuMemcpyHtoD(at, host, 2 * page));
    OK(cuMemsetD8(at + page - 5, 9, 10));
    memset(host + page - 5, 9, 10);
    OK(cuMemcpyDtoH(got, at, 2 * page));
    ck_assert_mem_eq(got, host, 2 * page);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(got, at, 2 * page + 1));
    WANT(CUDA_ERROR_ALREADY_MAPPED, cuMemMap(at, page, 0, b, 0));
    free(host);
    free(got);
}
END_TEST

START_TEST(memory_outlives_its_handle_while_mapped)
{
    CUdeviceptr at;
    CUmemGenericAllocationHandle a;
    size_t before, now, total;
    uint32_t value = 123, got = 0;
    begin();
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemAddressReserve(&at, 4 * MIB, 0, 0, 0));
    OK(cuMemCreate(&a, 4 * MIB, &prop, 0));
    OK(cuMemMap(at, 4 * MIB, 0, a, 0));
    OK(cuMemRelease(a));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemRelease(a));
    OK(cuMemSetAccess(at, 4 * MIB, &full, 1));
    OK(cuMemcpyHtoD(at + 100, &value, 4));
    OK(cuMemcpyDtoH(&got, at + 100, 4));
    ck_assert_uint_eq(got, 123);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * MIB));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, 2 * MIB));
    OK(cuMemUnmap(at, 4 * MIB));
    OK(cuMemGetInfo(&now, &total));
    ck_assert_uint_eq(before, now);
    OK(cuMemAddressFree(at, 4 * MIB));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * MIB));
}
END_TEST

START_TEST(one_handle_mapped_twice_is_the_same_memory)
{
    CUdeviceptr at;
    CUmemGenericAllocationHandle a;
    uint32_t value = 55, got = 0;
    begin();
    OK(cuMemAddressReserve(&at, 4 * MIB, 0, 0, 0));
    OK(cuMemCreate(&a, 2 * MIB, &prop, 0));
    OK(cuMemMap(at, 2 * MIB, 0, a, 0));
    OK(cuMemMap(at + 2 * MIB, 2 * MIB, 0, a, 0));
    OK(cuMemSetAccess(at, 4 * MIB, &full, 1));
    OK(cuMemcpyHtoD(at, &value, 4));
    OK(cuMemsetD8(at + 4, 1, 4));
    OK(cuMemcpyDtoH(&got, at + 2 * MIB, 4));
    ck_assert_uint_eq(got, 55);
    OK(cuMemcpyDtoH(&got, at + 2 * MIB + 4, 4));
    ck_assert_uint_eq(got, 0x01010101);
}
END_TEST

START_TEST(reservation_honours_a_free_hint)
{
    CUdeviceptr at, again, other;
    begin();
    OK(cuMemAddressReserve(&at, 64 * MIB, 0, 0, 0));
    OK(cuMemAddressReserve(&other, 64 * MIB, 0, at, 0));
    ck_assert_uint_ne(at, other);
    OK(cuMemAddressFree(at, 64 * MIB));
    OK(cuMemAddressReserve(&again, 64 * MIB, 0, at, 0));
    ck_assert_uint_eq(again, at);
    OK(cuMemAddressReserve(&other, 2 * MIB, 64 * MIB, 0, 0));
    ck_assert_uint_eq(other % (64 * MIB), 0);
    OK(cuMemAddressReserve(&other, (size_t)64 << 30, 0, 0, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&other, 4096, 0, 0, 0));
    WANT(CUDA_ERROR_OUT_OF_MEMORY,
         cuMemAddressReserve(&other, (size_t)1 << 46, 0, 0, 0));
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    CUmemGenericAllocationHandle a;
    CUdeviceptr at;
    CUmemAllocationProp bad = prop;
    begin();
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&a, 4096, &prop, 0));
    bad.location.id = 7;
    WANT(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&a, 2 * MIB, &bad, 0));
    bad = prop;
    bad.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&a, 2 * MIB, &bad, 0));
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&a, 1024 * MIB, &prop, 0));
    OK(cuMemCreate(&a, 2 * MIB, &prop, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(0x200000, 2 * MIB, 0, a, 0));
    OK(cuMemAddressReserve(&at, 2 * MIB, 0, 0, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, 2 * MIB, 0, 12345, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(at, 2 * MIB, &full, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, 2 * MIB));
}
END_TEST

SUITE_MAIN("softcuda driver: virtual memory", 20,
           two_handles_side_by_side_are_one_range,
           memory_outlives_its_handle_while_mapped,
           one_handle_mapped_twice_is_the_same_memory,
           reservation_honours_a_free_hint, bad_arguments_are_refused)

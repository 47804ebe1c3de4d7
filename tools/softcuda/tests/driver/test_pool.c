/*
 * Memory pools and allocation in stream order.
 */
#include "tests/driver/driver_test.h"

static void sleep_ms(void *ms)
{
    usleep((useconds_t)(uintptr_t)ms * 1000);
}

static uint64_t used(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    uint64_t value = 1;
    OK(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static CUmemPoolProps props(void)
{
    return (CUmemPoolProps){
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
}

START_TEST(memory_is_usable_in_stream_order)
{
    CUstream s;
    CUdeviceptr p;
    uint32_t back[256];
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 50; i++) {
        OK(cuMemAllocAsync(&p, 1024, s));
        OK(cuMemsetD32Async(p, (unsigned)i, 256, s));
        OK(cuMemcpyDtoHAsync(back, p, 1024, s));
        OK(cuMemFreeAsync(p, s));
        ck_assert_uint_eq(back[255], (unsigned)i);
    }
    OK(cuStreamSynchronize(s));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(back, p, 4));
}
END_TEST

START_TEST(freed_memory_lives_until_the_stream_gets_there)
{
    CUstream s;
    CUdeviceptr p;
    CUmemoryPool pool;
    begin();
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&p, 4 * MIB, s));
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)100));
    OK(cuMemFreeAsync(p, s));
    ck_assert_uint_eq(used(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 4 * MIB);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuStreamSynchronize(s));
    ck_assert_uint_eq(used(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(used(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 4 * MIB);
    uint64_t zero = 0;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    ck_assert_uint_eq(used(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
}
END_TEST

START_TEST(an_allocation_waits_for_memory_on_its_way_back)
{
    CUstream s;
    CUdeviceptr p, q;
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    begin();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&p, 40 * MIB, s));
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&q, 40 * MIB, s));
    OK(cuLaunchHostFunc(s, sleep_ms, (void *)50));
    OK(cuMemFreeAsync(p, s));
    OK(cuMemAllocAsync(&q, 40 * MIB, s));
    OK(cuMemFree(q));
}
END_TEST

START_TEST(pools_have_a_size_and_attributes)
{
    CUmemoryPool pool, got;
    CUdeviceptr p, q;
    CUmemPoolProps wanted = props();
    int flag = 0;
    uint64_t threshold = UINT64_MAX;
    wanted.maxSize = 3 * MIB;
    begin();
    OK(cuMemPoolCreate(&pool, &wanted));
    OK(cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, NULL));
    WANT(CUDA_ERROR_OUT_OF_MEMORY,
         cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, NULL));
    OK(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    ck_assert_ptr_eq(got, pool);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
                             &flag));
    flag = 7;
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
                             &flag));
    ck_assert_int_eq(flag, 0);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                             &threshold));
    ck_assert_uint_eq(used(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD),
                      UINT64_MAX);
    ck_assert_uint_eq(used(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
                      2 * MIB);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
                               &threshold));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemPoolGetAttribute(pool, (CUmemPool_attribute)99, &threshold));
    OK(cuMemPoolTrimTo(pool, 0));
    /* a pool may go before its memory does */
    OK(cuMemPoolDestroy(pool));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    OK(cuMemsetD8(p, 1, 2 * MIB));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(the_device_has_a_pool_that_can_be_exchanged)
{
    CUmemoryPool standard, pool, got;
    CUdeviceptr p;
    CUmemPoolProps wanted = props();
    begin();
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    OK(cuDeviceGetMemPool(&got, 0));
    ck_assert_ptr_eq(got, standard);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
    OK(cuMemPoolCreate(&pool, &wanted));
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuMemAllocAsync(&p, 100, NULL));
    OK(cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    ck_assert_ptr_eq(got, pool);
    OK(cuMemFree(p));
    OK(cuMemPoolDestroy(pool));
    OK(cuDeviceGetMemPool(&got, 0));
    ck_assert_ptr_eq(got, standard);
    WANT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetMemPool(&got, 9));
    WANT(CUDA_ERROR_INVALID_VALUE, cuDeviceGetDefaultMemPool(NULL, 0));
}
END_TEST

START_TEST(wrong_pool_calls_are_refused)
{
    CUmemoryPool pool;
    CUdeviceptr p;
    CUmemPoolProps wanted = props();
    begin();
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(NULL, &wanted));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&pool, NULL));
    wanted.location.id = 99;
    WANT(CUDA_ERROR_INVALID_DEVICE, cuMemPoolCreate(&pool, &wanted));
    wanted.location.id = 0;
    wanted.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    WANT(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolCreate(&pool, &wanted));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(NULL, 16, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAllocAsync(&p, 0, NULL));
    WANT(CUDA_ERROR_INVALID_HANDLE,
         cuMemAllocAsync(&p, 16, (CUstream)(uintptr_t)0x1234));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemAllocFromPoolAsync(&p, 16, (CUmemoryPool)(uintptr_t)8, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(12345, NULL));
    OK(cuMemFreeAsync(0, NULL));
}
END_TEST

START_TEST(access_to_a_pool_is_given_to_peers)
{
    CUmemoryPool pool;
    CUmemPoolProps wanted = props();
    CUmemAccess_flags flags;
    CUmemLocation peer = {CU_MEM_LOCATION_TYPE_DEVICE, 1}, own = peer;
    own.id = 0;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    begin();
    OK(cuMemPoolCreate(&pool, &wanted));
    OK(cuMemPoolGetAccess(&flags, pool, &own));
    ck_assert_int_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemPoolGetAccess(&flags, pool, &peer));
    ck_assert_int_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CUmemAccessDesc give = {peer, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemPoolSetAccess(pool, &give, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &peer));
    ck_assert_int_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemAccessDesc take = {own, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAccess(pool, &take, 1));
}
END_TEST

SUITE_MAIN("softcuda driver: pools", 30, memory_is_usable_in_stream_order,
           freed_memory_lives_until_the_stream_gets_there,
           an_allocation_waits_for_memory_on_its_way_back,
           pools_have_a_size_and_attributes,
           the_device_has_a_pool_that_can_be_exchanged,
           wrong_pool_calls_are_refused, access_to_a_pool_is_given_to_peers)

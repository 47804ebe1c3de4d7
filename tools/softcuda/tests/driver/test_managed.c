/*
 * Managed memory, and host memory that kernels reach.
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

static CUfunction add_kernel(void)
{
    CUmodule module;
    CUfunction add;
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&add, module, "add"));
    return add;
}

static void add(CUfunction f, CUdeviceptr p, uint32_t n, uint32_t v)
{
    void *params[] = {&p, &n, &v};
    OK(cuLaunchKernel(f, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params,
                      NULL));
}

static const CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
static const CUmemLocation device_0 = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

START_TEST(host_and_kernels_share_managed_memory)
{
    CUdeviceptr p;
    begin();
    CUfunction f = add_kernel();
    OK(cuMemAllocManaged(&p, 4000, CU_MEM_ATTACH_GLOBAL));
    uint32_t *a = (uint32_t *)(uintptr_t)p;
    for (uint32_t i = 0; i < 1000; i++)
        a[i] = i;
    add(f, p, 1000, 5);
    OK(cuCtxSynchronize());
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(a[i], i + 5);
    add(f, p, 1000, 5);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(a[999], 999 + 10);
    OK(cuMemsetD32(p, 7, 1000));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(a[3], 7);
    OK(cuMemFree(p));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}
END_TEST

START_TEST(managed_memory_is_copied_like_any_other)
{
    CUdeviceptr p, d;
    uint32_t back[4] = {0};
    begin();
    OK(cuMemAllocManaged(&p, 16, CU_MEM_ATTACH_HOST));
    OK(cuMemAlloc(&d, 16));
    uint32_t *a = (uint32_t *)(uintptr_t)p;
    for (uint32_t i = 0; i < 4; i++)
        a[i] = i + 1;
    OK(cuMemcpy(d, p, 16));
    OK(cuMemcpyDtoD(d, p, 16));
    OK(cuMemcpyDtoH(back, d, 16));
    ck_assert_mem_eq(back, a, 16);
    OK(cuMemcpyDtoH(back, p, 16));
    back[0] = 9;
    OK(cuMemcpyHtoD(p, back, 16));
    ck_assert_uint_eq(a[0], 9);
}
END_TEST

START_TEST(every_device_sees_managed_memory)
{
    CUdeviceptr p;
    CUcontext ctx;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    begin();
    OK(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    uint32_t *a = (uint32_t *)(uintptr_t)p;
    a[0] = 1;
    CUfunction f = add_kernel();
    add(f, p, 1, 10);
    OK(cuCtxSynchronize());
    OK(cuCtxCreate(&ctx, NULL, 0, 1));
    f = add_kernel();
    add(f, p, 1, 100);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(a[0], 111);
}
END_TEST

START_TEST(attributes_say_what_managed_memory_is)
{
    CUdeviceptr p, q;
    unsigned type;
    bool managed;
    void *at;
    begin();
    OK(cuMemAllocManaged(&p, 5000, CU_MEM_ATTACH_GLOBAL));
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    ck_assert(managed);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&at, CU_POINTER_ATTRIBUTE_HOST_POINTER, p + 8));
    ck_assert_ptr_eq(at, (void *)(uintptr_t)(p + 8));
    OK(cuPointerGetAttribute(&q, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8));
    ck_assert_uint_eq(q, p + 8);
    OK(cuMemAlloc(&q, 16));
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, q));
    ck_assert(!managed);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost((void *)(uintptr_t)p));
    unsigned flags;
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemHostGetFlags(&flags, (void *)(uintptr_t)p));
}
END_TEST

START_TEST(wrong_managed_calls_are_refused)
{
    CUdeviceptr p, d;
    begin();
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemAllocManaged(NULL, 16, CU_MEM_ATTACH_GLOBAL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemAllocManaged(&p, 16, CU_MEM_ATTACH_SINGLE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, 16, 0));
    OK(cuMemAllocManaged(&p, 16, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAlloc(&d, 16));
    OK(cuMemPrefetchAsync(p, 16, device_0, 0, NULL));
    OK(cuMemPrefetchAsync(p, 16, host, 0, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemPrefetchAsync(d, 16, device_0, 0, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(p, 0, device_0, 0, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemPrefetchAsync(p, 16, device_0, 1, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemPrefetchAsync(p, 1 << 20, device_0, 0, NULL));
    WANT(CUDA_ERROR_INVALID_DEVICE,
         cuMemPrefetchAsync(
             p, 16, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 99}, 0, NULL));
    OK(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_HOST));
    OK(cuStreamAttachMemAsync(NULL, p, 16, CU_MEM_ATTACH_SINGLE));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuStreamAttachMemAsync(NULL, p, 8, CU_MEM_ATTACH_HOST));
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, p, 0, 9));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuStreamAttachMemAsync(NULL, d, 0, CU_MEM_ATTACH_HOST));
    OK(cuCtxSynchronize());
}
END_TEST

static int asked(CUdeviceptr p, CUmem_range_attribute attribute)
{
    int value = -77;
    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, p, 4096));
    return value;
}

START_TEST(advice_is_remembered)
{
    CUdeviceptr p;
    int who[3];
    begin();
    OK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
                     CU_DEVICE_INVALID);
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION),
                     CU_DEVICE_INVALID);
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device_0));
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device_0));
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
                     CU_DEVICE_CPU);
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
                     CU_MEM_LOCATION_TYPE_HOST);
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, device_0));
    OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cuMemRangeGetAttribute(who, sizeof who,
                              CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
    ck_assert_int_eq(who[0], CU_DEVICE_CPU);
    ck_assert_int_eq(who[1], 0);
    ck_assert_int_eq(who[2], CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync(p, 4096, device_0, 0, NULL));
    ck_assert_int_eq(asked(p, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION),
                     0);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemAdvise(p, 4096, (CUmem_advise)99, device_0));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemRangeGetAttribute(who, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p,
                                4096));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p,
                                4096));
}
END_TEST

START_TEST(kernels_reach_registered_memory_at_its_device_pointer)
{
    CUdeviceptr d;
    CUfunction f;
    unsigned flags;
    begin();
    f = add_kernel();
    uint8_t *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *a = (uint32_t *)(pages + 4000);
    memset(pages, 0x5a, 3 * 4096);
    for (uint32_t i = 0; i < 100; i++)
        a[i] = i;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&d, a, 0));
    OK(cuMemHostRegister(a, 400, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetFlags(&flags, a));
    ck_assert_uint_eq(flags, CU_MEMHOSTREGISTER_DEVICEMAP);
    OK(cuMemHostGetDevicePointer(&d, a, 0));
    add(f, d, 100, 3);
    OK(cuCtxSynchronize());
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(a[i], i + 3);
    a[0] = 50;
    OK(cuMemHostGetDevicePointer(&d, a + 1, 0));
    add(f, d - 4, 1, 3);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(a[0], 53);
    OK(cuMemHostUnregister(a));
    ck_assert_uint_eq(a[0], 53);
    ck_assert_uint_eq(pages[0], 0x5a);
    ck_assert_uint_eq(pages[4096 * 2], 0x5a);
    a[0] = 1; /* the program's own page again */
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&d, a, 0));
    WANT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(a));
    OK(cuMemHostRegister(a, 400, 0));
    OK(cuMemHostUnregister(a));
}
END_TEST

static const char managed_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_word = 5;\n"
    ".visible .global .attribute(.managed) .align 4 .b8 big[10000];\n"
    ".visible .global .align 4 .u32 plain = 1;\n"
    ".visible .entry bump()\n{\n .reg .b32 %r<3>;\n"
    " ld.global.u32 %r0, [shared_word]; add.u32 %r0, %r0, 10;\n"
    " st.global.u32 [shared_word], %r0; st.global.u32 [big+9996], %r0;\n"
    " ret;\n}\n";

START_TEST(managed_variables_are_the_same_on_both_sides)
{
    CUmodule module;
    CUfunction bump;
    CUdeviceptr word, big;
    size_t bytes;
    unsigned char managed = 0;
    unsigned got;
    begin();
    OK(cuModuleLoadData(&module, managed_ptx));
    OK(cuModuleGetGlobal(&word, &bytes, module, "shared_word"));
    OK(cuModuleGetGlobal(&big, &bytes, module, "big"));
    ck_assert_uint_eq(bytes, 10000);
    volatile unsigned *host = (unsigned *)(uintptr_t)word;
    volatile unsigned *end = (unsigned *)(uintptr_t)(big + 9996);
    ck_assert_uint_eq(*host, 5);
    OK(cuModuleGetFunction(&bump, module, "bump"));
    OK(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    ck_assert(*host == 15 && *end == 15);
    *host = 100;
    OK(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    ck_assert(*host == 110 && *end == 110);
    OK(cuMemcpyDtoH(&got, word, 4));
    ck_assert_uint_eq(got, 110);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, word));
    ck_assert_uint_eq(managed, 1);
    OK(cuMemPrefetchAsync(
        big, 10000, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(word));
    OK(cuModuleGetGlobal(&word, &bytes, module, "plain"));
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, word));
    ck_assert_uint_eq(managed, 0);
    for (int i = 0; i < 20; i++) {
        OK(cuModuleUnload(module));
        OK(cuModuleLoadData(&module, managed_ptx));
        OK(cuModuleGetGlobal(&word, &bytes, module, "shared_word"));
        ck_assert_uint_eq(*(volatile unsigned *)(uintptr_t)word, 5);
    }
    CUlibrary library;
    OK(cuLibraryLoadData(&library, managed_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetManaged(&word, &bytes, library, "shared_word"));
    ck_assert_uint_eq(*(volatile unsigned *)(uintptr_t)word, 5);
    WANT(CUDA_ERROR_NOT_FOUND,
         cuLibraryGetManaged(&word, &bytes, library, "plain"));
    WANT(CUDA_ERROR_NOT_FOUND,
         cuLibraryGetManaged(&word, &bytes, library, "none"));
}
END_TEST

SUITE_MAIN("softcuda driver: managed memory", 30,
           host_and_kernels_share_managed_memory,
           managed_memory_is_copied_like_any_other,
           every_device_sees_managed_memory,
           attributes_say_what_managed_memory_is,
           wrong_managed_calls_are_refused, advice_is_remembered,
           kernels_reach_registered_memory_at_its_device_pointer,
           managed_variables_are_the_same_on_both_sides)

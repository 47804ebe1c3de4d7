/*
 * Device memory: unreachable for the CPU, copied exactly, bounded, placed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/find_device.h"

/* The kernel's view of an address: can a system call read it? */
static int cpu_can_read(CUdeviceptr p)
{
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    ssize_t n = write(fds[1], (const void *)(uintptr_t)p, 1);
    close(fds[0]);
    close(fds[1]);
    return n == 1;
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Bytes of a file's mappings that a process has mapped by large pages. */
static unsigned long large_bytes(pid_t process, const char *file)
{
    char line[512];
    unsigned long kib, sum = 0;
    bool ours = false;
    snprintf(line, sizeof line, "/proc/%d/smaps", (int)process);
    FILE *f = fopen(line, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        if (strstr(line, "memfd:"))
            ours = strstr(line, file) != NULL;
        if (ours && sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1)
            sum += kib << 10;
    }
    fclose(f);
    return sum;
}

/* Whether the system makes large pages of shared memory when asked. */
static bool has_large_pages(void)
{
    int fd = memfd_create("probe", 0);
    ck_assert_int_eq(ftruncate(fd, 4 * MIB), 0);
    char *room =
        mmap(NULL, 8 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = room + (-(uintptr_t)room & (2 * MIB - 1));
    ck_assert(mmap(at, 4 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   fd, 0) == (void *)at);
    at[0] = 1;
    bool has = madvise(at, 2 * MIB, MADV_COLLAPSE) == 0;
    munmap(room, 8 * MIB);
    close(fd);
    return has;
}

START_TEST(first_copies_to_fresh_memory_take_large_pages)
{
    enum { N = 6 * MIB };
    CUdeviceptr p;
    char *host = malloc(N), *back = malloc(N);
    if (!has_large_pages())
        SUITE_SKIP_CASE("no large pages of shared memory here");
    begin();
    fill_random((uint8_t *)host, N, 7);
    for (int round = 0; round < 3; round++) {
        OK(cuMemAlloc(&p, N));
        OK(cuMemcpyHtoD(p, host, N));
        /* threads that share the copy may meet in one of them */
        ck_assert_uint_ge(large_bytes(getpid(), "softcuda-memory"),
                          N - 2 * MIB);
        OK(cuMemcpyDtoH(back, p, N));
        ck_assert_mem_eq(back, host, N);
        OK(cuMemFree(p));
        ck_assert_uint_eq(large_bytes(getpid(), "softcuda-memory"), 0);
    }
    free(host);
    free(back);
}
END_TEST

/* p[i] = v + i for each thread */
static CUfunction fill_kernel(void)
{
    static const char text[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry fill(.param .u64 p, .param .u32 v)\n{\n"
        " .reg .b32 %r<7>; .reg .b64 %d<4>;\n"
        " ld.param.u64 %d0, [p]; ld.param.u32 %r0, [v];\n"
        " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"
        " mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n"
        " cvta.to.global.u64 %d1, %d0; mul.wide.u32 %d2, %r4, 4;\n"
        " add.s64 %d3, %d1, %d2; add.s32 %r5, %r0, %r4;\n"
        " st.global.u32 [%d3], %r5; ret;\n}\n";
    CUmodule module;
    CUfunction fill;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&fill, module, "fill"));
    return fill;
}

static void run_fill(CUfunction fill, CUdeviceptr p, uint32_t bytes, uint32_t v)
{
    void *params[] = {&p, &v};
    OK(cuLaunchKernel(fill, bytes / 1024, 1, 1, 256, 1, 1, 0, NULL, params,
                      NULL));
    OK(cuCtxSynchronize());
}

static void must_be_filled(CUdeviceptr p, uint32_t bytes, uint32_t v)
{
    uint32_t *back = malloc(bytes), i = 0;
    OK(cuMemcpyDtoH(back, p, bytes));
    while (i < bytes / 4 && back[i] == v + i)
        i++;
    ck_assert_uint_eq(i, bytes / 4);
    free(back);
}

START_TEST(first_stores_of_kernels_take_large_pages)
{
    enum { N = 24 * MIB };
    CUdeviceptr p;
    begin();
    CUfunction fill = fill_kernel();
    pid_t device = device_of(getpid(), 0);
    ck_assert_int_gt(device, 0);
    for (uint32_t round = 0; round < 3; round++) {
        OK(cuMemAlloc(&p, N));
        ck_assert_uint_eq(large_bytes(device, "softcuda-memory"), 0);
        run_fill(fill, p, N, round);
        if (has_large_pages())
            ck_assert_uint_ge(large_bytes(device, "softcuda-memory"),
                              N - 4 * MIB);
        must_be_filled(p, N, round);
        OK(cuMemFree(p));
    }
}
END_TEST

/* As where an array ends in 2 MiB that are mapped apart. */
START_TEST(stores_behind_a_large_mapping_take_a_large_page)
{
    enum { N = 6 * MIB, REST = 2 * MIB };
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle whole, rest;
    const CUmemAccessDesc access = {prop.location,
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr p;
    begin();
    CUfunction fill = fill_kernel();
    pid_t device = device_of(getpid(), 0);
    OK(cuMemAddressReserve(&p, N + REST, 0, 0, 0));
    OK(cuMemCreate(&whole, N, &prop, 0));
    OK(cuMemCreate(&rest, REST, &prop, 0));
    OK(cuMemMap(p, N, 0, whole, 0));
    OK(cuMemMap(p + N, REST, 0, rest, 0));
    OK(cuMemSetAccess(p, N + REST, &access, 1));
    run_fill(fill, p + N, REST, 9);
    if (has_large_pages())
        ck_assert_uint_eq(large_bytes(device, "softcuda-memory"), REST);
    must_be_filled(p + N, REST, 9);
    run_fill(fill, p, N + REST, 5);
    must_be_filled(p, N + REST, 5);
    OK(cuMemUnmap(p, N));
    must_be_filled(p + N, REST, 5 + N / 4);
    OK(cuMemUnmap(p + N, REST));
}
END_TEST

/* What is there already stays, and what nobody touches gets nothing. */
START_TEST(stores_beside_copies_change_nothing_else)
{
    enum { N = 24 * MIB, PART = 64 * 1024 };
    CUdeviceptr p;
    begin();
    CUfunction fill = fill_kernel();
    uint8_t *model = malloc(N), *back = malloc(N);
    fill_random(model, N, 3);
    OK(cuMemAlloc(&p, N));
    for (uint32_t at = 0; at < N; at += 3 * MIB)
        OK(cuMemcpyHtoD(p + at, model + at, 3 * MIB));
    for (uint32_t at = PART; at < N; at += 5 * MIB) {
        run_fill(fill, p + at, PART, at);
        for (uint32_t i = 0; i < PART / 4; i++)
            memcpy(model + at + i * 4, &(uint32_t){at + i}, 4);
    }
    OK(cuMemcpyDtoH(back, p, N));
    ck_assert_mem_eq(back, model, N);
    OK(cuMemFree(p));
    OK(cuMemAlloc(&p, N));
    run_fill(fill, p + 10 * MIB, PART, 1);
    ck_assert_uint_le(large_bytes(device_of(getpid(), 0), "softcuda-memory"),
                      2 * MIB);
    OK(cuMemsetD8(p, 0, 10 * MIB));
    must_be_filled(p + 10 * MIB, PART, 1);
    free(model);
    free(back);
}
END_TEST

START_TEST(device_memory_is_unreachable_for_the_cpu)
{
    CUdeviceptr small, large;
    begin();
    OK(cuMemAlloc(&small, 100));
    OK(cuMemAlloc(&large, 3 * MIB));
    OK(cuMemsetD8(small, 1, 100));
    OK(cuCtxSynchronize());
    ck_assert(!cpu_can_read(small));
    ck_assert(!cpu_can_read(large));
    ck_assert(!cpu_can_read(large + 3 * MIB - 1));
}
END_TEST

START_TEST(odd_copies_in_all_directions_are_exact)
{
    enum { N = 3 * 1024 * 1024 + 77 };
    uint8_t *model = malloc(N), *host = malloc(N);
    CUdeviceptr a, b;
    uint64_t seed = 42;
    begin();
    OK(cuMemAlloc(&a, N));
    OK(cuMemAlloc(&b, N));
    fill_random(model, N, 1);
    OK(cuMemcpyHtoD(a, model, N));
    OK(cuMemcpyDtoD(b, a, N));
    for (int i = 0; i < 300; i++) {
        size_t n = next_random(&seed) % (i % 10 ? 5000 : N / 2) + 1;
        size_t from = next_random(&seed) % (N - n);
        size_t to = next_random(&seed) % (N - n);
        switch (next_random(&seed) % 4) {
        case 0:
            fill_random(host, n, seed);
            OK(cuMemcpyHtoD(a + to, host, n));
            memcpy(model + to, host, n);
            break;
        case 1:
            OK(cuMemcpyDtoH(host, a + from, n));
            ck_assert_mem_eq(host, model + from, n);
            break;
        case 2:
            OK(cuMemcpyDtoD(b, a + from, n));
            OK(cuMemcpyDtoD(a + to, b, n));
            memmove(model + to, model + from, n);
            break;
        default:
            OK(cuMemsetD8(a + to, (unsigned char)i, n));
            memset(model + to, i, n);
        }
    }
    OK(cuMemcpyDtoH(host, a, N));
    ck_assert_mem_eq(host, model, N);
    free(host);
    free(model);
}
END_TEST

START_TEST(copies_decide_by_the_value_of_the_pointer)
{
    CUdeviceptr a, b;
    uint32_t one = 111, two = 222, got = 0;
    begin();
    OK(cuMemAlloc(&a, 4));
    OK(cuMemAlloc(&b, 4));
    OK(cuMemcpyHtoD(a, &one, 4));
    /* a device address in the host argument is device memory */
    OK(cuMemcpyHtoD(b, (const void *)(uintptr_t)a, 4));
    OK(cuMemcpyDtoH(&got, b, 4));
    ck_assert_uint_eq(got, 111);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)&got, (CUdeviceptr)(uintptr_t)&two, 4));
    ck_assert_uint_eq(got, 222);
    OK(cuMemcpy(a, (CUdeviceptr)(uintptr_t)&two, 4));
    got = 0;
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)&got, a, 4, NULL));
    ck_assert_uint_eq(got, 222);
}
END_TEST

START_TEST(bad_addresses_are_refused)
{
    CUdeviceptr a;
    char buffer[64];
    void *hole =
        mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin();
    OK(cuMemAlloc(&a, 4 * MIB));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, NULL, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, hole, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(hole, a, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, (void *)64, 8));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemcpyHtoD((CUdeviceptr)(uintptr_t)buffer, buffer, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(buffer, a + 4 * MIB - 4, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(a + 4 * MIB, 0, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 1, 0, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy((CUdeviceptr)(uintptr_t)hole,
                                            (CUdeviceptr)(uintptr_t)buffer, 8));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(a + 512));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree((CUdeviceptr)(uintptr_t)buffer));
    OK(cuMemFree(a));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));
    OK(cuMemFree(0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, buffer, 8));
    OK(cuMemcpyHtoD(a, buffer, 0));
}
END_TEST

START_TEST(memsets_of_every_width_fill_exactly)
{
    CUdeviceptr p;
    uint8_t got[256], want[256];
    begin();
    OK(cuMemAlloc(&p, 256));
    memset(want, 0, sizeof want);
    OK(cuMemsetD8(p, 0, 256));
    OK(cuMemsetD8(p + 3, 0xab, 17));
    memset(want + 3, 0xab, 17);
    OK(cuMemsetD16(p + 32, 0x1234, 5));
    for (int i = 0; i < 5; i++)
        memcpy(want + 32 + 2 * i, &(uint16_t){0x1234}, 2);
    OK(cuMemsetD32Async(p + 64, 0xdeadbeef, 7, NULL));
    for (int i = 0; i < 7; i++)
        memcpy(want + 64 + 4 * i, &(uint32_t){0xdeadbeef}, 4);
    OK(cuMemsetD2D8(p + 128, 16, 0x55, 5, 3));
    for (int i = 0; i < 3; i++)
        memset(want + 128 + 16 * i, 0x55, 5);
    OK(cuMemsetD2D16(p + 192, 16, 0x7788, 3, 3));
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            memcpy(want + 192 + 16 * y + 2 * x, &(uint16_t){0x7788}, 2);
    OK(cuMemcpyDtoH(got, p, 256));
    ck_assert_mem_eq(got, want, 256);
}
END_TEST

START_TEST(shaped_copies_move_boxes)
{
    enum { W = 37, H = 11, D = 5 };
    static uint8_t src[D][H][W], dst[D][H][W], flat[4 * 6 * 3];
    CUdeviceptr p;
    begin();
    OK(cuMemAlloc(&p, sizeof src));
    fill_random(&src[0][0][0], sizeof src, 7);
    OK(cuMemcpyHtoD(p, src, sizeof src));
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = p,
                         .srcPitch = W,
                         .srcHeight = H,
                         .srcXInBytes = 3,
                         .srcY = 2,
                         .srcZ = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = flat,
                         .dstPitch = 4,
                         .dstHeight = 6,
                         .WidthInBytes = 4,
                         .Height = 6,
                         .Depth = 3};
    OK(cuMemcpy3D(&box));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 6; y++)
            ck_assert_mem_eq(flat + (z * 6 + y) * 4, &src[z + 1][y + 2][3], 4);
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                          .srcDevice = p,
                          .srcPitch = W,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = W,
                          .dstY = H,
                          .WidthInBytes = W,
                          .Height = H};
    OK(cuMemcpy2DUnaligned(&rows));
    OK(cuMemcpyDtoH(dst, p, sizeof dst));
    ck_assert_mem_eq(dst[1], src[0], sizeof dst[1]);
    ck_assert_mem_eq(dst[2], src[2], sizeof dst[2]);
    rows.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    WANT(CUDA_ERROR_INVALID_HANDLE, cuMemcpy2D(&rows));
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.Height = 1000;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&rows));
}
END_TEST

START_TEST(small_allocations_share_pages)
{
    CUdeviceptr p[1000], base;
    size_t free_before, free_now, total, size;
    begin();
    OK(cuMemGetInfo(&free_before, &total));
    for (int i = 0; i < 1000; i++) {
        OK(cuMemAlloc(&p[i], 64));
        ck_assert_uint_eq(p[i] % 512, 0);
    }
    OK(cuMemGetInfo(&free_now, &total));
    ck_assert_uint_eq(free_before - free_now, 2 * MIB);
    OK(cuMemGetAddressRange(&base, &size, p[500] + 63));
    ck_assert_uint_eq(base, p[500]);
    ck_assert_uint_eq(size, 64);
    WANT(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, p[500] + 64));
    for (int i = 0; i < 1000; i++)
        OK(cuMemFree(p[(i * 7) % 1000]));
    OK(cuMemGetInfo(&free_now, &total));
    ck_assert_uint_eq(free_before, free_now);
}
END_TEST

START_TEST(memory_limit_is_kept_and_recovers)
{
    CUdeviceptr p[64], q;
    size_t free_bytes, total;
    int n = 0;
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    begin();
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&q, 65 * MIB));
    WANT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&q, SIZE_MAX));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&q, 0));
    while (n < 64 && cuMemAlloc(&p[n], 6 * MIB) == CUDA_SUCCESS)
        n++;
    ck_assert_int_eq(n, 10);
    for (int i = 0; i < n; i += 2)
        OK(cuMemFree(p[i]));
    /* holes between the rest do not matter, as with page tables */
    OK(cuMemAlloc(&q, 30 * MIB));
    OK(cuMemFree(q));
    for (int i = 1; i < n; i += 2)
        OK(cuMemFree(p[i]));
    OK(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total);
    OK(cuMemAlloc(&q, 64 * MIB));
}
END_TEST

START_TEST(context_destroyed_gives_memory_back)
{
    CUcontext a = begin(), b;
    CUdeviceptr p;
    size_t before, after, total;
    OK(cuMemGetInfo(&before, &total));
    OK(cuCtxCreate(&b, NULL, 0, 0));
    for (int i = 0; i < 20; i++)
        OK(cuMemAlloc(&p, i % 2 ? 100 : 5 * MIB));
    OK(cuCtxDestroy(b));
    OK(cuCtxSetCurrent(a));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
}
END_TEST

START_TEST(pinned_memory_belongs_to_both_sides)
{
    uint32_t *host;
    CUdeviceptr seen, p;
    unsigned flags;
    begin();
    OK(cuMemHostAlloc((void **)&host, 100000, CU_MEMHOSTALLOC_DEVICEMAP));
    host[0] = 5;
    host[24999] = 6;
    OK(cuMemHostGetDevicePointer(&seen, host, 0));
    OK(cuMemHostGetFlags(&flags, host));
    ck_assert(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuMemAlloc(&p, 100000));
    OK(cuMemcpyDtoD(p, seen, 100000));
    OK(cuMemsetD32(seen, 77, 10));
    ck_assert_uint_eq(host[9], 77);
    OK(cuMemcpyDtoH(host, p, 100000));
    ck_assert_uint_eq(host[0], 5);
    ck_assert_uint_eq(host[24999], 6);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost((char *)host + 4096));
    OK(cuMemFreeHost(host));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));
    ck_assert(!cpu_can_read((CUdeviceptr)(uintptr_t)host));
}
END_TEST

START_TEST(registered_memory_is_known_until_unregistered)
{
    char *own = aligned_alloc(4096, 65536);
    unsigned type;
    begin();
    OK(cuMemHostRegister(own, 65536, 0));
    WANT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
         cuMemHostRegister(own + 4096, 4096, 0));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)(own + 100)));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&type, (CUpointer_attribute)999,
                               (CUdeviceptr)(uintptr_t)own));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_HOST);
    WANT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
         cuMemHostUnregister(own + 4096));
    OK(cuMemHostUnregister(own));
    WANT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
    WANT(CUDA_ERROR_NOT_SUPPORTED,
         cuMemHostRegister(own, 4096, CU_MEMHOSTREGISTER_IOMEMORY));
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                               (CUdeviceptr)(uintptr_t)own));
}
END_TEST

START_TEST(pointer_attributes_describe_device_memory)
{
    CUcontext ctx = begin(), owner;
    CUdeviceptr p, base;
    unsigned type;
    int ordinal;
    size_t size;
    OK(cuMemAlloc(&p, 1000));
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&owner, &type, &ordinal, &base, &size};
    OK(cuPointerGetAttributes(5, which, data, p + 999));
    ck_assert_ptr_eq(owner, ctx);
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    ck_assert_int_eq(ordinal, 0);
    ck_assert_uint_eq(base, p);
    ck_assert_uint_eq(size, 1000);
    OK(cuPointerGetAttributes(5, which, data, (CUdeviceptr)(uintptr_t)&p));
    ck_assert_ptr_null(owner);
    ck_assert_uint_eq(type, 0);
    ck_assert_int_eq(ordinal, CU_DEVICE_INVALID);
}
END_TEST

START_TEST(pitched_rows_are_aligned)
{
    CUdeviceptr p;
    size_t pitch;
    begin();
    OK(cuMemAllocPitch(&p, &pitch, 1000, 10, 4));
    ck_assert_uint_ge(pitch, 1000);
    ck_assert_uint_eq(pitch % 512, 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&p, &pitch, 1000, 10, 3));
}
END_TEST

SUITE_MAIN("softcuda driver: memory", 30,
           first_copies_to_fresh_memory_take_large_pages,
           first_stores_of_kernels_take_large_pages,
           stores_behind_a_large_mapping_take_a_large_page,
           stores_beside_copies_change_nothing_else,
           device_memory_is_unreachable_for_the_cpu,
           odd_copies_in_all_directions_are_exact,
           copies_decide_by_the_value_of_the_pointer, bad_addresses_are_refused,
           memsets_of_every_width_fill_exactly, shaped_copies_move_boxes,
           small_allocations_share_pages, memory_limit_is_kept_and_recovers,
           context_destroyed_gives_memory_back,
           pinned_memory_belongs_to_both_sides,
           registered_memory_is_known_until_unregistered,
           pointer_attributes_describe_device_memory, pitched_rows_are_aligned)

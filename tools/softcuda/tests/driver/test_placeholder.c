/*
 * What lies on the host side of device memory: placeholders, pages that the
 * program maps over them, and what is left of both when the memory goes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

#define PAGE  ((size_t)4096)
#define SMALL ((size_t)64 << 10)
#define LARGE (16 * MIB)

static const CUmemAllocationProp prop = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

static void *at_host(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* How all of a range is mapped; "some" where that differs, "" nothing is. */
static const char *host_side(CUdeviceptr p, size_t bytes)
{
    static char mode[8];
    char line[512], here[8];
    unsigned long long begin, end, known = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    ck_assert_ptr_nonnull(maps);
    *mode = '\0';
    while (fgets(line, sizeof line, maps)) {
        ck_assert_int_eq(sscanf(line, "%llx-%llx %7s", &begin, &end, here), 3);
        begin = begin < p ? p : begin;
        end = end > p + bytes ? p + bytes : end;
        if (begin >= end)
            continue;
        bool same = known == 0 || strcmp(mode, here) == 0;
        snprintf(mode, sizeof mode, "%s", same ? here : "some");
        known += end - begin;
    }
    fclose(maps);
    if (known > 0 && known < bytes)
        snprintf(mode, sizeof mode, "some");
    return mode;
}

#define HOST_SIDE(p, bytes, want) ck_assert_str_eq(host_side(p, bytes), want)

/* Pages of the program's own over whole pages of a range, full of 7s. */
static uint8_t *cover(CUdeviceptr p, size_t bytes)
{
    uint8_t *at = mmap(at_host(p & -PAGE), bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ck_assert_ptr_eq(at, at_host(p & -PAGE));
    memset(at, 7, bytes);
    return at;
}

static size_t sevens(const uint8_t *at, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += at[i] == 7;
    return n;
}

START_TEST(small_allocations_are_placed_one_behind_the_other)
{
    /* as on the H200, from the first on */
    static const struct {
        uint32_t bytes, first, second;
    } rows[] = {{1, 0, 0x200},
                {4096, 0x400, 0x1400},
                {65536, 0x2400, 0x12400},
                {1 << 20, 0x22400, 0x200000}};
    CUdeviceptr base = 0, p;
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OK(cuMemAlloc(&p, rows[i].bytes));
        base = base ? base : p;
        ck_assert_uint_eq(p - base, rows[i].first);
        OK(cuMemAlloc(&p, rows[i].bytes));
        ck_assert_uint_eq(p - base, rows[i].second);
    }
    ck_assert_uint_eq(base % (2 * MIB), 0);
    HOST_SIDE(base, 4 * MIB, "---p");
}
END_TEST

START_TEST(freeing_much_takes_away_what_lies_over_it)
{
    CUdeviceptr p, again;
    begin();
    OK(cuMemAlloc(&p, LARGE));
    HOST_SIDE(p, LARGE, "---p");
    cover(p, LARGE);
    OK(cuMemFree(p));
    HOST_SIDE(p, LARGE, "");
    OK(cuMemAlloc(&again, LARGE));
    ck_assert_uint_eq(again, p);
    HOST_SIDE(p, LARGE, "---p");
    munmap(at_host(p), LARGE);
    OK(cuMemFree(p));
    OK(cuMemAlloc(&again, LARGE));
    HOST_SIDE(again, LARGE, "---p");
}
END_TEST

START_TEST(freeing_little_leaves_what_lies_over_it)
{
    static const size_t sizes[] = {SMALL, MIB, 2 * MIB};
    CUdeviceptr p, again;
    uint32_t word = 1;
    begin();
    for (size_t i = 0; i < 3; i++) {
        OK(cuMemAlloc(&p, sizes[i]));
        uint8_t *pages = cover(p, sizes[i]);
        OK(cuMemFree(p));
        ck_assert_uint_eq(sevens(pages, sizes[i]), sizes[i]);
        /* and hides the next memory there, which is the device's all the same */
        OK(cuMemAlloc(&again, sizes[i]));
        ck_assert_uint_eq(again, p);
        OK(cuMemsetD32(p, 5, 1));
        OK(cuMemcpyDtoH(&word, p, 4));
        ck_assert_uint_eq(word, 5);
        ck_assert_uint_eq(sevens(pages, sizes[i]), sizes[i]);
    }
    /* which is nothing to memory with a mapping of its own */
    OK(cuMemFree(p));
    OK(cuMemAlloc(&again, LARGE));
    HOST_SIDE(again, LARGE, "---p");
}
END_TEST

/* The next mmap may get the addresses of freed memory: it stays the program's,
 * and is no device memory to a copy. */
START_TEST(freed_addresses_can_be_the_programs)
{
    CUdeviceptr p, elsewhere, q;
    uint32_t word = 0;
    begin();
    OK(cuMemAlloc(&p, LARGE));
    OK(cuMemFree(p));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, &word, 4));
    uint8_t *own =
        mmap(at_host(p + 4 * MIB), MIB, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ck_assert_ptr_eq(own, at_host(p + 4 * MIB));
    memset(own, 7, MIB);
    OK(cuMemAlloc(&elsewhere, LARGE));
    ck_assert_uint_eq(sevens(own, MIB), MIB);
    ck_assert(elsewhere + LARGE <= p + 4 * MIB || elsewhere >= p + 5 * MIB);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD((uintptr_t)own, &word, 4));
    OK(cuMemcpyHtoD(elsewhere, own, MIB));
    OK(cuMemsetD8(elsewhere, 9, 5));
    OK(cuMemcpyDtoH(own, elsewhere, MIB));
    ck_assert_uint_eq(sevens(own, MIB), MIB - 5);
    OK(cuMemHostRegister(own, MIB, 0));
    OK(cuMemHostUnregister(own));
    OK(cuMemAddressReserve(&q, 2 * MIB, 0, p + 4 * MIB, 0));
    ck_assert_uint_ne(q, p + 4 * MIB);
    OK(cuMemAddressFree(q, 2 * MIB));
    /* what is left of the addresses can be had again */
    OK(cuMemAlloc(&q, 3 * MIB));
    ck_assert_uint_eq(q, p);
    munmap(own, MIB);
    OK(cuMemFree(elsewhere));
    OK(cuMemFree(q));
    OK(cuMemAlloc(&q, LARGE));
    ck_assert_uint_eq(q, p);
}
END_TEST

START_TEST(reserved_addresses_are_covered_until_they_are_given_back)
{
    const CUmemAccessDesc full = {prop.location,
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at, again;
    begin();
    OK(cuMemAddressReserve(&at, 2 * LARGE, 0, 0, 0));
    HOST_SIDE(at, 2 * LARGE, "---p");
    uint8_t *pages = cover(at, LARGE);
    OK(cuMemCreate(&memory, LARGE, &prop, 0));
    OK(cuMemMap(at, LARGE, 0, memory, 0));
    OK(cuMemSetAccess(at, LARGE, &full, 1));
    OK(cuMemsetD8(at, 1, LARGE));
    OK(cuMemUnmap(at, LARGE));
    OK(cuMemRelease(memory));
    ck_assert_uint_eq(sevens(pages, LARGE), LARGE);
    HOST_SIDE(at + LARGE, LARGE, "---p");
    OK(cuMemAddressFree(at, 2 * LARGE));
    HOST_SIDE(at, 2 * LARGE, "");
    OK(cuMemAddressReserve(&again, 2 * LARGE, 0, at, 0));
    ck_assert_uint_eq(again, at);
    HOST_SIDE(at, 2 * LARGE, "---p");
}
END_TEST

START_TEST(contexts_that_end_free_what_they_have)
{
    CUcontext ctx = begin(), primary;
    CUdeviceptr p, q;
    OK(cuMemAlloc(&p, LARGE));
    OK(cuMemAlloc(&q, SMALL));
    cover(p, LARGE);
    uint8_t *pages = cover(q, SMALL);
    OK(cuCtxDestroy(ctx));
    HOST_SIDE(p, LARGE, "");
    ck_assert_uint_eq(sevens(pages, SMALL), SMALL);
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    OK(cuMemAlloc(&p, LARGE));
    cover(p, LARGE);
    OK(cuDevicePrimaryCtxReset(0));
    HOST_SIDE(p, LARGE, "");
}
END_TEST

START_TEST(pools_are_covered_until_they_are_destroyed)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = prop.location};
    const size_t range = 256 * MIB;
    CUmemoryPool pool;
    CUdeviceptr small, large, other, again;
    setenv("SOFTCUDA_MEMORY", "128M", 1);
    begin();
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAlloc(&other, SMALL));
    OK(cuMemAllocFromPoolAsync(&small, SMALL, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&large, LARGE, pool, NULL));
    ck_assert_uint_eq(large, small + 2 * MIB);
    HOST_SIDE(small, range, "---p");
    ck_assert(other < small || other >= small + range);
    uint8_t *pages = cover(small, SMALL), *more = cover(large, LARGE);
    OK(cuMemFreeAsync(small, NULL));
    OK(cuMemFreeAsync(large, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemPoolTrimTo(pool, 0));
    ck_assert_uint_eq(sevens(pages, SMALL) + sevens(more, LARGE),
                      SMALL + LARGE);
    OK(cuMemAllocFromPoolAsync(&again, SMALL, pool, NULL));
    ck_assert_uint_eq(again, small);
    ck_assert_uint_eq(sevens(pages, SMALL), SMALL);
    /* not before its memory has gone, too */
    OK(cuMemPoolDestroy(pool));
    ck_assert_uint_eq(sevens(more, LARGE), LARGE);
    OK(cuMemFree(again));
    HOST_SIDE(small, range, "");
}
END_TEST

/* Where twice the memory would be much of the window, pools have no range. */
START_TEST(pools_leave_room_in_a_small_window)
{
    CUdeviceptr p, q;
    setenv("SOFTCUDA_MEMORY", "300G", 1);
    begin();
    OK(cuMemAllocAsync(&p, SMALL, NULL));
    OK(cuMemAddressReserve(&q, 512 * 1024 * MIB, 0, 0, 0));
    OK(cuMemAllocAsync(&q, LARGE, NULL));
    uint8_t *pages = cover(q, LARGE);
    OK(cuMemFree(q));
    ck_assert_uint_eq(sevens(pages, LARGE), LARGE);
    OK(cuMemFree(p));
    OK(cuMemAlloc(&p, LARGE));
    HOST_SIDE(p, LARGE, "---p");
}
END_TEST

/* What a library that finds memory at an address asks about it. */
struct found {
    CUcontext ctx;
    unsigned type, access;
    int ordinal;
    CUdeviceptr start;
    size_t bytes;
    unsigned char managed, mapped;
    CUmemoryPool pool;
};

static struct found ask_about(CUdeviceptr p)
{
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_CONTEXT,
                                   CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_MAPPED,
                                   CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE};
    struct found f;
    void *data[] = {&f.ctx,   &f.type,    &f.access, &f.ordinal, &f.start,
                    &f.bytes, &f.managed, &f.mapped, &f.pool};
    memset(&f, 0xee, sizeof f);
    OK(cuPointerGetAttributes(9, which, data, p));
    return f;
}

#define READWRITE CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE

static void must_be_device_memory(struct found f, CUdeviceptr start,
                                  size_t bytes, CUcontext ctx)
{
    ck_assert_uint_eq(f.type, CU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(f.start, start);
    ck_assert_uint_eq(f.bytes, bytes);
    ck_assert_ptr_eq(f.ctx, ctx);
    ck_assert_int_eq(f.ordinal, 0);
    ck_assert_int_eq(f.managed, 0);
    ck_assert_int_eq(f.mapped, 1);
}

/* In the middle, and below pages of the program's own. */
START_TEST(covered_memory_is_described_as_it_was_made)
{
    CUcontext ctx = begin();
    CUmemoryPool pool;
    CUmodule module;
    CUdeviceptr large, small, pooled, variable;
    size_t bytes;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAlloc(&large, LARGE - 100));
    OK(cuMemAlloc(&small, 1000));
    OK(cuMemAllocAsync(&pooled, LARGE + 100, NULL));
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetGlobal(&variable, &bytes, module, "counter"));
    HOST_SIDE(variable & -PAGE, PAGE, "---p");
    for (int round = 0; round < 2; round++) {
        must_be_device_memory(ask_about(large + MIB), large, LARGE - 100, ctx);
        must_be_device_memory(ask_about(small + 999), small, 1000, ctx);
        must_be_device_memory(ask_about(variable + 9), variable, 16, ctx);
        struct found f = ask_about(pooled + LARGE);
        must_be_device_memory(f, pooled, LARGE + 100, NULL);
        ck_assert_ptr_eq(f.pool, pool);
        ck_assert_uint_eq(f.access, READWRITE);
        ck_assert_ptr_null(ask_about(large).pool);
        cover(large, LARGE);
        cover(small, PAGE);
        cover(pooled, LARGE);
        cover(variable, PAGE);
    }
}
END_TEST

START_TEST(mapped_memory_has_no_context_and_knows_its_access)
{
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr at;
    begin();
    OK(cuMemAddressReserve(&at, 2 * LARGE, 0, 0, 0));
    ck_assert_uint_eq(ask_about(at).type, 0);
    ck_assert_int_eq(ask_about(at).mapped, 0);
    OK(cuMemCreate(&memory, LARGE, &prop, 0));
    OK(cuMemMap(at + LARGE, LARGE, 0, memory, 0));
    for (unsigned flags = 0; flags <= 3; flags++) {
        access.flags = (CUmemAccess_flags)flags;
        if (flags != 2)
            OK(cuMemSetAccess(at + LARGE, LARGE, &access, 1));
        struct found f = ask_about(at + LARGE + MIB);
        must_be_device_memory(f, at + LARGE, LARGE, NULL);
        ck_assert_uint_eq(f.access, flags == 2 ? 1 : flags);
    }
    ck_assert_uint_eq(ask_about(at + LARGE - 1).type, 0);
}
END_TEST

/* What is not the device's alone. */
START_TEST(memory_of_both_sides_is_told_apart)
{
    CUdeviceptr managed;
    void *pinned;
    begin();
    OK(cuMemAllocManaged(&managed, SMALL, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&pinned, SMALL, 0));
    HOST_SIDE(managed, SMALL, "rw-s");
    struct found f = ask_about(managed + PAGE);
    ck_assert_int_eq(f.managed, 1);
    ck_assert_uint_eq(f.type, CU_MEMORYTYPE_DEVICE);
    f = ask_about((CUdeviceptr)(uintptr_t)pinned + PAGE);
    ck_assert_int_eq(f.managed, 0);
    ck_assert_uint_eq(f.type, CU_MEMORYTYPE_HOST);
}
END_TEST

/* A variable's pages are its module's: the driver leaves what is over them. */
START_TEST(covered_variables_are_the_devices)
{
    CUmodule module;
    CUfunction count;
    CUdeviceptr variable, p;
    size_t bytes;
    uint32_t words[4], sum;
    begin();
    OK(cuMemAlloc(&p, 4));
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetGlobal(&variable, &bytes, module, "counter"));
    OK(cuModuleGetFunction(&count, module, "count"));
    uint8_t *pages = cover(variable, PAGE), *more = cover(p, PAGE);
    void *params[] = {&p};
    OK(cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(words, variable, sizeof words));
    OK(cuMemcpyDtoH(&sum, p, sizeof sum));
    ck_assert_uint_eq(words[0], 2);
    ck_assert_uint_eq(words[3], 4);
    ck_assert_uint_eq(sum, 24);
    OK(cuModuleUnload(module));
    ck_assert_uint_eq(sevens(pages, PAGE) + sevens(more, PAGE), 2 * PAGE);
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetGlobal(&variable, &bytes, module, "counter"));
    ck_assert_ptr_eq(at_host(variable & -PAGE), pages);
    OK(cuMemcpyDtoH(words, variable, sizeof words));
    ck_assert_uint_eq(words[0], 1);
}
END_TEST

SUITE_MAIN("softcuda driver: placeholders", 30,
           small_allocations_are_placed_one_behind_the_other,
           freeing_much_takes_away_what_lies_over_it,
           freeing_little_leaves_what_lies_over_it,
           freed_addresses_can_be_the_programs,
           reserved_addresses_are_covered_until_they_are_given_back,
           contexts_that_end_free_what_they_have,
           pools_are_covered_until_they_are_destroyed,
           pools_leave_room_in_a_small_window,
           covered_memory_is_described_as_it_was_made,
           mapped_memory_has_no_context_and_knows_its_access,
           memory_of_both_sides_is_told_apart,
           covered_variables_are_the_devices)

/*
 * What lies on the host side of device memory: placeholders, pages that the
 * program maps over them, and what is left of both when the memory goes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/driver/driver_test.h"

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

SUITE_MAIN("softcuda driver: placeholders", 30,
           small_allocations_are_placed_one_behind_the_other,
           freeing_much_takes_away_what_lies_over_it,
           freeing_little_leaves_what_lies_over_it,
           freed_addresses_can_be_the_programs,
           reserved_addresses_are_covered_until_they_are_given_back,
           contexts_that_end_free_what_they_have,
           pools_are_covered_until_they_are_destroyed,
           pools_leave_room_in_a_small_window)

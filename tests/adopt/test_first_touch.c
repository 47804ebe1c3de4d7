/*
 * What the CPU's first touch of an array asks of host and device, in pages and
 * bytes, and what stays of arrays that have gone.
 *
 * Meson runs it preloaded, with arrays that are shared from their first touch on.
 */
#include "interpose/oversubscribe.h"

#include <sys/resource.h>
#include <time.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { AT_ONCE = 4, BLOCK = 256 << 10, PAGE = 4096, KEPT_MIB = 8 };

/* A block as the program sees it, and what stacks and tables take by the way. */
enum { PAGES = BLOCK / PAGE + 32 };

static size_t call(const char *name)
{
    size_t (*get)(void) = dlsym(RTLD_DEFAULT, name);
    ck_assert_msg(get != NULL, "not preloaded");
    return get();
}

/* Pages that were mapped into this process, and are. */
static long shared_pages(void)
{
    FILE *in = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (fgets(line, sizeof line, in))
        if (sscanf(line, "RssShmem: %ld kB", &kib) == 1)
            break;
    fclose(in);
    return kib * 1024 / PAGE;
}

/* Pages that this thread waited for. */
static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

/* The software device has what it needs to copy the block at `offset`. */
static uint8_t *array(size_t bytes, size_t offset, uint8_t value)
{
    static uint8_t block[BLOCK];
    size_t begin = offset / BLOCK * BLOCK;
    CUdeviceptr at;
    must(cuMemAlloc(&at, bytes));
    must(cuMemsetD8(at, value, bytes));
    must(cuMemcpyDtoH(block, at + begin,
                      bytes - begin < BLOCK ? bytes - begin : BLOCK));
    must(cuCtxSynchronize());
    return (uint8_t *)at;
}

static void must_have(const uint8_t *at, size_t offset, uint8_t value)
{
    ck_assert_uint_eq(*(const volatile uint8_t *)(at + offset), value);
}

static void give(uint8_t *at)
{
    must(cuMemFree((CUdeviceptr)at));
}

/* Until the thread has made what the last touch wanted. */
static void await_ready(void)
{
    must(cuCtxSynchronize()); /* starts it */
    for (int i = 0; i < 5000 && call("adsm_ready_count") == 0; i++)
        nanosleep(&(struct timespec){0, 2 * 1000 * 1000}, NULL);
    ck_assert_uint_gt(call("adsm_ready_count"), 0);
}

/* Arrays that were touched, and have gone; the thread has nothing to do then. */
static void touch_some(size_t bytes, size_t offset)
{
    uint8_t *some[AT_ONCE];
    void (*clear)(void) = dlsym(RTLD_DEFAULT, "adsm_ready_clear");
    ck_assert_msg(clear != NULL, "not preloaded");
    clear(); /* what was ready for another size */
    for (int i = 0; i < AT_ONCE; i++) {
        some[i] = array(bytes, offset, 1);
        must_have(some[i], offset, 1);
    }
    await_ready();
    for (int i = 0; i < AT_ONCE; i++)
        give(some[i]);
}

static void touch_once_more(size_t bytes, size_t offset)
{
    uint8_t *at = array(bytes, offset, 2);
    uint64_t down = COUNTER(bytes_down), huge = COUNTER(huge_pages);
    long pages = shared_pages();
    long faulted = faults();
    must_have(at, offset, 2);
    faulted = faults() - faulted;
    pages = shared_pages() - pages;
    size_t left = bytes - offset / BLOCK * BLOCK;
    ck_assert_uint_eq(COUNTER(bytes_down) - down, left < BLOCK ? left : BLOCK);
    ck_assert_uint_eq(COUNTER(huge_pages), huge);
    ck_assert_msg(pages <= PAGES, "at %zu of %zu KiB: %ld pages more are there",
                  offset / KIB, bytes / KIB, pages);
    ck_assert_msg(faulted <= PAGES, "at %zu of %zu KiB: %ld faults",
                  offset / KIB, bytes / KIB, faulted);
    give(at);
}

START_TEST(first_touch_asks_for_a_block_however_large_the_array)
{
    static const struct {
        size_t bytes, offset;
    } at[] = {{4 * KIB, 100},       {256 * KIB, 0},
              {MIB, 128 * KIB},     {4 * MIB, 0},
              {64 * MIB, 64 * KIB}, {64 * MIB, 63 * MIB},
              {4 * MIB, 3 * MIB},   {MIB + 12 * KIB, MIB + KIB}};
    device_start();
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        if (at[i].bytes > 64 * KIB)
            touch_some(at[i].bytes, at[i].offset);
        touch_once_more(at[i].bytes, at[i].offset);
    }
}
END_TEST

/* Nothing has gone: a thread makes what will be wanted. */
START_TEST(arrays_that_stay_find_pages_ready)
{
    enum { BYTES = 1 << 20, COUNT = 5 };
    device_start();
    must_have(array(BYTES, 0, 1), 0, 1);
    for (int i = 0; i < COUNT; i++) {
        uint8_t *at = array(BYTES, 0, 2);
        await_ready();
        long faulted = faults();
        must_have(at, BYTES - 1, 2);
        faulted = faults() - faulted;
        ck_assert_msg(faulted <= PAGES, "%ld faults", faulted);
    }
}
END_TEST

/* The pages of the first one hold its bytes when the second one gets them. */
START_TEST(array_in_pages_of_another_has_its_own_bytes)
{
    enum { BYTES = (3 << 20) + 20000 };
    device_start();
    for (int round = 1; round < 6; round++) {
        uint8_t *at = array(BYTES, 0, (uint8_t)round);
        for (size_t i = 0; i < BYTES; i++)
            must_have(at, i, (uint8_t)round);
        memset(at, 0xa5, BYTES);
        must(cuMemsetD8((CUdeviceptr)at + 100, 7, BYTES - 200));
        for (size_t i = 0; i < BYTES; i++)
            must_have(at, i, i < 100 || i >= BYTES - 100 ? 0xa5 : 7);
        give(at);
    }
}
END_TEST

START_TEST(little_stays_of_arrays_that_have_gone)
{
    device_start();
    for (size_t i = 1; i <= 12; i++) {
        uint8_t *at = array(i * 3 * MIB, 0, 1);
        for (size_t k = 0; k < i * 3 * MIB; k += PAGE)
            must_have(at, k, 1);
        give(at);
    }
    ck_assert_uint_gt(call("adsm_ready_count"), 0);
    /* The thread may be at work for the last one. */
    ck_assert_uint_le(call("adsm_arena_bytes_committed"), (KEPT_MIB + 2) * MIB);
}
END_TEST

SUITE_MAIN("first touch", 120,
           first_touch_asks_for_a_block_however_large_the_array,
           arrays_that_stay_find_pages_ready,
           array_in_pages_of_another_has_its_own_bytes,
           little_stays_of_arrays_that_have_gone)

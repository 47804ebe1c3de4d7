/*
 * How many allocations of a size a device holds: preloaded nine tenths at least
 * of what it holds bare. And whether memory that was freed is there again.
 *
 * Each count is taken by this program in a process of its own, with PRELOAD in
 * its LD_PRELOAD or not; the cases of memory that comes and goes need it.
 */
#include "common/suite.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define must(call) ck_assert_int_eq((call), CUDA_SUCCESS)
#define KIB        ((size_t)1 << 10)
#define MIB        ((size_t)1 << 20)

static char *self;

static CUresult device_start(void)
{
    CUdevice device;
    CUcontext context;
    CUresult result = cuInit(0);
    if (!result)
        result = cuDeviceGet(&device, 0);
    if (!result)
        result = cuDevicePrimaryCtxRetain(&context, device);
    return result ? result : cuCtxSetCurrent(context);
}

/* Allocate until refused. */
static long count_here(size_t bytes)
{
    CUdeviceptr at;
    CUresult result = device_start();
    long n = 0;
    while (!result && !(result = cuMemAlloc(&at, bytes)))
        n++;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return n;
    fprintf(stderr, "%zu bytes: result %d\n", bytes, (int)result);
    return -1;
}

static long count(size_t bytes, bool preloaded)
{
    char command[4096];
    long n = -1;
    snprintf(command, sizeof command,
             "SOFTCUDA_MEMORY=%zuM LD_PRELOAD=%s '%s' %zu",
             bytes > 8 * MIB ? (size_t)1024 : 64,
             preloaded ? getenv("PRELOAD") : "", self, bytes);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_int_eq(fscanf(pipe, "%ld", &n), 1);
    ck_assert_int_eq(pclose(pipe), 0);
    return n;
}

static void fit_nine_tenths_as_often(const size_t *sizes, size_t n)
{
    printf("%10s %8s %9s %6s\n", "bytes", "bare", "preloaded", "ratio");
    bool enough = true;
    for (size_t i = 0; i < n; i++) {
        long bare = count(sizes[i], false), preloaded = count(sizes[i], true);
        double ratio = (double)preloaded / (double)bare;
        printf("%10zu %8ld %9ld %6.3f\n", sizes[i], bare, preloaded, ratio);
        ck_assert_int_gt(bare, 0);
        enough = enough && ratio >= 0.9;
    }
    fflush(stdout);
    ck_assert(enough);
}

START_TEST(every_size_fits_nine_tenths_as_often_as_bare)
{
    static const size_t sizes[] = {
        256,         600,       1500,     3000,      4096,       4097,
        5000,        8192,      9000,     10500,     16385,      20000,
        33 * KIB,    40000,     48 * KIB, 57 * KIB,  64 * KIB,   64 * KIB + 1,
        80000,       100 * KIB, 200000,   256 * KIB, 300000,     512 * KIB,
        513 * KIB,   700 * KIB, 1 * MIB,  MIB + 1,   1536 * KIB, 2 * MIB,
        2 * MIB + 1, 3 * MIB,   5 * MIB,  16 * MIB,  33 * MIB,   64 * MIB};
    fit_nine_tenths_as_often(sizes, sizeof sizes / sizeof *sizes);
}
END_TEST

/* Of which the driver has one more in a granule than their pages leave room
 * for: only where the pages are dealt out here. */
START_TEST(sizes_just_below_a_part_of_a_granule_fit_as_often)
{
    static const size_t sizes[] = {229888, 299520, 348672,
                                   418304, 696832, 698880};
    const char *strategy = getenv("ADSM_ADDRESS");
    if (strategy && strcmp(strategy, "window") == 0)
        fit_nine_tenths_as_often(sizes, sizeof sizes / sizeof *sizes);
}
END_TEST

/* Allocations of a few bytes to 4 MiB, each size as likely as half of it. */
static size_t some_size(void)
{
    return ((size_t)1 << rand() % 22) + (size_t)rand() % 3000;
}

static size_t memory_free(void)
{
    size_t free_bytes, total;
    must(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_le(free_bytes, total);
    return free_bytes;
}

enum { LIVE = 300 };

START_TEST(sizes_that_come_and_go_never_fill_the_device)
{
    static CUdeviceptr at[LIVE];
    must(device_start());
    srand(1);
    size_t before = memory_free(), least = before;
    for (int step = 0; step < 30000; step++) {
        int i = rand() % LIVE;
        if (at[i]) {
            must(cuMemFree(at[i]));
            at[i] = 0;
        } else {
            must(cuMemAlloc(&at[i], some_size()));
        }
        if (step == 10000)
            least = memory_free();
    }
    /* As many are live as then: a leak would show in twenty thousand steps. */
    ck_assert_uint_ge(memory_free() + 32 * MIB, least);
    for (int i = 0; i < LIVE; i++)
        if (at[i])
            must(cuMemFree(at[i]));
    ck_assert_uint_ge(memory_free() + 32 * MIB, before);
    must(cuMemAlloc(&at[0], before - 2 * MIB));
}
END_TEST

START_TEST(device_full_of_small_allocations_is_one_large_one_when_freed)
{
    static CUdeviceptr at[1 << 16];
    static const size_t sizes[] = {600, 5000, 33 * KIB, 100 * KIB, 3 * MIB};
    must(device_start());
    size_t before = memory_free();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = 0;
        while (n < sizeof at / sizeof *at && n * sizes[k] < 200 * MIB &&
               cuMemAlloc(&at[n], sizes[k]) == CUDA_SUCCESS)
            n++;
        /* What the driver says is free is less by what is used. */
        ck_assert_uint_le(memory_free() + n * sizes[k], before);
        for (size_t i = 0; i < n; i++)
            must(cuMemFree(at[(i * 7919) % n]));
    }
    must(cuMemAlloc(&at[0], before - 2 * MIB));
    must(cuMemFree(at[0]));
    ck_assert_uint_eq(memory_free(), before);
}
END_TEST

/* Holes of one size are there for others. */
START_TEST(half_freed_device_takes_other_sizes)
{
    enum { PIECES = 2000 };
    static CUdeviceptr at[PIECES];
    must(device_start());
    size_t n = 0;
    while (n < PIECES && cuMemAlloc(&at[n], 250 * KIB) == CUDA_SUCCESS)
        n++;
    ck_assert_uint_ge(n * 250 * KIB, memory_free());
    for (size_t i = 0; i < n; i += 2)
        must(cuMemFree(at[i]));
    for (size_t i = 0; i < n; i += 2) {
        CUdeviceptr one, two;
        must(cuMemAlloc(&one, 100 * KIB));
        must(cuMemAlloc(&two, 140 * KIB));
    }
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const cases[] = {
        every_size_fits_nine_tenths_as_often_as_bare,
        sizes_just_below_a_part_of_a_granule_fit_as_often,
        sizes_that_come_and_go_never_fill_the_device,
        device_full_of_small_allocations_is_one_large_one_when_freed,
        half_freed_device_takes_other_sizes,
    };
    self = argv[0];
    if (argc == 2)
        return printf("%ld\n", count_here(strtoul(argv[1], NULL, 0))) < 0;
    size_t n = sizeof cases / sizeof *cases;
    if (!getenv("LD_PRELOAD"))
        return suite_run("interpose-capacity", cases, 2, 300);
    return suite_run("interpose-capacity", cases + 2, n - 2, 120);
}

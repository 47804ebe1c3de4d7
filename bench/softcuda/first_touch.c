/* Arrays that come, are touched and go, or stay; see first_touch.h. */
#include "first_touch.h"

#include "../micro/bench.h"
#include "device.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARRAYS = 40, BLOCK = 256 << 10, STAY_BYTES = 256 << 20 };

static const struct {
    const char *name;
    size_t bytes;
} sizes[] = {
    {"4K", 4 << 10}, {"1M", 1 << 20}, {"4M", 4 << 20}, {"64M", 64 << 20}};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* What is measured of each size; all but the last two are of the same array. */
enum what { FIRST, LATER, COPY, STAYS, MIDDLE, WHATS };

static const char *const names[WHATS] = {
    [FIRST] = "first-touch",
    [COPY] = "first-copy",
    [STAYS] = "first-touch-stays",
    [MIDDLE] = "first-touch-middle",
};

static CUdeviceptr array(size_t bytes)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, bytes));
    return at;
}

/* The device has written `value` there. */
static void write(CUdeviceptr at, size_t bytes, unsigned char value)
{
    CHECK(cuMemsetD8(at, value, bytes));
    CHECK(cuCtxSynchronize());
}

static double touch_us(CUdeviceptr at, size_t bytes, size_t offset,
                       unsigned char value)
{
    write(at, bytes, value);
    uint64_t begin = bench_now();
    if (*(const volatile unsigned char *)(at + offset) != value)
        exit(1);
    return (double)(bench_now() - begin) / 1e3;
}

/* What the touch fetches, by hand. */
static double copy_us(CUdeviceptr at, size_t bytes, void *host)
{
    write(at, bytes, 5);
    uint64_t begin = bench_now();
    CHECK(cuMemcpyDtoH(host, at, bytes < BLOCK ? bytes : BLOCK));
    return (double)(bench_now() - begin) / 1e3;
}

static void measure_going(size_t bytes, void *host, struct bench_samples *us)
{
    for (int i = 0; i < ARRAYS; i++) {
        CUdeviceptr at = array(bytes), other = array(bytes);
        bench_add(&us[COPY], copy_us(other, bytes, host));
        CHECK(cuMemFree(other));
        bench_add(&us[FIRST], touch_us(at, bytes, 0, 3));
        bench_add(&us[LATER], touch_us(at, bytes, 0, 4));
        CHECK(cuMemFree(at));
    }
    for (int i = 0; i < ARRAYS; i++) {
        CUdeviceptr at = array(bytes);
        bench_add(&us[MIDDLE], touch_us(at, bytes, bytes / 2, 6));
        CHECK(cuMemFree(at));
    }
}

static void measure_staying(size_t bytes, struct bench_samples *us)
{
    CUdeviceptr at[ARRAYS];
    int count = 0;
    for (; count < ARRAYS && bytes * (size_t)count < STAY_BYTES; count++) {
        at[count] = array(bytes);
        bench_add(&us[STAYS], touch_us(at[count], bytes, 0, 7));
    }
    while (count > 0)
        CHECK(cuMemFree(at[--count]));
}

int first_touch_child(void)
{
    void *host;
    device_start();
    CHECK(cuMemAllocHost(&host, BLOCK));
    for (int size = 0; size < SIZES; size++) {
        struct bench_samples us[WHATS] = {0};
        measure_staying(sizes[size].bytes, us);
        measure_going(sizes[size].bytes, host, us);
        for (int what = 0; what < WHATS; what++)
            printf("%f\n", bench_median(&us[what]));
    }
    return 0;
}

static void report(struct bench_samples (*us)[WHATS])
{
    for (int size = 0; size < SIZES; size++)
        for (int what = 0; what < WHATS; what++) {
            char name[64];
            if (!names[what])
                continue;
            snprintf(name, sizeof name, "%s/%s", names[what], sizes[size].name);
            bench_report(name, "us", &us[size][what], "a later touch",
                         &us[size][LATER]);
        }
}

int first_touch_measure(void)
{
    static struct bench_samples us[SIZES][WHATS];
    char settings[4096];
    double got[SIZES * WHATS];
    if (!getenv("PRELOAD"))
        return 0;
    snprintf(settings, sizeof settings,
             "LD_PRELOAD='%s' ADSM_ADDRESS=\"${ADSM_ADDRESS:-adopt}\"",
             getenv("PRELOAD"));
    for (int i = 0; i < bench_reps(); i++) {
        if (!bench_ask_more(settings, FIRST_TOUCH_CHILD, got, SIZES * WHATS)) {
            fprintf(stderr, "first touch: the child failed\n");
            return 1;
        }
        for (int k = 0; k < SIZES * WHATS; k++)
            bench_add(&us[k / WHATS][k % WHATS], got[k]);
    }
    report(us);
    return 0;
}

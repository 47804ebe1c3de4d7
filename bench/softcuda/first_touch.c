/* Arrays that come, are touched twice and go; see first_touch.h. */
#include "first_touch.h"

#include "../micro/bench.h"
#include "device.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARRAYS = 40 };

static const struct {
    const char *name;
    size_t bytes;
} sizes[] = {
    {"4K", 4 << 10}, {"1M", 1 << 20}, {"4M", 4 << 20}, {"64M", 64 << 20}};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* The device has written `value` there. */
static double touch_us(CUdeviceptr array, size_t bytes, unsigned char value)
{
    CHECK(cuMemsetD8(array, value, bytes));
    CHECK(cuCtxSynchronize());
    uint64_t begin = bench_now();
    if (*(const volatile unsigned char *)array != value)
        exit(1);
    return (double)(bench_now() - begin) / 1e3;
}

int first_touch_child(void)
{
    device_start();
    for (int size = 0; size < SIZES; size++) {
        struct bench_samples first = {0}, later = {0};
        for (int i = 0; i < ARRAYS; i++) {
            CUdeviceptr array;
            CHECK(cuMemAlloc(&array, sizes[size].bytes));
            bench_add(&first, touch_us(array, sizes[size].bytes, 3));
            bench_add(&later, touch_us(array, sizes[size].bytes, 4));
            CHECK(cuMemFree(array));
        }
        printf("%f\n%f\n", bench_median(&first), bench_median(&later));
    }
    return 0;
}

int first_touch_measure(void)
{
    struct bench_samples first[SIZES] = {0}, later[SIZES] = {0};
    char settings[4096], name[64];
    double us[2 * SIZES];
    if (!getenv("PRELOAD"))
        return 0;
    snprintf(settings, sizeof settings,
             "LD_PRELOAD='%s' ADSM_ADDRESS=\"${ADSM_ADDRESS:-adopt}\"",
             getenv("PRELOAD"));
    for (int i = 0; i < bench_reps(); i++) {
        if (!bench_ask_more(settings, FIRST_TOUCH_CHILD, us, 2 * SIZES)) {
            fprintf(stderr, "first touch: the child failed\n");
            return 1;
        }
        for (int size = 0; size < SIZES; size++) {
            bench_add(&first[size], us[2 * size]);
            bench_add(&later[size], us[2 * size + 1]);
        }
    }
    for (int size = 0; size < SIZES; size++) {
        snprintf(name, sizeof name, "first-touch/%s", sizes[size].name);
        bench_report(name, "us", &first[size], "a later one", &later[size]);
    }
    return 0;
}

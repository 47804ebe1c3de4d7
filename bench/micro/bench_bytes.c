/*
 * Fills and copies in the order of their data (adsmFill, adsmCopy), beside the
 * driver's own functions in one stream.
 *
 *   fill/N   N bytes of floats, against cuMemsetD32Async
 *   wide/N   the same of doubles, which drivers have no function for, against
 *            cuMemsetD32Async
 *   copy/N   N bytes from one array to another, against cuMemcpyDtoDAsync
 *   loop/N   the CPU sets N bytes of an array that the device has, and a kernel
 *            gets them: what adsmFill is instead of, against adsmFill
 *
 * Each is several in a row and a wait; times are of one.
 */
#include "adsm.h"
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 20 };

#define must(call)                                                             \
    do {                                                                       \
        if ((call) != 0) {                                                     \
            fprintf(stderr, "bench_bytes: %s: %s\n", #call,                    \
                    adsmErrorDetail());                                        \
            exit(3);                                                           \
        }                                                                      \
    } while (0)

static struct {
    int (*retain)(void **context, int device);
    int (*enter)(void *context);
    int (*alloc)(uint64_t *at, size_t bytes);
    int (*free)(uint64_t at);
    int (*set)(uint64_t at, unsigned value, size_t count, void *stream);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*make_stream)(void **stream, unsigned flags);
    int (*wait)(void *stream);
    void *stream;
} by_hand;

static void *found(void *driver, const char *name)
{
    void *at = dlsym(driver, name);
    if (!at) {
        fprintf(stderr, "bench_bytes: no %s\n", name);
        exit(3);
    }
    return at;
}

static void up(void)
{
    void *driver, *context;
    must(adsmDeviceCount() < 1);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    must(!driver);
    *(void **)&by_hand.retain = found(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&by_hand.enter = found(driver, "cuCtxSetCurrent");
    *(void **)&by_hand.alloc = found(driver, "cuMemAlloc_v2");
    *(void **)&by_hand.free = found(driver, "cuMemFree_v2");
    *(void **)&by_hand.set = found(driver, "cuMemsetD32Async");
    *(void **)&by_hand.copy = found(driver, "cuMemcpyDtoDAsync_v2");
    *(void **)&by_hand.make_stream = found(driver, "cuStreamCreate");
    *(void **)&by_hand.wait = found(driver, "cuStreamSynchronize");
    must(by_hand.retain(&context, 0));
    must(by_hand.enter(context));
    must(by_hand.make_stream(&by_hand.stream, 1));
}

/* What is measured: of one array, or from one to the other. */
struct arrays {
    size_t bytes;
    float *x, *y;
    double *wide;
    uint64_t to, from;
};

static int fill(const struct arrays *a)
{
    return adsmFill(a->x, a->bytes / sizeof *a->x, 1.5f);
}

static int fill_wide(const struct arrays *a)
{
    return adsmFill(a->wide, a->bytes / sizeof *a->wide, 0.1);
}

static int copy(const struct arrays *a)
{
    return adsmCopy(a->y, a->x, a->bytes);
}

static int fill_by_hand(const struct arrays *a)
{
    return by_hand.set(a->to, 0x3fc00000, a->bytes / 4, by_hand.stream);
}

static int copy_by_hand(const struct arrays *a)
{
    return by_hand.copy(a->to, a->from, a->bytes, by_hand.stream);
}

/* What a program without adsmFill does: all of it comes to the CPU, or goes. */
static int loop(const struct arrays *a)
{
    for (size_t i = 0; i < a->bytes / sizeof *a->x; i++)
        a->x[i] = 1.5f;
    return adsmCopy(a->y, a->x, a->bytes);
}

static int no_loop(const struct arrays *a)
{
    int rc = fill(a);
    return rc == 0 ? copy(a) : rc;
}

static double us_of(int (*work)(const struct arrays *a), bool ours,
                    const struct arrays *a)
{
    uint64_t began = bench_now();
    for (int i = 0; i < CALLS; i++)
        must(work(a));
    if (ours)
        must(adsmSync());
    else
        must(by_hand.wait(by_hand.stream));
    return (double)(bench_now() - began) * 1e-3 / CALLS;
}

static void measure(const char *name, const struct arrays *a,
                    int (*work)(const struct arrays *a), const char *against,
                    int (*peer)(const struct arrays *a), bool peer_is_ours)
{
    struct bench_samples here = {.count = 0}, there = {.count = 0};
    char text[64];
    (void)us_of(work, true, a); /* memory and code are there */
    (void)us_of(peer, peer_is_ours, a);
    for (int r = 0; r < bench_reps(); r++) {
        bench_add(&here, us_of(work, true, a));
        bench_add(&there, us_of(peer, peer_is_ours, a));
    }
    snprintf(text, sizeof text, "%s/%zuK", name, a->bytes >> 10);
    bench_report(text, "us", &here, against, &there);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "bytes");
    up();
    bench_settle();
    static const size_t sizes[] = {4 << 10, 1 << 20, 64 << 20};
    for (int i = 0; i < (bench_quick() ? 2 : 3); i++) {
        struct arrays a = {.bytes = sizes[i]};
        a.x = adsmAlloc(a.bytes);
        a.y = adsmAlloc(a.bytes);
        must(!a.x || !a.y);
        a.wide = (double *)(void *)a.x;
        must(by_hand.alloc(&a.to, a.bytes));
        must(by_hand.alloc(&a.from, a.bytes));
        measure("fill", &a, fill, "cuMemsetD32Async", fill_by_hand, false);
        measure("wide", &a, fill_wide, "cuMemsetD32Async", fill_by_hand, false);
        measure("copy", &a, copy, "cuMemcpyDtoDAsync", copy_by_hand, false);
        measure("loop", &a, loop, "adsmFill", no_loop, true);
        must(by_hand.free(a.to));
        must(by_hand.free(a.from));
        must(adsmFree(a.x));
        must(adsmFree(a.y));
    }
    return 0;
}

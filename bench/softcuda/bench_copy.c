/*
 * Bandwidth of copies between host and device, against memcpy of the same
 * bytes by as many threads, all memory touched before.
 *
 *   up, down   one synchronous copy, from pageable and page-locked memory
 *   locked-*   page-locked memory against pageable memory, in each direction
 *              (Parisi, "Optimization of Parallel Computations on Heterogeneous
 *              GPU-Based Systems", Fig. 5: twice as fast, or about equal)
 *   both       an upload and a download at once: page-locked in two streams,
 *              pageable by two threads; against two threads that memcpy
 *   fresh      memory allocated, copied to and freed again; against copies to
 *              memory touched before
 *   written    256 MiB allocated, written by a kernel and freed again; against
 *              the kernel on memory it has written before
 *   overlap    time of both at once over that of one after the other
 */
#include "../micro/bench.h"
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UP, DOWN };
enum { PAGEABLE, PINNED, KINDS };

static const char *const kinds[KINDS] = {"pageable", "page-locked"};
static size_t bytes;
static CUdeviceptr device[2]; /* of each direction */
static CUstream stream[2];    /* of each direction */
static char *host[KINDS][2];  /* of each direction */
static char *plain_to[2], *plain_from[2];
static CUcontext context;

static double gb_per_s(size_t moved, uint64_t since)
{
    return (double)moved / (double)(bench_now() - since);
}

static double copy_once(int direction, int kind)
{
    uint64_t begin = bench_now();
    if (direction == UP)
        CHECK(cuMemcpyHtoD(device[UP], host[kind][UP], bytes));
    else
        CHECK(cuMemcpyDtoH(host[kind][DOWN], device[DOWN], bytes));
    return gb_per_s(bytes, begin);
}

static double plain_once(int i)
{
    uint64_t begin = bench_now();
    memcpy(plain_to[i], plain_from[i], bytes);
    return gb_per_s(bytes, begin);
}

/* Two things at once by two threads that start together. */
struct pair {
    void (*work)(int i);
    pthread_barrier_t barrier;
};

static void *second(void *argument)
{
    struct pair *pair = argument;
    CHECK(cuCtxSetCurrent(context));
    pthread_barrier_wait(&pair->barrier);
    pair->work(1);
    return NULL;
}

static double at_once(void (*work)(int i))
{
    struct pair pair = {.work = work};
    pthread_t thread;
    pthread_barrier_init(&pair.barrier, NULL, 2);
    if (pthread_create(&thread, NULL, second, &pair) != 0)
        exit(1);
    pthread_barrier_wait(&pair.barrier);
    uint64_t begin = bench_now();
    work(0);
    pthread_join(thread, NULL);
    double rate = gb_per_s(2 * bytes, begin);
    pthread_barrier_destroy(&pair.barrier);
    return rate;
}

static void plain_work(int i)
{
    plain_once(i);
}

static void pageable_work(int i)
{
    copy_once(i, PAGEABLE);
}

static double both_once(int kind)
{
    if (kind == PAGEABLE)
        return at_once(pageable_work);
    uint64_t begin = bench_now();
    CHECK(cuMemcpyHtoDAsync(device[UP], host[kind][UP], bytes, stream[UP]));
    CHECK(
        cuMemcpyDtoHAsync(host[kind][DOWN], device[DOWN], bytes, stream[DOWN]));
    CHECK(cuStreamSynchronize(stream[UP]));
    CHECK(cuStreamSynchronize(stream[DOWN]));
    return gb_per_s(2 * bytes, begin);
}

static void report(const char *what, int kind, const char *unit,
                   struct bench_samples *ours, const char *against,
                   struct bench_samples *peer)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s/%zu%s", what, kinds[kind],
             bytes < 1u << 20 ? bytes >> 10 : bytes >> 20,
             bytes < 1u << 20 ? "KiB" : "MiB");
    bench_report(name, unit, ours, against, peer);
}

static void measure_direction(int direction, int kind)
{
    struct bench_samples ours = {0}, peer = {0};
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, plain_once(0));
        bench_add(&ours, copy_once(direction, kind));
    }
    report(direction == UP ? "up" : "down", kind, "GB/s", &ours, "memcpy",
           &peer);
}

static void measure_locked(int direction)
{
    struct bench_samples locked = {0}, pageable = {0};
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&pageable, copy_once(direction, PAGEABLE));
        bench_add(&locked, copy_once(direction, PINNED));
    }
    report(direction == UP ? "locked-up" : "locked-down", PINNED, "GB/s",
           &locked, "pageable", &pageable);
}

static void measure_both(int kind)
{
    struct bench_samples ours = {0}, peer = {0}, turns = {0}, together = {0};
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, at_once(plain_work));
        double rate = both_once(kind);
        bench_add(&ours, rate);
        bench_add(&together, (double)(2 * bytes) / rate / 1e6);
        uint64_t begin = bench_now();
        copy_once(UP, kind);
        copy_once(DOWN, kind);
        bench_add(&turns, (double)(bench_now() - begin) / 1e6);
    }
    report("both", kind, "GB/s", &ours, "two threads of memcpy", &peer);
    report("overlap", kind, "ms", &together, "one after the other", &turns);
}

static double fresh_once(void)
{
    CUdeviceptr p;
    uint64_t begin = bench_now();
    CHECK(cuMemAlloc(&p, bytes));
    CHECK(cuMemcpyHtoD(p, host[PAGEABLE][UP], bytes));
    CHECK(cuMemFree(p));
    return gb_per_s(bytes, begin);
}

static void measure_fresh(void)
{
    struct bench_samples ours = {0}, peer = {0};
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, copy_once(UP, PAGEABLE));
        bench_add(&ours, fresh_once());
    }
    report("fresh", PAGEABLE, "GB/s", &ours, "memory touched before", &peer);
}

static const char fill_ptx[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry fill(.param .u64 to)\n{\n"
    "\t.reg .b32 %r<5>;\n\t.reg .b64 %d<4>;\n"
    "\tld.param.u64 %d1, [to];\n"
    "\tcvta.to.global.u64 %d2, %d1;\n"
    "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n"
    "\tmov.u32 %r3, %tid.x;\n\tmad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "\tmul.wide.u32 %d3, %r4, 4;\n\tadd.s64 %d2, %d2, %d3;\n"
    "\tst.global.u32 [%d2], %r4;\n\tret;\n}\n";

static double fill_ms(CUfunction fill, CUdeviceptr to, size_t size)
{
    void *params[] = {&to};
    uint64_t begin = bench_now();
    CHECK(cuLaunchKernel(fill, (unsigned)(size / 1024), 1, 1, 256, 1, 1, 0,
                         NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    return (double)(bench_now() - begin) / 1e6;
}

static void measure_written(void)
{
    struct bench_samples ours = {0}, peer = {0};
    size_t size = bench_quick() ? 8u << 20 : 256u << 20;
    CUfunction fill = device_kernel(fill_ptx, "fill");
    CUdeviceptr before, fresh;
    char name[64];
    CHECK(cuMemAlloc(&before, size));
    for (int i = 0; i < 20; i++) /* until it is native */
        fill_ms(fill, before, size);
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peer, fill_ms(fill, before, size));
        CHECK(cuMemAlloc(&fresh, size));
        bench_add(&ours, fill_ms(fill, fresh, size));
        CHECK(cuMemFree(fresh));
    }
    CHECK(cuMemFree(before));
    snprintf(name, sizeof name, "written/%zuMiB", size >> 20);
    bench_report(name, "ms", &ours, "memory written before", &peer);
}

static char *touched(char *memory)
{
    if (!memory)
        exit(1);
    memset(memory, 1, bytes);
    return memory;
}

static void prepare(void)
{
    CHECK(cuCtxGetCurrent(&context));
    for (int i = 0; i < 2; i++) {
        void *pinned;
        CHECK(cuMemAlloc(&device[i], bytes));
        CHECK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuMemHostAlloc(&pinned, bytes, 0));
        host[PINNED][i] = touched(pinned);
        host[PAGEABLE][i] = touched(malloc(bytes));
        plain_to[i] = touched(malloc(bytes));
        plain_from[i] = touched(malloc(bytes));
        CHECK(cuMemcpyHtoD(device[i], host[PINNED][i], bytes));
    }
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "copy");
    bytes = bench_quick() ? 8u << 20 : 64u << 20;
    device_start();
    prepare();
    for (int kind = 0; kind < KINDS; kind++) {
        for (int direction = UP; direction <= DOWN; direction++)
            measure_direction(direction, kind);
        measure_both(kind);
    }
    for (int direction = UP; direction <= DOWN; direction++)
        measure_locked(direction);
    size_t whole = bytes;
    for (bytes = 256u << 10; bytes <= whole; bytes *= 16)
        measure_fresh();
    measure_written();
    return 0;
}

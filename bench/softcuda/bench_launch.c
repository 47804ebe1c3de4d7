/*
 * What it costs to launch, and to have a kernel for the first time.
 *
 *   empty/sync       launch of an empty kernel and wait for it, against a
 *                    round trip between two processes that sleep
 *   empty/async      launches a second, one wait for all
 *   empty/grid       a million CTAs of an empty body, by one thread each
 *   first/N          from the PTX text of a kernel of N instructions nobody
 *                    has seen to its result on the host
 *   native/N         from there to a launch that ran in native code, the
 *                    kernel launched over and over, nothing in the cache
 *   untouched/CALL   a call of a preloaded program, against the bare program
 *   and others/CALL  (untouched.h)
 *   first-touch/SIZE the CPU's first access to an array, against a later one
 *   and others/SIZE  (first_touch.h)
 */
#include "../micro/bench.h"
#include "../micro/device_stats.h"
#include "device.h"
#include "first_touch.h"
#include "untouched.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NATIVE_WAIT_MS = 3000 };

static double us_since(uint64_t begin)
{
    return (double)(bench_now() - begin) / 1e3;
}

/* ---- launches ------------------------------------------------------------ */

static void launch(CUfunction f, unsigned grid, unsigned block, void **params)
{
    CHECK(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, NULL, params, NULL));
}

static double sync_us(CUfunction empty, int count)
{
    uint64_t begin = bench_now();
    for (int i = 0; i < count; i++) {
        launch(empty, 1, 32, NULL);
        CHECK(cuCtxSynchronize());
    }
    return us_since(begin) / count;
}

static double async_per_s(CUfunction empty, int count)
{
    uint64_t begin = bench_now();
    for (int i = 0; i < count; i++)
        launch(empty, 1, 32, NULL);
    CHECK(cuCtxSynchronize());
    return (double)count * 1e6 / us_since(begin);
}

static double grid_ms(CUfunction empty, unsigned ctas)
{
    uint64_t begin = bench_now();
    launch(empty, ctas, 1, NULL);
    CHECK(cuCtxSynchronize());
    return us_since(begin) / 1e3;
}

/* A word that two processes hand to and fro. */
static _Atomic uint32_t *ball;

static void pass_ball(uint32_t mine)
{
    while (atomic_load(ball) != mine)
        syscall(SYS_futex, ball, FUTEX_WAIT, !mine, NULL, NULL, 0);
    atomic_store(ball, !mine);
    syscall(SYS_futex, ball, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static pid_t start_partner(void)
{
    ball = mmap(NULL, sizeof *ball, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ball == MAP_FAILED)
        exit(1);
    pid_t partner = fork();
    if (partner == 0)
        for (;;)
            pass_ball(1);
    if (partner < 0)
        exit(1);
    return partner;
}

static double round_trip_us(int count)
{
    uint64_t begin = bench_now();
    for (int i = 0; i < count; i++)
        pass_ball(0);
    return us_since(begin) / count;
}

static void measure_empty(void)
{
    struct bench_samples sync = {0}, async = {0}, grid = {0}, trip = {0};
    int count = bench_quick() ? 200 : 2000;
    unsigned ctas = bench_quick() ? 100000 : 1000000;
    CUfunction empty = device_empty();
    sync_us(empty, count);
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&trip, round_trip_us(count));
        bench_add(&sync, sync_us(empty, count));
        bench_add(&async, async_per_s(empty, count * 25));
        bench_add(&grid, grid_ms(empty, ctas));
    }
    bench_report("empty/sync", "us", &sync, "futex round trip", &trip);
    bench_report("empty/async", "1/s", &async, NULL, NULL);
    bench_report("empty/grid", "ms", &grid, NULL, NULL);
}

/* ---- fresh kernels ------------------------------------------------------- */

/* Kernel text of about `count` instructions that differs in each call. */
static char *fresh_text(int count, unsigned seed)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        exit(1);
    fprintf(out,
            ".version 6.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry fresh(.param .u64 to)\n{\n"
            "\t.reg .b32 %%r<8>;\n\t.reg .b64 %%d<4>;\n"
            "\t.reg .pred %%p<2>;\n\t.reg .f32 %%f<4>;\n"
            "\tld.param.u64 %%d1, [to];\n"
            "\tcvta.to.global.u64 %%d2, %%d1;\n"
            "\tmov.u32 %%r1, %%ctaid.x;\n\tmov.u32 %%r2, %%ntid.x;\n"
            "\tmov.u32 %%r3, %%tid.x;\n\tmad.lo.s32 %%r4, %%r1, %%r2, %%r3;\n"
            "\tmul.wide.s32 %%d3, %%r4, 4;\n\tadd.s64 %%d2, %%d2, %%d3;\n"
            "\tcvt.rn.f32.s32 %%f1, %%r4;\n");
    for (int i = 13; i + 4 < count; i += 4)
        fprintf(out,
                "\tfma.rn.f32 %%f2, %%f1, 0f3f8%05x, %%f1;\n"
                "\tadd.f32 %%f1, %%f2, 0f3f000000;\n"
                "\txor.b32 %%r4, %%r4, %u;\n"
                "\tadd.s32 %%r4, %%r4, %%r3;\n",
                (seed * 97 + (unsigned)i) & 0xfffff,
                (seed + (unsigned)i) * 2654435761u);
    fprintf(out, "\tcvt.rzi.s32.f32 %%r5, %%f1;\n\tadd.s32 %%r5, %%r5, %%r4;\n"
                 "\tst.global.u32 [%%d2], %%r5;\n\tret;\n}\n");
    if (fclose(out) != 0)
        exit(1);
    return text;
}

/* The first launch of a kernel, and the launches until one is native. */
static void fresh_once(int count, unsigned seed, bool *native, double *first_ms,
                       double *native_ms)
{
    char *text = fresh_text(count, seed);
    unsigned result[64];
    CUdeviceptr to;
    CUmodule module;
    CUfunction f;
    CHECK(cuMemAlloc(&to, 256 * 256 * 4));
    void *params[] = {&to};
    uint64_t begin = bench_now(), before = device_stats().native;
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&f, module, "fresh"));
    launch(f, 256, 256, params);
    CHECK(cuMemcpyDtoH(result, to, sizeof result));
    *first_ms = us_since(begin) / 1e3;
    begin = bench_now();
    *native_ms = 0;
    while (*native && device_stats().native == before) {
        launch(f, 256, 256, params);
        CHECK(cuCtxSynchronize());
        *native_ms = us_since(begin) / 1e3;
        *native = *native_ms < NATIVE_WAIT_MS;
    }
    CHECK(cuModuleUnload(module));
    CHECK(cuMemFree(to));
    free(text);
}

/* native: whether it is waited for; false once none came. */
static void measure_fresh(int count, bool *native)
{
    struct bench_samples first = {0}, ready = {0};
    char name[64];
    unsigned seed = (unsigned)bench_now();
    for (int i = 0; i < bench_reps(); i++) {
        double first_ms, native_ms;
        fresh_once(count, seed + (unsigned)i, native, &first_ms, &native_ms);
        bench_add(&first, first_ms);
        bench_add(&ready, native_ms);
    }
    snprintf(name, sizeof name, "first/%d", count);
    bench_report(name, "ms", &first, NULL, NULL);
    snprintf(name, sizeof name, "native/%d", count);
    if (*native)
        bench_report(name, "ms", &ready, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const int counts[] = {50, 500};
    char cache[] = "/tmp/bench_launch-XXXXXX";
    char remove[64];
    if (argc == 3 && strcmp(argv[1], UNTOUCHED_CHILD) == 0)
        return untouched_child(argv[2]);
    if (argc == 2 && strcmp(argv[1], FIRST_TOUCH_CHILD) == 0)
        return first_touch_child();
    bench_start(argc, argv, "launch");
    if (!mkdtemp(cache))
        return 1;
    setenv("SOFTCUDA_CACHE", cache, 1);
    pid_t partner = start_partner();
    device_start();
    /* Hardware has no interpreter that kernels begin in. */
    const bool soft = device_is_software();
    bool native = soft;
    measure_empty();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        measure_fresh(counts[i], &native);
    if (soft && !native)
        fprintf(stderr, "bench_launch: no native code (SOFTCUDA_STATS=1 says "
                        "why)\n");
    kill(partner, SIGKILL);
    waitpid(partner, NULL, 0);
    int failed = untouched_measure() || first_touch_measure();
    snprintf(remove, sizeof remove, "rm -rf '%s'", cache);
    return system(remove) == 0 ? failed : 1;
}

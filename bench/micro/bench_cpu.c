/*
 * What calls cost whose kernels run on the processors (ADSM_DEVICES=cpu), beside
 * OpenMP on as many threads:
 *
 *   start    a runtime, an array and a kernel, in a process of its own
 *   bulk     one of many empty launches, behind which one waits; tasks
 *   empty    one of many tasks (.policy) that do nothing; tasks
 *   chain    the same, each behind the one before, by the array it writes
 *   one      a call of one task that is waited for; a parallel region
 *   call     a launch and the CPU's access to what it has written; a parallel
 *            region
 *   blocks   1,024 blocks of some 20 us; a loop of them, schedule(dynamic)
 *   unequal  the same, of which every 64th takes 30 times as long
 *   memory   y = a x + y over 64 MiB each; a loop, schedule(static)
 */
#include "bench.h"

#include <adsm.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BULK = 10000, BLOCKS = 1024, PAIR_BYTES = 64 << 20 };

static void check(int status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_cpu: %s\n", adsmErrorDetail());
    exit(1);
}

/* ---- what both do --------------------------------------------------------- */

static unsigned long busy(unsigned long seed, int rounds)
{
    for (int i = 0; i < rounds; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

static int rounds_of(long block, int unequal)
{
    enum { ROUNDS = 16000 };
    return !unequal ? ROUNDS : block % 64 == 0 ? 20 * ROUNDS : 2 * ROUNDS / 3;
}

static void scale_add(long from, long to, const float *x, float *y, float a)
{
    for (long i = from; i < to; i++)
        y[i] = a * x[i] + y[i];
}

/* ---- kernels -------------------------------------------------------------- */

static void run_nothing(const adsmBlocks *blocks, void *const *values)
{
    unsigned long *p = *(unsigned long **)values[0];
    (void)blocks;
    p[0]++;
}

static void run_empty(const adsmBlocks *blocks, void *const *values)
{
    (void)blocks;
    (void)values;
}

static void run_link(const adsmBlocks *blocks, void *const *values)
{
    (void)blocks;
    (*(unsigned long **)values[2])[0]++;
}

static void run_blocks(const adsmBlocks *blocks, void *const *values)
{
    unsigned long *p = *(unsigned long **)values[0];
    int unequal = *(int *)values[1];
    for (uint64_t b = blocks->first; b < blocks->first + blocks->count; b++)
        p[b] = busy(b, rounds_of((long)b, unequal));
}

static void run_scale_add(const adsmBlocks *blocks, void *const *values)
{
    long from = (long)(blocks->first * blocks->block[0]);
    scale_add(from, from + (long)(blocks->count * blocks->block[0]),
              *(const float **)values[0], *(float **)values[1],
              *(float *)values[2]);
}

static const size_t one[] = {sizeof(void *)}, two[] = {sizeof(void *), 4},
                    three[] = {sizeof(void *), sizeof(void *), 4};
static const size_t bounds[] = {8, 8, sizeof(void *)};
static adsmCpuCode codes[] = {{"empty", run_empty, 2, bounds, NULL},
                              {"link", run_link, 3, bounds, NULL},
                              {"nothing", run_nothing, 1, one, NULL},
                              {"blocks", run_blocks, 2, two, NULL},
                              {"scale_add", run_scale_add, 3, three, NULL}};

static adsmKernel *kernel_of(const char *name)
{
    static adsmModule *module;
    static const char code[] = "// the program's own";
    adsmKernel *kernel;
    if (!module) {
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            check(adsmCpuAdd(&codes[i]));
        check(adsmModuleLoad(&module, code, sizeof code - 1));
    }
    check(adsmKernelGet(&kernel, module, name, ADSM_ONLY_ARGUMENTS));
    return kernel;
}

static void *array(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    memset(p, 0, bytes);
    return p;
}

/* ---- cases ---------------------------------------------------------------- */

static adsmKernel *nothing, *blocks, *add, *empty, *link_;
static unsigned long *few;
static float *x, *y;
static unsigned long plain[BLOCKS];
static float *plain_x, *plain_y;

static void launch_nothing(void)
{
    check(adsmLaunch(nothing, adsmDim1(1), adsmDim1(1), 0, adsmInOut(few)));
}

static void bulk(void)
{
    for (int i = 0; i < BULK; i++)
        launch_nothing();
    check(adsmSync());
}

static void bulk_peer(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < BULK; i++) {
#pragma omp task depend(inout : plain[0])
        plain[0]++;
    }
}

static const adsmOpts task = {
    .size = sizeof(adsmOpts), .parts = 1, .policy = "eager"};

static void empty_tasks(void)
{
    for (int i = 0; i < BULK; i++)
        check(adsmCallRangeV(empty, adsmR1(1), &task, 0, NULL));
    check(adsmSync());
}

static void empty_peer(void)
{
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < BULK; i++) {
#pragma omp task
        ;
    }
}

static void chain(void)
{
    for (int i = 0; i < BULK; i++)
        check(adsmCallWith(&task, link_, adsmR1(1), adsmInOut(few)));
    check(adsmSync());
}

static void one_task(void)
{
    adsmOpts waited = task;
    waited.sync = 1;
    check(adsmCallRangeV(empty, adsmR1(1), &waited, 0, NULL));
}

static void one_peer(void)
{
#pragma omp parallel
#pragma omp single
    plain[0]++;
}

static volatile unsigned long seen;

static void call(void)
{
    launch_nothing();
    seen = few[0];
}

static void call_peer(void)
{
#pragma omp parallel
#pragma omp single
    plain[0]++;
    seen = plain[0];
}

static void blocks_of(int unequal)
{
    check(adsmLaunch(blocks, adsmDim1(BLOCKS), adsmDim1(1), 0, adsmOut(few),
                     adsmVal(unequal)));
    seen = few[BLOCKS - 1];
}

static void equal_blocks(void)
{
    blocks_of(0);
}

static void unequal_blocks(void)
{
    blocks_of(1);
}

static void loop_of(int unequal)
{
#pragma omp parallel for schedule(dynamic)
    for (long b = 0; b < BLOCKS; b++)
        plain[b] = busy((unsigned long)b, rounds_of(b, unequal));
    seen = plain[BLOCKS - 1];
}

static void equal_loop(void)
{
    loop_of(0);
}

static void unequal_loop(void)
{
    loop_of(1);
}

static void memory(void)
{
    float a = 0.5f;
    check(adsmLaunch(add, adsmDim1(PAIR_BYTES / sizeof *x / 1024),
                     adsmDim1(1024), 0, adsmIn(x), adsmInOut(y), adsmVal(a)));
    check(adsmSync());
}

static void memory_peer(void)
{
    enum { PIECES = 64, N = PAIR_BYTES / sizeof(float) / PIECES };
#pragma omp parallel for schedule(static)
    for (long k = 0; k < PIECES; k++)
        scale_add(k * N, (k + 1) * N, plain_x, plain_y, 0.5f);
}

/* Threads of OpenMP look for work for a while, which others then lack. */
static double time_of(void work(void), int times)
{
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    uint64_t begin = bench_now();
    for (int i = 0; i < times; i++)
        work();
    return (double)(bench_now() - begin) / 1e3 / times;
}

static void measure(const char *name, void ours(void), void peer(void),
                    int times, int of)
{
    struct bench_samples samples = {0}, peers = {0};
    (void)time_of(ours, 1);
    (void)time_of(peer, 1);
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&peers, time_of(peer, times) / of);
        bench_add(&samples, time_of(ours, times) / of);
    }
    bench_report(name, "us", &samples, "openmp", &peers);
}

static int start(void)
{
    uint64_t begin = bench_now();
    nothing = kernel_of("nothing");
    few = array(4096);
    launch_nothing();
    seen = few[0];
    printf("%.3f\n", (double)(bench_now() - begin) / 1e6);
    return 0;
}

static void measure_start(void)
{
    struct bench_samples samples = {0};
    for (int i = 0; i < bench_reps(); i++)
        bench_add(&samples, bench_ask("ADSM_DEVICES=cpu", "start"));
    bench_report("start", "ms", &samples, NULL, NULL);
}

int main(int argc, char **argv)
{
    setenv("ADSM_DEVICES", "cpu", 1);
    if (argc > 1 && strcmp(argv[1], "start") == 0)
        return start();
    bench_start(argc, argv, "cpu");
    int times = bench_quick() ? 1 : 10;
    nothing = kernel_of("nothing");
    blocks = kernel_of("blocks");
    add = kernel_of("scale_add");
    empty = kernel_of("empty");
    link_ = kernel_of("link");
    few = array(BLOCKS * sizeof *few);
    x = array(PAIR_BYTES);
    y = array(PAIR_BYTES);
    plain_x = calloc(1, PAIR_BYTES);
    plain_y = calloc(1, PAIR_BYTES);
    if (!plain_x || !plain_y)
        return 1;
    memset(plain_x, 0, PAIR_BYTES);
    memset(plain_y, 0, PAIR_BYTES);
    bench_settle();
    measure_start();
    measure("bulk", bulk, bulk_peer, 1, BULK);
    measure("empty", empty_tasks, empty_peer, 1, BULK);
    measure("chain", chain, bulk_peer, 1, BULK);
    measure("one", one_task, one_peer, 100 * times, 1);
    measure("call", call, call_peer, 100 * times, 1);
    measure("blocks", equal_blocks, equal_loop, times, 1);
    measure("unequal", unequal_blocks, unequal_loop, times, 1);
    measure("memory", memory, memory_peer, times, 1);
    return 0;
}

/*
 * Each kind of call is made in rounds that are timed by themselves; the median of
 * the rounds is what a run says. What the device does is not waited for in them
 * where the call does not wait itself.
 */
#include "untouched.h"

#include "../micro/bench.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, ROUNDS = 40, CALLS = 50 };

/* ---- the program ---------------------------------------------------------------- */

static const char put_ptx[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry put(.param .u64 to)\n{\n"
    "\t.reg .b32 %r<2>;\n\t.reg .b64 %d<3>;\n"
    "\tld.param.u64 %d1, [to];\n\tcvta.to.global.u64 %d2, %d1;\n"
    "\tmov.u32 %r1, %tid.x;\n\tst.global.u32 [%d2], %r1;\n\tret;\n}\n";

static const char sum_ptx[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry sum(.param .u64 to, .param .u64 a, .param .u64 b,\n"
    "\t.param .u64 c)\n{\n"
    "\t.reg .b32 %r<4>;\n\t.reg .b64 %d<9>;\n"
    "\tld.param.u64 %d1, [to];\n\tcvta.to.global.u64 %d2, %d1;\n"
    "\tld.param.u64 %d3, [a];\n\tcvta.to.global.u64 %d4, %d3;\n"
    "\tld.param.u64 %d5, [b];\n\tcvta.to.global.u64 %d6, %d5;\n"
    "\tld.param.u64 %d7, [c];\n\tcvta.to.global.u64 %d8, %d7;\n"
    "\tld.global.u32 %r1, [%d4];\n\tld.global.u32 %r2, [%d6];\n"
    "\tld.global.u32 %r3, [%d8];\n\tadd.s32 %r1, %r1, %r2;\n"
    "\tadd.s32 %r1, %r1, %r3;\n\tst.global.u32 [%d2], %r1;\n\tret;\n}\n";

enum { ARRAYS = 3 };

static struct {
    CUfunction put, sum;
    CUdeviceptr to, array[ARRAYS];
    CUstream stream;
    CUevent event;
    CUgraphExec graph;
    int near; /* so many of the arrays the CPU reads */
} p;

static void launch(void)
{
    void *params[] = {&p.to};
    CHECK(cuLaunchKernel(p.put, 1, 1, 1, 1, 1, 1, 0, p.stream, params, NULL));
}

static void launch_sum(void)
{
    void *params[] = {&p.to, &p.array[0], &p.array[1], &p.array[2]};
    CHECK(cuLaunchKernel(p.sum, 1, 1, 1, 1, 1, 1, 0, p.stream, params, NULL));
}

static void launch_graph(void)
{
    CHECK(cuGraphLaunch(p.graph, p.stream));
}

static void copy_up(void)
{
    static unsigned word;
    CHECK(cuMemcpyHtoD(p.to, &word, sizeof word));
}

static void copy_down(void)
{
    static unsigned word;
    CHECK(cuMemcpyDtoH(&word, p.to, sizeof word));
}

static void set(void)
{
    CHECK(cuMemsetD32Async(p.to, 1, 1, p.stream));
}

static void record_and_query(void)
{
    CHECK(cuEventRecord(p.event, p.stream));
    CUresult result = cuEventQuery(p.event);
    if (result != CUDA_ERROR_NOT_READY)
        CHECK(result);
}

static void synchronize(void)
{
    CHECK(cuStreamSynchronize(p.stream));
}

static void allocate_and_free(void)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, BYTES));
    CHECK(cuMemFree(at));
}

static const struct {
    const char *name;
    void (*call)(void);
} kinds[] = {
    {"launch", launch},
    {"launch-of-four", launch_sum},
    {"graph", launch_graph},
    {"copy-up", copy_up},
    {"copy-down", copy_down},
    {"set", set},
    {"record+query", record_and_query},
    {"sync", synchronize},
    {"alloc+free", allocate_and_free},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* What the CPU reads is on the host, and not changed. */
static void look(void)
{
    for (int i = 0; i < p.near; i++)
        if (*(const volatile unsigned *)p.array[i])
            exit(1);
}

static double round_us(void (*call)(void))
{
    look();
    uint64_t begin = bench_now();
    for (int i = 0; i < CALLS; i++)
        call();
    double us = (double)(bench_now() - begin) / 1e3 / CALLS;
    CHECK(cuCtxSynchronize());
    return us;
}

static void prepare(void)
{
    CUgraph graph;
    device_start();
    p.put = device_kernel(put_ptx, "put");
    p.sum = device_kernel(sum_ptx, "sum");
    CHECK(cuMemAlloc(&p.to, BYTES));
    for (int i = 0; i < ARRAYS; i++) {
        CHECK(cuMemAlloc(&p.array[i], BYTES));
        CHECK(cuMemsetD8(p.array[i], 0, BYTES));
    }
    CHECK(cuStreamCreate(&p.stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&p.event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamBeginCapture(p.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch();
    set();
    CHECK(cuStreamEndCapture(p.stream, &graph));
    CHECK(cuGraphInstantiate(&p.graph, graph, 0));
}

int untouched_child(const char *near)
{
    p.near = atoi(near);
    prepare();
    for (int i = 0; i < KINDS; i++) {
        struct bench_samples rounds = {0};
        round_us(kinds[i].call); /* what is done once */
        for (int r = 0; r < ROUNDS; r++)
            bench_add(&rounds, round_us(kinds[i].call));
        printf("%f\n", bench_median(&rounds));
    }
    return 0;
}

/* ---- the bench ------------------------------------------------------------------ */

/* How the program is run: preloaded or not, and what it has near. */
static const struct {
    const char *name, *settings, *near;
} ways[] = {
    {"bare", NULL, "0"},
    {"untouched", "", "0"},
    {"elsewhere", "", "1"},
    {"near", "", "3"},
    {"unread", "ADSM_KERNEL_WRITES=all", "1"},
};

enum { WAYS = sizeof ways / sizeof *ways };

static bool ask(struct bench_samples samples[KINDS], int way)
{
    double us[KINDS];
    char settings[4096] = "LD_PRELOAD=", words[64];
    if (ways[way].settings)
        snprintf(settings, sizeof settings,
                 "LD_PRELOAD='%s' ADSM_ADDRESS=\"${ADSM_ADDRESS:-adopt}\" %s",
                 getenv("PRELOAD"), ways[way].settings);
    snprintf(words, sizeof words, UNTOUCHED_CHILD " %s", ways[way].near);
    if (!bench_ask_more(settings, words, us, KINDS))
        return false;
    for (int i = 0; i < KINDS; i++)
        bench_add(&samples[i], us[i]);
    return true;
}

int untouched_measure(void)
{
    static struct bench_samples samples[WAYS][KINDS];
    char name[64];
    if (!getenv("PRELOAD")) {
        fprintf(stderr, "untouched: set PRELOAD to libadsm-preload.so\n");
        return 0;
    }
    bench_settle();
    for (int i = 0; i < bench_reps(); i++)
        for (int k = 0; k < WAYS; k++)
            if (!ask(samples[(i + k) % WAYS], (i + k) % WAYS)) {
                fprintf(stderr, "untouched: a child failed\n");
                return 1;
            }
    for (int way = 1; way < WAYS; way++)
        for (int i = 0; i < KINDS; i++) {
            snprintf(name, sizeof name, "%s/%s", ways[way].name, kinds[i].name);
            bench_report(name, "us", &samples[way][i], "bare", &samples[0][i]);
        }
    return 0;
}

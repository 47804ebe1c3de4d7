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

static struct {
    CUfunction put;
    CUdeviceptr to;
    CUstream stream;
    CUevent event;
    CUgraphExec graph;
} p;

static void launch(void)
{
    void *params[] = {&p.to};
    CHECK(cuLaunchKernel(p.put, 1, 1, 1, 1, 1, 1, 0, p.stream, params, NULL));
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
    {"launch", launch},    {"graph", launch_graph},
    {"copy-up", copy_up},  {"copy-down", copy_down},
    {"set", set},          {"record+query", record_and_query},
    {"sync", synchronize}, {"alloc+free", allocate_and_free},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static double round_us(void (*call)(void))
{
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
    CHECK(cuMemAlloc(&p.to, BYTES));
    CHECK(cuStreamCreate(&p.stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&p.event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamBeginCapture(p.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch();
    set();
    CHECK(cuStreamEndCapture(p.stream, &graph));
    CHECK(cuGraphInstantiate(&p.graph, graph, 0));
}

int untouched_child(void)
{
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

static bool ask(struct bench_samples samples[KINDS], const char *settings)
{
    double us[KINDS];
    if (!bench_ask_more(settings, UNTOUCHED_CHILD, us, KINDS))
        return false;
    for (int i = 0; i < KINDS; i++)
        bench_add(&samples[i], us[i]);
    return true;
}

int untouched_measure(void)
{
    static struct bench_samples bare[KINDS], ours[KINDS];
    char preloaded[4096], name[64];
    if (!getenv("PRELOAD")) {
        fprintf(stderr, "untouched: set PRELOAD to libadsm-preload.so\n");
        return 0;
    }
    snprintf(preloaded, sizeof preloaded,
             "LD_PRELOAD='%s' ADSM_ADDRESS=\"${ADSM_ADDRESS:-adopt}\"",
             getenv("PRELOAD"));
    bench_settle();
    for (int i = 0; i < bench_reps(); i++) {
        bool first =
            i % 2 == 0 ? ask(bare, "LD_PRELOAD=") : ask(ours, preloaded);
        bool second =
            i % 2 == 0 ? ask(ours, preloaded) : ask(bare, "LD_PRELOAD=");
        if (!first || !second) {
            fprintf(stderr, "untouched: a child failed\n");
            return 1;
        }
    }
    for (int i = 0; i < KINDS; i++) {
        snprintf(name, sizeof name, "untouched/%s", kinds[i].name);
        bench_report(name, "us", &ours[i], "bare", &bare[i]);
    }
    return 0;
}

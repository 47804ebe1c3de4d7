/*
 * Four transfers to the device, kernels on what came, and transfers back, in one
 * stream and in four, handed over triple by triple (depth first) or all transfers
 * to the device before all kernels before all transfers back (breadth first).
 * Links are throttled and kernels paced so that each takes the same time, tau.
 *
 *   depth/1, breadth/1   one stream: one after the other, 12 tau
 *   depth/4, breadth/4   four: an engine for each direction and one for kernels,
 *                        4 tau of the first stage and one of each other, 6 tau
 *   up, kernel, down     tau of each, by itself, beside what was asked for
 *
 * tau of the sums is what was measured of each by itself in the same run. A device
 * with one engine for both directions is not here: depth first it would take
 * 12 tau, breadth first 8, the time of its eight transfers (the thesis says 6).
 * Nor is the scheduler that holds back what kernels signal, for which the thesis
 * has 9 tau.
 *
 * Paper: Parisi, "Optimization of Parallel Computations on Heterogeneous
 *        GPU-Based Systems", 3.3.2, Fig. 6
 */
#include "../micro/bench.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRIPLES = 4, TAU_MS = 20, BYTES = 2000000, BLOCKS = 800, THREADS = 256 };

static struct {
    CUfunction kernel;
    CUstream stream[TRIPLES];
    CUdeviceptr device[TRIPLES];
    void *host[TRIPLES];
    unsigned part; /* of the work; 1: all of it */
} b;

static void up(int i, CUstream stream)
{
    CHECK(cuMemcpyHtoDAsync(b.device[i], b.host[i], BYTES / b.part, stream));
}

static void compute(int i, CUstream stream)
{
    (void)i;
    CHECK(cuLaunchKernel(b.kernel, BLOCKS / b.part, 1, 1, THREADS, 1, 1, 0,
                         stream, NULL, NULL));
}

static void down(int i, CUstream stream)
{
    CHECK(cuMemcpyDtoHAsync(b.host[i], b.device[i], BYTES / b.part, stream));
}

static void (*const stages[])(int, CUstream) = {up, compute, down};

static double ms_until_done(uint64_t began)
{
    CHECK(cuCtxSynchronize());
    return (double)(bench_now() - began) / 1e6;
}

static double stage_ms(int s)
{
    uint64_t began = bench_now();
    stages[s](0, b.stream[0]);
    return ms_until_done(began);
}

static double depth_ms(int streams)
{
    uint64_t began = bench_now();
    for (int i = 0; i < TRIPLES; i++)
        for (int s = 0; s < 3; s++)
            stages[s](i, b.stream[i % streams]);
    return ms_until_done(began);
}

static double breadth_ms(int streams)
{
    uint64_t began = bench_now();
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < TRIPLES; i++)
            stages[s](i, b.stream[i % streams]);
    return ms_until_done(began);
}

/* ---- cases -------------------------------------------------------------------- */

static double tau(const struct bench_samples stage[3])
{
    double sum = 0;
    for (int s = 0; s < 3; s++)
        sum += bench_median(&stage[s]);
    return sum / 3;
}

static void report(const char *name, const struct bench_samples *ms,
                   const char *against, double peer)
{
    const struct bench_samples wanted = {.value = {peer}, .count = 1};
    bench_report(name, "ms", ms, against, &wanted);
}

static void measure(void)
{
    struct bench_samples stage[3] = {{.count = 0}}, depth[2] = {{.count = 0}};
    struct bench_samples breadth[2] = {{.count = 0}};
    static const char *const names[] = {"up", "kernel", "down"};
    static const int streams[] = {1, TRIPLES};
    for (int r = 0; r < bench_reps(); r++) {
        for (int s = 0; s < 3; s++)
            bench_add(&stage[s], stage_ms(s));
        for (int k = 0; k < 2; k++) {
            bench_add(&depth[k], depth_ms(streams[k]));
            bench_add(&breadth[k], breadth_ms(streams[k]));
        }
    }
    for (int s = 0; s < 3; s++)
        report(names[s], &stage[s], "tau asked for", (double)TAU_MS / b.part);
    report("depth/1", &depth[0], "12 tau", 12 * tau(stage));
    report("breadth/1", &breadth[0], "12 tau", 12 * tau(stage));
    report("depth/4", &depth[1], "6 tau", 6 * tau(stage));
    report("breadth/4", &breadth[1], "6 tau", 6 * tau(stage));
}

static void prepare(void)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%dKB/s", BYTES / TAU_MS);
    setenv("SOFTCUDA_LINK", rate, 1);
    snprintf(rate, sizeof rate, "%dK/s", BLOCKS * THREADS / TAU_MS);
    setenv("SOFTCUDA_PACE", rate, 1);
    device_start();
    b.kernel = device_empty();
    for (int i = 0; i < TRIPLES; i++) {
        CHECK(cuStreamCreate(&b.stream[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuMemAlloc(&b.device[i], BYTES));
        CHECK(cuMemHostAlloc(&b.host[i], BYTES, 0));
    }
    (void)depth_ms(TRIPLES);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "engines");
    b.part = bench_quick() ? 4 : 1;
    bench_settle();
    prepare();
    measure();
    return 0;
}

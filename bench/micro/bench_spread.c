/*
 * Calls over several devices beside the same on one, and what a part costs.
 *
 *   map/link      an array goes up, is doubled, and comes back; links that every
 *                 device has of its own are the limit
 *   compute/pace  kernels whose pace is the limit (SOFTCUDA_PACE); data stay
 *   into/pace     a histogram, which each part adds to by itself (adsmInto), of
 *                 kernels whose pace is the limit
 *   part/issue    the calling thread's time for a part of four arguments, beside
 *                 a plain adsmCall of four
 *
 * Times of several software devices are real as far as links and paces are what
 * they wait for: the machine has other work to do than to compute.
 */
#include "adsm_skeleton.h"
#include "bench.h"
#include "ranged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t mask(int devices)
{
    return (UINT32_C(1) << devices) - 1;
}

/* ---- children: each prints one number --------------------------------------- */

/* Milliseconds for up, kernel and down of n elements. */
static double map_ms(int devices, long n)
{
    adsmKernel *twice = kernel("twice");
    unsigned *x = array(n), *y = array(n), wrong = 0;
    adsmOpts on = {.devices = mask(devices), .parts = devices};
    /* Memory for copies, code on every device. */
    must(adsmCallWith(&on, twice, adsmR1(n), adsmIn(x), adsmOut(y)));
    must(adsmPrefetch(y, NULL, ADSM_HOST));
    for (long i = 0; i < n; i++)
        x[i] = (unsigned)i + y[i] % 2;
    uint64_t began = bench_now();
    must(adsmCallWith(&on, twice, adsmR1(n), adsmIn(x), adsmOut(y)));
    must(adsmPrefetch(y, NULL, ADSM_HOST));
    for (long i = 0; i < n; i += 1024)
        wrong += y[i] != 2 * x[i];
    double ms = (double)(bench_now() - began) * 1e-6;
    return wrong ? -1 : ms;
}

/* Milliseconds for calls whose data is where it is needed. */
static double compute_ms(int devices, long n)
{
    enum { CALLS = 10 };
    adsmKernel *twice = kernel("twice");
    unsigned *x = array(n), *y = array(n);
    adsmOpts on = {.devices = mask(devices), .parts = devices, .sync = 1};
    must(adsmCallWith(&on, twice, adsmR1(n), adsmIn(x), adsmOut(y)));
    uint64_t began = bench_now();
    on.sync = 0;
    for (int i = 0; i < CALLS; i++)
        must(adsmCallWith(&on, twice, adsmR1(n), adsmIn(x), adsmOut(y)));
    on.sync = 1;
    must(adsmCallWith(&on, twice, adsmR1(n), adsmIn(x), adsmOut(y)));
    return (double)(bench_now() - began) * 1e-6;
}

/* Milliseconds for as many histograms, each read by the CPU. */
static double into_ms(int devices, long n)
{
    enum { CALLS = 10, BINS = 256 };
    adsmKernel *count = kernel("count");
    unsigned *x = array(n), *bins = array(BINS), wrong = 0;
    const adsmOperator *sum = adsmOperatorOf(ADSM_SUM, ADSM_U32);
    adsmOpts on = {.devices = mask(devices), .parts = devices};
    uint64_t began = 0;
    for (long i = 0; i < n; i++)
        x[i] = (unsigned)i * 2654435761u >> 24;
    for (int i = 0; i <= CALLS; i++) {
        if (i == 1)
            began = bench_now(); /* memory and code are there */
        memset(bins, 0, BINS * sizeof *bins);
        must(adsmCallWith(&on, count, adsmR1(n), adsmIn(x),
                          adsmInto(bins, sum)));
        unsigned all = 0;
        for (int k = 0; k < BINS; k++)
            all += bins[k];
        wrong += all != n;
    }
    double ms = (double)(bench_now() - began) * 1e-6;
    return wrong ? -1 : ms;
}

static double thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Microseconds of the caller for a part; 0 devices: for a plain call. */
static double issue_us(int devices, long n)
{
    enum { ROUNDS = 200, CALLS = 20 };
    adsmKernel *twice = kernel("twice4");
    unsigned *p[4];
    double best = 1e9;
    for (int i = 0; i < 4; i++) {
        p[i] = devices ? array(n) : adsmAlloc((size_t)n * sizeof *p[i]);
        if (!p[i])
            must(adsmLastStatus());
    }
    adsmOpts on = {.devices = mask(devices ? devices : 1), .parts = devices};
    for (int r = 0; r < ROUNDS; r++) {
        double began = thread_us();
        for (int i = 0; i < CALLS; i++)
            must(devices
                     ? adsmCallWith(&on, twice, adsmR1(n), adsmIn(p[0]),
                                    adsmOut(p[1]), adsmIn(p[2]), adsmIn(p[3]))
                     : adsmCall(twice, n, adsmIn(p[0]), adsmOut(p[1]),
                                adsmIn(p[2]), adsmIn(p[3])));
        double us = (thread_us() - began) / CALLS / (devices ? devices : 1);
        must(adsmSync());
        best = us < best ? us : best;
    }
    return best;
}

static int child(char **argv)
{
    const char *what = argv[2];
    int devices = atoi(argv[3]);
    long n = atol(argv[4]);
    double value = strcmp(what, "map") == 0       ? map_ms(devices, n)
                   : strcmp(what, "compute") == 0 ? compute_ms(devices, n)
                   : strcmp(what, "into") == 0    ? into_ms(devices, n)
                                                  : issue_us(devices, n);
    printf("%.4f\n", value);
    return value < 0;
}

/* ---- cases ---------------------------------------------------------------------- */

/* `devices` beside `peer`, alternating. */
static void measure(const char *name, const char *unit, const char *what,
                    const char *settings, long n, int devices, int peer,
                    const char *against)
{
    struct bench_samples here = {.count = 0}, there = {.count = 0};
    char words[96], words_peer[96];
    snprintf(words, sizeof words, "--child %s %d %ld", what, devices, n);
    snprintf(words_peer, sizeof words_peer, "--child %s %d %ld", what, peer, n);
    for (int r = 0; r < bench_reps(); r++) {
        double a = bench_ask(settings, words);
        double b = bench_ask(settings, words_peer);
        if (a < 0 || b < 0)
            exit(3);
        bench_add(&here, a);
        bench_add(&there, b);
    }
    bench_report(name, unit, &here, against, &there);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "spread");
    bool quick = bench_quick();
    measure("map/link/4", "ms", "map",
            "SOFTCUDA_DEVICES=4 SOFTCUDA_LINK=200MB/s",
            quick ? 1 << 20 : 4 << 24, 4, 1, "one device");
    measure("map/link/2", "ms", "map",
            "SOFTCUDA_DEVICES=4 SOFTCUDA_LINK=200MB/s",
            quick ? 1 << 20 : 4 << 24, 2, 1, "one device");
    measure("compute/pace/4", "ms", "compute",
            "SOFTCUDA_DEVICES=4 SOFTCUDA_PACE=20M/s", quick ? 1 << 18 : 1 << 22,
            4, 1, "one device");
    measure("into/pace/4", "ms", "into",
            "SOFTCUDA_DEVICES=4 SOFTCUDA_PACE=20M/s", quick ? 1 << 18 : 1 << 22,
            4, 1, "one device");
    measure("part/issue", "us", "issue", "SOFTCUDA_DEVICES=4", 1 << 16, 4, 0,
            "a plain adsmCall");
    return 0;
}

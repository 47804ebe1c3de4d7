/*
 * Threads that write blocks here and there, again and again, between calls:
 * blocks that are sent early are dirty again at once. Milliseconds until each
 * thread has written its bytes and a kernel has run, against the best setting
 * of the same run, which is known when all were measured.
 *
 *   <protocol>/<block>/<rolling size>[/fixed]
 *
 * fixed: ADSM_ROLLING_LEARN=0. A child is this program again, as
 * `bench_thrash --child <writes>`.
 */
#include "adsm.h"
#include "bench.h"
#include "tests/mm/kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BYTES = 4 << 20, ROUNDS = 5, WRITES = 20000, QUICK = 200 };

/* ---- the child ----------------------------------------------------------- */

static uint8_t *bytes;
static long writes;

static void check(int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_thrash: %s: %s\n", what, adsmErrorDetail());
    exit(1);
}

/* Bytes of its own, in blocks that are everybody's. */
static void *hammer(void *first)
{
    size_t thread = (size_t)((uint8_t *)first - bytes);
    uint32_t random = (uint32_t)thread + 1;
    for (long i = 0; i < writes; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = (random >> 8) % (BYTES / THREADS) * THREADS + thread;
        ((volatile uint8_t *)bytes)[at] = (uint8_t)i;
    }
    return NULL;
}

static void run_round(adsmKernel *mix, uint8_t *out)
{
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, hammer, bytes + i) != 0)
            exit(1);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    check(adsmLaunch(mix, adsmDim1(1), adsmDim1(64), 0, adsmInOut(out),
                     adsmIn(bytes), adsmVal((uint32_t){64}),
                     adsmVal((uint32_t){1})),
          "launch");
    check(adsmSync(), "wait");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int child(char **argv)
{
    double ms[ROUNDS];
    adsmModule *module;
    adsmKernel *mix;
    writes = atol(argv[2]);
    check(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1), "code");
    check(adsmKernelGet(&mix, module, "mix", ADSM_ONLY_ARGUMENTS), "mix");
    bytes = adsmAlloc(BYTES);
    uint8_t *out = adsmAlloc(4096);
    if (!bytes || !out)
        check(adsmLastStatus(), "memory");
    memset(bytes, 0, BYTES);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = bench_now();
        run_round(mix, out);
        ms[i] = (double)(bench_now() - start) / 1e6;
    }
    qsort(ms, ROUNDS, sizeof *ms, by_value);
    printf("%f\n", ms[ROUNDS / 2]);
    return 0;
}

/* ---- the parent ---------------------------------------------------------- */

enum { CASES_MOST = 64 };

static struct {
    char name[48], settings[128];
    struct bench_samples ms;
} cases[CASES_MOST];
static int count;

static void add(const char *protocol, const char *block, const char *size,
                bool learns)
{
    snprintf(cases[count].name, sizeof cases->name, "%s/%s/%s%s", protocol,
             block, size, learns ? "" : "/fixed");
    snprintf(cases[count].settings, sizeof cases->settings,
             "ADSM_PROTOCOL=%s ADSM_BLOCK_SIZE=%s ADSM_ROLLING_SIZE=%s "
             "ADSM_ROLLING_LEARN=%d ADSM_SLAB_MAX=0",
             protocol, block, size, learns);
    count++;
}

static void add_all(void)
{
    static const char *const blocks[] = {"4K", "64K", "256K", "2M"};
    static const char *const sizes[] = {"1", "4", "0"};
    add("batch", "256K", "0", true);
    add("lazy", "256K", "0", true);
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            add("rolling", blocks[b], sizes[s], true);
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        add("rolling", blocks[b], "4", false);
}

int main(int argc, char **argv)
{
    char words[64];
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "thrash");
    snprintf(words, sizeof words, "--child %d", bench_quick() ? QUICK : WRITES);
    add_all();
    for (int k = 0; k < bench_reps(); k++)
        for (int i = 0; i < count; i++) {
            double ms = bench_ask(cases[i].settings, words);
            if (ms < 0)
                return 1;
            bench_add(&cases[i].ms, ms);
        }
    int best = 0;
    for (int i = 1; i < count; i++)
        if (bench_median(&cases[i].ms) < bench_median(&cases[best].ms))
            best = i;
    for (int i = 0; i < count; i++)
        bench_report(cases[i].name, "ms", &cases[i].ms, cases[best].name,
                     &cases[best].ms);
    return 0;
}

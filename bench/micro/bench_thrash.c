/*
 * Threads that write blocks here and there, again and again, between calls:
 * blocks that are sent early are dirty again at once. Milliseconds until each
 * thread has written its bytes and a kernel has run, against the best setting
 * of the same run, which is known when all were measured.
 *
 *   <protocol>/<block>/<rolling size>[/fixed]
 *
 * fixed: ADSM_ROLLING_LEARN=0. Then the other side of opening many small blocks
 * at once: KiB that go to the device for each call, against blocks that open one
 * by one, both with nothing sent early.
 *
 *   sent/<block>/<how the threads write>
 *
 * sparse: to one block in sixteen; half: to nearly half of them; turned: sparse
 * after calls in which they wrote all. A child is this program again, as
 * `bench_thrash --child <writes>` or `bench_thrash --sent <writes> <before>`.
 */
#include "adsm.h"
#include "base/stats.h"
#include "bench.h"
#include "tests/mm/kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BYTES = 4 << 20, ROUNDS = 5, WRITES = 20000, QUICK = 200 };
enum { BEFORE = 4, CALLS = 40, SPARSE = 16, HALF = 150 };

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

static adsmKernel *begin(uint8_t **out)
{
    adsmModule *module;
    adsmKernel *mix;
    check(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1), "code");
    check(adsmKernelGet(&mix, module, "mix", ADSM_ONLY_ARGUMENTS), "mix");
    bytes = adsmAlloc(BYTES);
    *out = adsmAlloc(4096);
    if (!bytes || !*out)
        check(adsmLastStatus(), "memory");
    memset(bytes, 0, BYTES);
    return mix;
}

static int child(char **argv)
{
    double ms[ROUNDS];
    uint8_t *out;
    adsmKernel *mix = begin(&out);
    writes = atol(argv[2]);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = bench_now();
        run_round(mix, out);
        ms[i] = (double)(bench_now() - start) / 1e6;
    }
    qsort(ms, ROUNDS, sizeof *ms, by_value);
    printf("%f\n", ms[ROUNDS / 2]);
    return 0;
}

static int sent(char **argv)
{
    uint8_t *out;
    adsmKernel *mix = begin(&out);
    writes = atol(argv[3]);
    for (int i = 0; i < BEFORE; i++)
        run_round(mix, out);
    writes = atol(argv[2]);
    uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
    for (int i = 0; i < CALLS; i++)
        run_round(mix, out);
    uint64_t more = adsm_stats_get(ADSM_STAT_bytes_up) - before;
    printf("%f\n", (double)more / CALLS / 1024);
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

static double sent_kib(const char *block, bool learns, int now, int before)
{
    char settings[160], words[64];
    snprintf(settings, sizeof settings,
             "ADSM_PROTOCOL=rolling ADSM_BLOCK_SIZE=%s ADSM_ROLLING_SIZE=60000 "
             "ADSM_ROLLING_LEARN=%d ADSM_SLAB_MAX=0",
             block, learns);
    snprintf(words, sizeof words, "--sent %d %d", now, before);
    double kib = bench_ask(settings, words);
    if (kib < 0)
        exit(1);
    return kib;
}

static void compare_sent(const char *block, const char *how, int now,
                         int before)
{
    struct bench_samples together = {0}, each = {0};
    char name[48];
    for (int k = 0; k < bench_reps(); k++) {
        bench_add(&together, sent_kib(block, true, now, before));
        bench_add(&each, sent_kib(block, false, now, before));
    }
    snprintf(name, sizeof name, "sent/%s/%s", block, how);
    bench_report(name, "KiB", &together, "one by one", &each);
}

int main(int argc, char **argv)
{
    char words[64];
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    if (argc == 4 && strcmp(argv[1], "--sent") == 0)
        return sent(argv);
    bench_start(argc, argv, "thrash");
    int all = bench_quick() ? QUICK : WRITES;
    snprintf(words, sizeof words, "--child %d", all);
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
    compare_sent("4K", "hammering", all, all);
    compare_sent("4K", "half", HALF, HALF);
    compare_sent("4K", "sparse", SPARSE, SPARSE);
    compare_sent("4K", "turned", SPARSE, all);
    return 0;
}

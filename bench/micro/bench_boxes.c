/*
 * What boxes cost and save, after the figures of Ramashekar and Bondhugula
 * (PLDI 2013) that links can show.
 *
 *   rows/R        Fig. 4: a box of rows of R bytes, out of rows four times as
 *                 long, goes to a device and comes back, beside as many bytes in
 *                 one row
 *   reuse/X       Fig. 10d: a call of many over the same boxes, beside the same
 *                 with the copies given up between any two; the `-bytes` cases
 *                 are the MiB that such a call moves. X: `input` reads one array
 *                 again and writes another, `place` works in place, and `whole`
 *                 has an array that all devices read and one that is cut
 *
 * Links are throttled, so the machine only has to keep up with them.
 */
#include "base/stats.h"
#include "bench.h"
#include "ranged.h"

enum { MIB = 1 << 20, DEVICES = 4, CALLS = 8 };

#define ALL ((UINT32_C(1) << DEVICES) - 1)

/* Every kernel leaves alone what it is given: what is moved does not depend on
 * what is computed, and results are looked at elsewhere. */
static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry rows(.param .u64 i0, .param .u64 i1, .param .u64 j0, "
    ".param .u64 j1, .param .align 8 .b8 x[16])\n{ ret; }\n"
    ".visible .entry two(.param .u64 i0, .param .u64 i1, .param .u64 x, "
    ".param .u64 y)\n{ ret; }\n";

static adsmKernel *idle(const char *name)
{
    adsmModule *module;
    adsmKernel *found;
    must(adsmModuleLoad(&module, ptx, sizeof ptx - 1));
    must(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS));
    return found;
}

/* ---- children: each prints one number --------------------------------------- */

/* Milliseconds for so many bytes to device 0 and back, in rows. */
static double rows_ms(long row, long bytes)
{
    adsmKernel *rows = idle("rows");
    long count = bytes / row, wide = 4 * row, wrong = 0;
    uint8_t *x = adsmAllocArray(1, adsmR2(count, wide), ADSM_NO_HOME);
    if (!x)
        must(adsmLastStatus());
    adsmBox box = {2, {0, row}, {count, 2 * row}};
    double ms = 0;
    for (int warm = 1; warm >= 0; warm--) { /* memory and code, and then */
        for (long r = 0; r < count; r++)
            memset(x + r * wide + row, (int)(r % 251), (size_t)row);
        uint64_t began = bench_now();
        must(adsmCallWith(adsmWith(.devices = 1, .sync = 1, .chunks = 1), rows,
                          box, adsmInOut(x)));
        must(adsmPrefetch(x, &box, ADSM_HOST));
        wrong += x[(count - 1) * wide + row] != (count - 1) % 251;
        ms = (double)(bench_now() - began) * 1e-6;
        for (long r = 0; r < count; r++)
            wrong += x[r * wide + row] != r % 251;
    }
    return wrong ? -1 : ms;
}

static void call(const char *shape, const unsigned *x, unsigned *y, long n)
{
    adsmKernel *two = idle("two");
    const adsmOpts on = {
        .devices = ALL, .parts = DEVICES, .chunks = 1, .each = {4096}};
    if (strcmp(shape, "input") == 0)
        must(adsmCallWith(&on, two, adsmR1(n), adsmIn(x), adsmOut(y)));
    else if (strcmp(shape, "place") == 0)
        must(adsmCallWith(&on, two, adsmR1(n), adsmIn(x), adsmInOut(y)));
    else
        must(adsmCallWith(&on, two, adsmR1(n), adsmAll(x), adsmInOut(y)));
}

static uint64_t moved_bytes(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_up) +
           adsm_stats_get(ADSM_STAT_bytes_down) +
           adsm_stats_get(ADSM_STAT_bytes_peer);
}

/* Milliseconds of a call, or MiB that it moves. */
static double reuse(const char *shape, bool keeps, bool bytes, long n)
{
    unsigned *x = array(n), *y = array(n);
    uint64_t began = 0, moved = 0;
    for (int i = -1; i < CALLS; i++) {
        if (i == 0) {
            must(adsmSync());
            moved = moved_bytes();
            began = bench_now();
        }
        call(shape, x, y, n);
        for (int d = 0; d < DEVICES && !keeps; d++) {
            must(adsmDrop(x, NULL, d));
            must(adsmDrop(y, NULL, d));
        }
    }
    must(adsmSync());
    return bytes ? (double)(moved_bytes() - moved) / CALLS / MIB
                 : (double)(bench_now() - began) * 1e-6 / CALLS;
}

static int child(int argc, char **argv)
{
    double value = argc == 4 ? rows_ms(atol(argv[2]), atol(argv[3]))
                             : reuse(argv[2], atoi(argv[3]) != 0,
                                     atoi(argv[4]) != 0, atol(argv[5]));
    printf("%.5f\n", value);
    return value < 0;
}

/* ---- cases -------------------------------------------------------------------- */

static const char slow[] = "SOFTCUDA_DEVICES=4 SOFTCUDA_LINK=400MB/s";

static void beside(const char *name, const char *unit, const char *words,
                   const char *against, const char *words_peer)
{
    struct bench_samples here = {.count = 0}, there = {.count = 0};
    for (int r = 0; r < bench_reps(); r++) {
        double a = bench_ask(slow, words), b = bench_ask(slow, words_peer);
        if (a < 0 || b < 0)
            exit(3);
        bench_add(&here, a);
        bench_add(&there, b);
    }
    bench_report(name, unit, &here, against, &there);
}

static void measure_rows(long row, long bytes)
{
    char name[32], words[64], one[64];
    snprintf(name, sizeof name, "rows/%ld", row);
    snprintf(words, sizeof words, "--child %ld %ld", row, bytes);
    snprintf(one, sizeof one, "--child %ld %ld", bytes, bytes);
    beside(name, "ms", words, "one row", one);
}

static void measure_reuse(const char *shape, long n)
{
    for (int bytes = 0; bytes < 2; bytes++) {
        char name[32], words[64], peer[64];
        snprintf(name, sizeof name, "reuse/%s%s", shape, bytes ? "-bytes" : "");
        snprintf(words, sizeof words, "--child %s 1 %d %ld", shape, bytes, n);
        snprintf(peer, sizeof peer, "--child %s 0 %d %ld", shape, bytes, n);
        beside(name, bytes ? "MiB" : "ms", words, "copies given up", peer);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return child(argc, argv);
    bench_start(argc, argv, "boxes");
    long bytes = bench_quick() ? 2 * MIB : 16 * MIB;
    for (long row = 64; row <= 65536; row *= 4)
        measure_rows(row, bytes);
    measure_reuse("input", bytes / 16);
    measure_reuse("place", bytes / 16);
    measure_reuse("whole", bytes / 16);
    return 0;
}

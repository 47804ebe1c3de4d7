/*
 * Choices of the runtime, both sides of each: microseconds of a call with what
 * leads to it, with the option one way and the other. Options are read once, so
 * each sample is the median call of a process of its own, in turns.
 *
 *   keep-open  the host writes 64 bytes of a block or all of it, a kernel reads
 *              it: left open and sent as a difference (ADSM_KEEP_OPEN), or
 *              closed at each call, with a fault and an upload of all of it
 *   move       a kernel writes an object, the host copies it to another, at
 *              once or 1 MiB piece by piece, a kernel reads that: copied by the
 *              device (ADSM_BULK_MIN), or fetched, copied, and sent
 *
 * A child is this program again, as `bench_choice --child keep|move <bytes>
 * <bytes written> <calls>`.
 */
#include "adsm.h"
#include "bench.h"
#include "mm/doors/bulk.h"
#include "tests/mm/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MOST = 400, QUICK_CALLS = 30, WARM_UP = 10 };

/* ---- the child ----------------------------------------------------------- */

static struct {
    adsmKernel *mix, *fill;
    uint8_t *from, *in, *out;
    size_t bytes, written;
} work;

static void check(int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_choice: %s: %s\n", what, adsmErrorDetail());
    exit(1);
}

static void read_in(void)
{
    uint32_t n = 64, seed = 1;
    check(adsmLaunch(work.mix, adsmDim1(1), adsmDim1(64), 0,
                     adsmInOut(work.out), adsmIn(work.in), adsmVal(n),
                     adsmVal(seed)),
          "launch");
    check(adsmSync(), "wait");
}

static void keep(int i)
{
    memset(work.in + (size_t)i * work.written % work.bytes, i, work.written);
    read_in();
}

static void move(int i)
{
    uint32_t n = 64;
    check(adsmLaunch(work.fill, adsmDim1(1), adsmDim1(64), 0,
                     adsmInOut(work.from), adsmVal(n), adsmVal(i)),
          "launch");
    for (size_t at = 0; at < work.bytes; at += work.written)
        check(adsm_bulk_move(work.in + at, work.from + at, work.written),
              "copy");
    read_in();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int child(char **argv)
{
    static double us[CALLS_MOST];
    void (*step)(int) = strcmp(argv[2], "keep") == 0 ? keep : move;
    int calls = atoi(argv[5]);
    adsmModule *module;
    work.bytes = strtoull(argv[3], NULL, 10);
    work.written = strtoull(argv[4], NULL, 10);
    check(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1), "code");
    check(adsmKernelGet(&work.mix, module, "mix", ADSM_ONLY_ARGUMENTS), "mix");
    check(adsmKernelGet(&work.fill, module, "fill", ADSM_ONLY_ARGUMENTS),
          "fill");
    work.from = adsmAlloc(work.bytes);
    work.in = adsmAlloc(work.bytes);
    work.out = adsmAlloc(work.bytes);
    if (!work.from || !work.in || !work.out)
        check(adsmLastStatus(), "memory");
    memset(work.in, 0, work.bytes);
    for (int i = -WARM_UP; i < calls; i++) {
        uint64_t start = bench_now();
        step(i + WARM_UP);
        if (i >= 0)
            us[i] = (double)(bench_now() - start) / 1e3;
    }
    qsort(us, (size_t)calls, sizeof *us, by_value);
    printf("%f\n", us[calls / 2]);
    return 0;
}

/* ---- the parent ---------------------------------------------------------- */

static double ask(const char *what, size_t bytes, size_t written,
                  const char *setting)
{
    char settings[128], words[128];
    snprintf(settings, sizeof settings, "ADSM_PROTOCOL=lazy ADSM_SLAB_MAX=0 %s",
             setting);
    snprintf(words, sizeof words, "--child %s %zu %zu %d", what, bytes, written,
             bench_quick() ? QUICK_CALLS : CALLS_MOST);
    double us = bench_ask(settings, words);
    if (us < 0)
        exit(1);
    return us;
}

static void measure(const char *what, size_t bytes, size_t written,
                    const char *ours, const char *theirs)
{
    struct bench_samples one = {0}, other = {0};
    char label[64];
    for (int k = 0; k < bench_reps(); k++) {
        bench_add(&other, ask(what, bytes, written, theirs));
        bench_add(&one, ask(what, bytes, written, ours));
    }
    snprintf(label, sizeof label, "%s/%zuK/by-%zu", what, bytes >> 10, written);
    bench_report(label, "us", &one, theirs, &other);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10,
                                   1 << 20};
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "choice");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        measure("keep", sizes[i], 64, "ADSM_KEEP_OPEN=1M", "ADSM_KEEP_OPEN=0");
        measure("keep", sizes[i], sizes[i], "ADSM_KEEP_OPEN=1M",
                "ADSM_KEEP_OPEN=0");
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure("move", sizes[i], sizes[i], "ADSM_BULK_MIN=0",
                "ADSM_BULK_MIN=1G");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - 1; i++)
        measure("move", 1 << 20, sizes[i], "ADSM_BULK_MIN=0",
                "ADSM_BULK_MIN=1G");
    return 0;
}

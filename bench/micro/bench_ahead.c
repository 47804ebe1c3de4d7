/*
 * What the CPU reads of an object after each of a row of calls, all of which
 * write it: milliseconds of a round, from the launch to the last byte read, under
 * each ADSM_FETCH_AHEAD. Against rounds of the same calls with one explicit copy
 * of as many bytes into memory that nothing guards, which is read.
 *
 *   <pattern>/<link>/<ADSM_FETCH_AHEAD>
 *
 *   all      all blocks of 256 KiB
 *   fourth   every fourth
 *   same     a tenth of them, at random, the same ones each time
 *   other    a tenth of them, others each time
 *   pages    a page of each grain of 2 MiB
 *   dense    three of four, at random, after calls of which nothing is known
 *   mixed    all, each time in another order, after such calls
 *   lent     100 bytes at 64 random places, by loans as of system calls
 *   lazy     the same under lazy, of an object of an eighth of the size
 *   through  100 bytes of each 16 KiB of the first eighth, in order, by loans
 *   little   8 bytes of an object of 16 KiB
 *
 * Then what wrong guesses cost, the first one among 64 rounds of a program:
 * other/<link>/wrong is auto against off, other/<link>/wrong-cpu the same in
 * processor time of the process. A child is this program again, as
 * `bench_ahead --child <pattern> <bytes> <rounds> ours|copied`.
 */
#include "adsm.h"
#include "bench.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"
#include "tests/mm/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BLOCK = 256 << 10,
    PAGE = 4096,
    LENT = 100,
    PLACES_MOST = 1024,
    BYTES = 64 << 20,
    QUICK_BYTES = 8 << 20,
    LITTLE_BYTES = 16 << 10,
    LITTLE_ROUNDS = 400,
    ROUNDS = 24,
    MANY_ROUNDS = 64, /* with the first of them, when guesses are wrong */
    QUICK_ROUNDS = 4,
    WARM_UP = 6,
    KERNELS = 6, /* more than the library remembers */
};

/* ---- the child ----------------------------------------------------------- */

static struct {
    const char *pattern;
    const uint8_t *p;
    uint8_t *copied; /* NULL: the library does it */
    size_t bytes;
    size_t at[PLACES_MOST]; /* what is read, in that order */
    size_t count, piece;
} work;

static void check(int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_ahead: %s: %s\n", what, adsmErrorDetail());
    exit(1);
}

static bool is(const char *pattern)
{
    return strcmp(work.pattern, pattern) == 0;
}

static uint32_t draw(uint32_t below)
{
    static uint32_t random = 1;
    random = random * 1664525u + 1013904223u;
    return (random >> 8) % below;
}

static void add(size_t at)
{
    work.at[work.count++] = at;
}

static void mix(void)
{
    for (size_t i = work.count; i > 1; i--) {
        size_t k = draw((uint32_t)i), last = work.at[i - 1];
        work.at[i - 1] = work.at[k];
        work.at[k] = last;
    }
}

/* Small pieces, lent. */
static void choose_lent(void)
{
    enum { PLACES = 64, STEP = 16 << 10 };
    work.piece = LENT;
    if (is("through"))
        for (size_t at = 0; at < work.bytes / 8; at += STEP)
            add(at);
    else
        for (int i = 0; i < PLACES; i++)
            add(draw((uint32_t)(work.bytes - LENT)));
}

static void choose_blocks(void)
{
    size_t blocks = work.bytes / BLOCK;
    work.piece = is("pages") ? PAGE : BLOCK;
    for (size_t i = 0; i < blocks; i++)
        if (is("all") || is("mixed") || (is("fourth") && i % 4 == 0) ||
            (is("pages") && i % 8 == 3) || (is("dense") && draw(4) != 0) ||
            ((is("same") || is("other")) && draw(10) == 0))
            add(i * BLOCK);
    if (is("mixed"))
        mix();
}

static void choose_little(void)
{
    work.piece = sizeof(uint64_t);
    add(0);
}

static bool is_lent(void)
{
    return is("lent") || is("lazy") || is("through");
}

static void choose(bool first)
{
    if (!first && is("same"))
        return;
    work.count = 0;
    if (is("little"))
        choose_little();
    else if (is_lent())
        choose_lent();
    else
        choose_blocks();
}

static uint64_t sum(const uint8_t *p, size_t bytes)
{
    uint64_t all = 0, word;
    for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        all += word;
    }
    return all;
}

static uint64_t lend(const uint8_t *p)
{
    struct adsm_loan loan;
    check(adsm_loan_begin(p, LENT, ADSM_READ, &loan), "loan");
    uint64_t all = sum(loan.address, loan.bytes);
    check(adsm_loan_end(&loan, 0), "loan");
    return all;
}

static uint64_t read_it(void)
{
    uint64_t all = 0;
    if (work.copied) {
        size_t bytes = work.count * work.piece;
        check(adsm_bulk_move(work.copied, work.p, bytes), "copy");
        return sum(work.copied, bytes);
    }
    for (size_t i = 0; i < work.count; i++)
        all += is_lent() ? lend(work.p + work.at[i])
                         : sum(work.p + work.at[i], work.piece);
    return all;
}

static adsmKernel *kernels[KERNELS];

static void bring_up(void)
{
    for (int k = 0; k < KERNELS; k++) {
        adsmModule *module;
        check(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1),
              "code");
        check(adsmKernelGet(&kernels[k], module, "fill", ADSM_ONLY_ARGUMENTS),
              "fill");
    }
    work.p = adsmAlloc(work.bytes);
    if (!work.p)
        check(adsmLastStatus(), "memory");
}

static void call(int round)
{
    bool others = is("dense") || is("mixed");
    check(adsmLaunch(kernels[others ? round % KERNELS : 0], adsmDim1(1),
                     adsmDim1(64), 0, adsmInOut(work.p),
                     adsmVal((uint32_t){64}), adsmVal(round)),
          "launch");
    check(adsmSync(), "wait");
}

/* Of all threads, in nanoseconds. */
static uint64_t spent_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int child(char **argv)
{
    static volatile uint64_t all; /* what is read is not left out */
    int rounds = atoi(argv[4]);
    int before = strcmp(argv[2], "other") == 0 ? 1 : WARM_UP;
    uint64_t start = 0, spent = 0;
    work.pattern = argv[2];
    work.bytes = strtoull(argv[3], NULL, 10);
    bring_up();
    if (strcmp(argv[5], "copied") == 0)
        work.copied = memset(malloc(work.bytes), 1, work.bytes);
    for (int i = 0; i < before + rounds; i++) {
        if (i == before) {
            spent = spent_now();
            start = bench_now();
        }
        choose(i == 0);
        call(i);
        all += read_it();
    }
    printf("%f %f\n", (double)(bench_now() - start) / 1e6 / rounds,
           (double)(spent_now() - spent) / 1e6 / rounds);
    (void)all;
    return 0;
}

/* ---- the parent ---------------------------------------------------------- */

static int rounds_of(const char *pattern)
{
    if (bench_quick())
        return QUICK_ROUNDS;
    return strcmp(pattern, "other") == 0    ? MANY_ROUNDS
           : strcmp(pattern, "little") == 0 ? LITTLE_ROUNDS
                                            : ROUNDS;
}

static int bytes_of(const char *pattern)
{
    int bytes = bench_quick() ? QUICK_BYTES : BYTES;
    return strcmp(pattern, "little") == 0 ? LITTLE_BYTES
           : strcmp(pattern, "lazy") == 0 ? bytes / 8
                                          : bytes;
}

enum { OFF, SEQUENTIAL, AUTO, COPIED, WAYS };

static const char *const way_names[WAYS] = {"off", "sequential", "auto",
                                            "copied"};

/* Of one pattern over one link, each way. */
static struct {
    struct bench_samples ms, cpu;
} taken[WAYS];

static void ask(const char *pattern, const char *link, int way)
{
    char settings[128], words[128];
    double values[2];
    bool lazy = strcmp(pattern, "lazy") == 0;
    snprintf(settings, sizeof settings,
             "ADSM_PROTOCOL=%s ADSM_FETCH_AHEAD=%s %s",
             lazy ? "lazy" : "rolling", way == COPIED ? "auto" : way_names[way],
             link);
    snprintf(words, sizeof words, "--child %s %d %d %s", pattern,
             bytes_of(pattern), rounds_of(pattern),
             way == COPIED ? "copied" : "ours");
    if (!bench_ask_more(settings, words, values, 2))
        exit(1);
    bench_add(&taken[way].ms, values[0]);
    bench_add(&taken[way].cpu, values[1]);
}

static void report(const char *pattern, const char *name)
{
    char label[64];
    for (int way = OFF; way < COPIED; way++) {
        snprintf(label, sizeof label, "%s/%s/%s", pattern, name,
                 way_names[way]);
        bench_report(label, "ms", &taken[way].ms, "one-copy",
                     &taken[COPIED].ms);
    }
    if (strcmp(pattern, "other") != 0)
        return;
    snprintf(label, sizeof label, "%s/%s/wrong", pattern, name);
    bench_report(label, "ms", &taken[AUTO].ms, "off", &taken[OFF].ms);
    snprintf(label, sizeof label, "%s/%s/wrong-cpu", pattern, name);
    bench_report(label, "ms", &taken[AUTO].cpu, "off", &taken[OFF].cpu);
}

static void measure(const char *pattern, const char *name, const char *link)
{
    memset(taken, 0, sizeof taken);
    for (int k = 0; k < bench_reps(); k++)
        for (int way = OFF; way < WAYS; way++)
            ask(pattern, link, way);
    report(pattern, name);
}

int main(int argc, char **argv)
{
    static const char *const patterns[] = {"all",   "fourth",  "same",  "other",
                                           "pages", "dense",   "mixed", "lent",
                                           "lazy",  "through", "little"};
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "ahead");
    bench_settle();
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        measure(patterns[i], "open", "");
        measure(patterns[i], "8GB/s", "SOFTCUDA_LINK=8GB/s");
    }
    return 0;
}

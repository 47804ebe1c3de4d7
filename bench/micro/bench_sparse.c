/*
 * Random stores of one byte into a large object, and what a call that reads it
 * makes of them: under the engine async, against a bare handler that opens
 * blocks of 256 KiB by mprotect and closes them all at the end.
 *
 * `found/N`: N stores, and asking which pages they went to, where all blocks are
 * watched. `sent/N`: MiB that went to the device, against those pages.
 * `called/N`: N stores and a kernel that reads the object, which has ended. In
 * each the object was used so before. `in-order`: the whole object is written,
 * and called. What stands beside the engine sigsegv is of processes that do
 * nothing else.
 */
#include "adsm.h"
#include "base/stats.h"
#include "bench.h"
#include "mm/object/index.h"
#include "mm/watch/sparse.h"
#include "os/written.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCK = 256 << 10, WARM_UP = 6 };

static const char ptx[] = ".version 6.4\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .entry look(.param .u64 p)\n"
                          "{\n"
                          "  .reg .b32 %r<2>;\n"
                          "  .reg .b64 %d<2>;\n"
                          "  ld.param.u64 %d1, [p];\n"
                          "  ld.global.u8 %r1, [%d1];\n"
                          "  ret;\n"
                          "}\n";

static size_t bytes;
static uint8_t *shared, *plain; /* the object; the floor's memory */
static adsmKernel *look;
static uint64_t state = 88172645463325252u;

static void fail(const char *what)
{
    fprintf(stderr, "bench_sparse: %s: %s\n", what, adsmErrorDetail());
    exit(1);
}

static void store(uint8_t *p, int count)
{
    for (int i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        p[state % bytes] = (uint8_t)i;
    }
}

/* A kernel that reads the object. It has ended when this returns. */
static void call(void)
{
    if (adsmLaunch(look, adsmDim1(1), adsmDim1(1), 0, adsmIn(shared)) ||
        adsmSync())
        fail("launch");
}

static void bring_up(void)
{
    adsmModule *module;
    shared = adsmAlloc(bytes);
    if (!shared || adsmModuleLoad(&module, ptx, sizeof ptx - 1) ||
        adsmKernelGet(&look, module, "look", ADSM_ONLY_ARGUMENTS))
        fail("no device");
    memset(shared, 1, bytes);
    call();
}

static double ms_since(uint64_t start)
{
    return (double)(bench_now() - start) / 1e6;
}

/* N stores and the call. */
static double called_ms(int stores)
{
    uint64_t start = bench_now();
    store(shared, stores);
    call();
    return ms_since(start);
}

/* N stores and the pages, which stay noted. */
static double found_ms(int stores, double *pages)
{
    enum { ROOM = 128 };
    static struct adsm_written_run runs[ROOM];
    uint64_t start = bench_now();
    store(shared, stores);
    uintptr_t at = (uintptr_t)shared, end = at + bytes, found = 0;
    while (at < end) {
        int n = adsm_written_find(&at, end, false, runs, ROOM);
        if (n < 0)
            return -1; /* blocks that are not watched lie between */
        for (int k = 0; k < n; k++)
            found += (uintptr_t)(runs[k].end - runs[k].begin);
    }
    *pages = (double)found / (1 << 20);
    return ms_since(start);
}

static double written_ms(int value)
{
    uint64_t start = bench_now();
    memset(shared, value, bytes);
    call();
    return ms_since(start);
}

/* ---- the floor ------------------------------------------------------------ */

static void open_block(int signal, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(BLOCK - 1);
    (void)signal, (void)context;
    if (mprotect((void *)at, BLOCK, PROT_READ | PROT_WRITE) != 0)
        _exit(1);
}

/* The engine's handler is set aside meanwhile: nothing shared is touched. */
static double floor_ms(int stores)
{
    struct sigaction bare = {.sa_sigaction = open_block,
                             .sa_flags = SA_SIGINFO},
                     engine;
    if (sigaction(SIGSEGV, &bare, &engine) != 0)
        exit(1);
    uint64_t start = bench_now();
    store(plain, stores);
    if (mprotect(plain, bytes, PROT_READ) != 0)
        exit(1);
    double ms = ms_since(start);
    sigaction(SIGSEGV, &engine, NULL);
    return ms;
}

static void make_plain(void)
{
    int fd = memfd_create("peer", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        exit(1);
    plain = mmap(NULL, bytes + BLOCK, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t at = ((uintptr_t)plain + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1);
    plain = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, 0);
    close(fd);
    if (plain == MAP_FAILED)
        exit(1);
    memset(plain, 1, bytes);
    if (mprotect(plain, bytes, PROT_READ) != 0)
        exit(1);
}

/* Of both, all pages are mapped: those of a block that is watched are filled in
 * one by one, as they are touched. */
static void touch_all(void)
{
    for (size_t at = 0; at < bytes; at += PAGE) {
        (void)*(volatile uint8_t *)&shared[at];
        (void)*(volatile uint8_t *)&plain[at];
    }
}

/* ---- cases ---------------------------------------------------------------- */

/* Under both engines, each in a process of its own, in turn. */
static void ask_both(const char *words, struct bench_samples *ours,
                     struct bench_samples *other)
{
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(other, bench_ask("ADSM_FAULT_ENGINE=sigsegv", words));
        bench_add(ours, bench_ask("ADSM_FAULT_ENGINE=async", words));
    }
}

static void measure_stores(int stores)
{
    struct bench_samples found = {0}, called = {0}, floor = {0}, sent = {0},
                         pages = {0}, fresh = {0}, other = {0};
    char name[64], words[64];
    for (int i = -WARM_UP; i < bench_reps(); i++) {
        if (i == 0)
            touch_all();
        double mib = 0, ms = found_ms(stores, &mib);
        call();
        uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
        double both = called_ms(stores);
        double up = (double)(adsm_stats_get(ADSM_STAT_bytes_up) - before);
        double bare = floor_ms(stores);
        if (i < 0)
            continue;
        if (ms >= 0) {
            bench_add(&found, ms);
            bench_add(&pages, mib);
        }
        bench_add(&called, both);
        bench_add(&sent, up / (1 << 20));
        bench_add(&floor, bare);
    }
    snprintf(words, sizeof words, "--called=%d%s", stores,
             bench_quick() ? " --quick" : "");
    ask_both(words, &fresh, &other);
    if (found.count > 0) {
        snprintf(name, sizeof name, "found/%d", stores);
        bench_report(name, "ms", &found, "sigaction+mprotect", &floor);
        snprintf(name, sizeof name, "sent/%d", stores);
        bench_report(name, "MiB", &sent, "pages written", &pages);
    }
    snprintf(name, sizeof name, "called/%d", stores);
    bench_report(name, "ms", &called, "sigaction+mprotect", &floor);
    bench_report(name, "ms", &fresh, "the engine sigsegv", &other);
}

static void measure_in_order(void)
{
    struct bench_samples ours = {0}, other = {0};
    ask_both(bench_quick() ? "--in-order --quick" : "--in-order", &ours,
             &other);
    bench_report("in-order", "ms", &ours, "the engine sigsegv", &other);
}

/* One number, for bench_ask. */
static double answer(const char *word)
{
    struct bench_samples samples = {0};
    int stores = 0;
    if (sscanf(word, "--called=%d", &stores) == 1)
        for (int i = -WARM_UP; i < 5; i++) {
            double ms = called_ms(stores);
            if (i >= 0)
                bench_add(&samples, ms);
        }
    else
        for (int i = 0; i < 5; i++)
            bench_add(&samples, written_ms(i));
    return bench_median(&samples);
}

int main(int argc, char **argv)
{
    bool asked = argc > 1 && (strncmp(argv[1], "--called=", 9) == 0 ||
                              strcmp(argv[1], "--in-order") == 0);
    if (!asked)
        bench_start(argc, argv, "sparse");
    bool quick = asked ? argc > 2 : bench_quick();
    bytes = quick ? 32 << 20 : 256 << 20;
    setenv("SOFTCUDA_MEMORY", "1G", 0);
    setenv("ADSM_PROTOCOL", "rolling", 1);
    setenv("ADSM_FAULT_ENGINE", "async", 0);
    bring_up();
    if (asked) {
        printf("%.6f\n", answer(argv[1]));
        return 0;
    }
    make_plain();
    bench_settle();
    for (int n = 64; n <= (quick ? 1024 : 65536); n *= n == 64 ? 16 : 4)
        measure_stores(n);
    measure_in_order();
    return 0;
}

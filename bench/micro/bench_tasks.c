/*
 * Policies beside each other (docs/tasks.md): milliseconds of a call in tiles, once
 * the devices' speeds are known, and of the first.
 *
 *   unequal  64 tiles on four devices of which the first computes four times as
 *            fast as the last ones; against what all of them together could do
 *   sweeps   two arrays that take turns, 8 tiles on two devices alike with slow
 *            links: tiles that change devices have to be sent; against `static`
 *
 * Devices are paced (SOFTCUDA_PACE), so they compute beside each other on any
 * machine. `parts` is a static call of a part for each device, as large as that is
 * fast. A child is this program again, as `bench_tasks --child <case> <policy>
 * <tiles> <calls>`.
 */
#include "adsm.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 20, CALLS = 24, KNOWN = 12 };

static const char code[] =
#include "stages_ptx.inc"
    ;

static const char *const unequal =
    "SOFTCUDA_DEVICES=4 SOFTCUDA_PACE=80M/s,40M/s,20M/s,20M/s";
static const char *const sweeps =
    "SOFTCUDA_DEVICES=2 SOFTCUDA_PACE=40M/s SOFTCUDA_LINK=100MB/s";
static const double ideal_ms = N / 160e6 * 1e3;

static void check(int status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_tasks: %s\n", adsmErrorDetail());
    exit(1);
}

/* ---- the child ----------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static unsigned *array(void)
{
    unsigned *p = adsmAllocArray(sizeof *p, adsmR1(N), ADSM_NO_HOME);
    if (!p)
        check(adsmLastStatus());
    memset(p, 0, N * sizeof *p);
    return p;
}

/* The first call's milliseconds, and the median of those behind the KNOWN-th. */
static int child(char **argv)
{
    static double ms[CALLS];
    int tiles = atoi(argv[4]), calls = atoi(argv[5]);
    unsigned *x = array(), *y = array();
    adsmModule *module;
    adsmKernel *map;
    adsmOpts o = *adsmWith(.devices = ADSM_ALL_DEVICES, .policy = argv[3]);
    if (tiles > 0)
        o.tile[0] = N / tiles;
    check(adsmModuleLoad(&module, code, sizeof code - 1));
    check(adsmKernelGet(&map, module, "map", ADSM_ONLY_ARGUMENTS));
    for (int i = 0; i < calls; i++) {
        uint64_t begin = bench_now();
        check(adsmCallWith(&o, map, adsmR1(N), adsmIn(i & 1 ? y : x),
                           adsmOut(i & 1 ? x : y)));
        check(adsmSync());
        ms[i] = (double)(bench_now() - begin) / 1e6;
    }
    int known = calls > KNOWN ? KNOWN : 1;
    printf("%f", ms[0]);
    qsort(ms + known, (size_t)(calls - known), sizeof *ms, by_value);
    printf(" %f\n", ms[known + (calls - known) / 2]);
    return 0;
}

/* ---- the parent ---------------------------------------------------------- */

struct row {
    const char *name, *policy;
    int tiles; /* 0: a part for each device */
    struct bench_samples first, later;
};

static void measure(struct row *row, const char *settings)
{
    char all[256], words[128];
    double ms[2];
    snprintf(all, sizeof all, "ADSM_MODELS=off %s", settings);
    snprintf(words, sizeof words, "--child - %s %d %d", row->policy, row->tiles,
             bench_quick() ? 4 : CALLS);
    if (!bench_ask_more(all, words, ms, 2))
        exit(1);
    bench_add(&row->first, ms[0]);
    bench_add(&row->later, ms[1]);
}

static void report(const char *name, const struct row *row, const char *against,
                   const struct bench_samples *peer)
{
    char what[64], also[64], more[64];
    snprintf(what, sizeof what, "%s-%s", name, row->name);
    snprintf(also, sizeof also, ", \"first_ms\": %.3f",
             bench_median(&row->first));
    snprintf(more, sizeof more, "first %.1f ms", bench_median(&row->first));
    bench_also(also, more);
    bench_report(what, "ms", &row->later, against, peer);
}

static void run(const char *name, const char *settings, int tiles, double ideal)
{
    static const char *const policies[] = {"static", "eager", "random", "ws",
                                           "dm",     "dmda",  "dmdar"};
    enum { ROWS = 1 + sizeof policies / sizeof policies[0] };
    static struct row rows[ROWS];
    memset(rows, 0, sizeof rows);
    rows[0].name = "parts";
    rows[0].policy = "static";
    for (int k = 1; k < ROWS; k++) {
        rows[k].name = rows[k].policy = policies[k - 1];
        rows[k].tiles = tiles;
    }
    struct bench_samples best = {0};
    bench_add(&best, ideal);
    for (int i = 0; i < bench_reps(); i++)
        for (int k = 0; k < ROWS; k++)
            measure(&rows[k], settings);
    for (int k = 0; k < ROWS; k++)
        report(name, &rows[k], ideal > 0 ? "together" : "static",
               ideal > 0 ? &best : &rows[1].later);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "tasks");
    bench_settle();
    run("unequal", unequal, 64, ideal_ms);
    run("sweeps", sweeps, 8, 0);
    return 0;
}

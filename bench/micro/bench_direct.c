/*
 * Memory that the device shares with the host, against the copies of rolling:
 * the programs of programs.h, on a software device that says it is integrated.
 * Each run is a process of its own. Before the allocations the kernels have been
 * translated.
 */
#include "bench.h"
#include "programs.h"

#include <stdio.h>

static int measured(const char *name)
{
    program_run(name, true); /* runtime, module and native code are there */
    uint64_t begin = bench_now();
    program_run(name, false);
    printf("%.3f\n", (double)(bench_now() - begin) / 1e6);
    return 0;
}

static double ask(const char *name, const char *strategy)
{
    char settings[160], words[40];
    snprintf(settings, sizeof settings,
             "SOFTCUDA_INTEGRATED=1 SOFTCUDA_NATIVE=wait ADSM_ADDRESS=%s "
             "ADSM_PROTOCOL=rolling",
             strategy);
    snprintf(words, sizeof words, "%s %s", name,
             bench_quick() ? "--quick" : "--reps=1");
    return bench_ask(settings, words);
}

static int compare(const char *name)
{
    struct bench_samples direct = {0}, rolling = {0};
    (void)ask(name, "direct"); /* native code is kept in files */
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&rolling, ask(name, "window"));
        bench_add(&direct, ask(name, "direct"));
    }
    bench_report(name, "ms", &direct, "rolling", &rolling);
    return bench_median(&direct) > 0 && bench_median(&rolling) > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && argv[1][0] != '-') {
        bench_start(argc - 1, argv + 1, "direct");
        return measured(argv[1]);
    }
    bench_start(argc, argv, "direct");
    bench_settle();
    return compare("vecsum") | compare("stencil");
}

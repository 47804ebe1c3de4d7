/*
 * Figs. 6 and 7 of Dastgeer and Kessler (containers.h) on links that are slow,
 * so that what is copied decides: SOFTCUDA_LINK, 20MB/s where it is not set.
 *
 *   fig6/PROGRAM/DEVICES/apart   calls that stand alone, against the new rules
 *   fig7/PROGRAM/RULES           on two devices, page-locked; against the new
 *                                rules with copies from device to device
 *
 * Each case is followed by the bytes on links of the same runs, whose ratio is
 * what that of the times should be: the containers' copies follow each other.
 * Those of libadsm do not, and are faster than that.
 */
#include "engine.h"
#include "run.h"

#include "../../micro/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct workload {
    const char *name;
    long n, quick_n;
    int calls;
};

static const struct workload workloads[] = {
    {"nbody", 65536, 32768, 5}, {"lu", 768, 512, 8},
    {"sph", 65536, 32768, 6},   {"mandel", 131072, 65536, 8},
    {"ppmcc", 2048, 1024, 2},   {"mse", 2048, 1024, 1},
};

struct config {
    const char *name;
    bool engine;
    enum container_rules rules;
    bool peer;
};

struct result {
    struct bench_samples ms, mib;
};

static long size_of(const struct workload *w)
{
    return bench_quick() ? w->quick_n : w->n;
}

static void run_once(const struct workload *w, int devices, bool pinned,
                     const struct config *config, struct result *result)
{
    uint64_t bytes;
    if (config->engine) {
        struct engine_moved m = engine_run(w->name, size_of(w), w->calls,
                                           devices, config->peer, false);
        bench_add(&result->ms, m.ms);
        bytes = m.up + m.peer + m.down;
    } else {
        struct program program;
        program_by_name(&program, w->name, size_of(w), w->calls);
        containers_set(config->rules, config->peer);
        run_program(&program, devices, pinned, false);
        program_free(&program);
        bench_add(&result->ms, (double)run_ns() / 1e6);
        const struct container_moved *m = containers_moved();
        bytes = m->up + m->peer + m->down;
    }
    bench_add(&result->mib, (double)bytes / (1 << 20));
}

static void report(const char *figure, const struct workload *w,
                   const char *name, const struct result *result,
                   const char *against, const struct result *peer)
{
    char line[96];
    snprintf(line, sizeof line, "%s/%s/%s", figure, w->name, name);
    bench_report(line, "ms", &result->ms, against, peer ? &peer->ms : NULL);
    snprintf(line, sizeof line, "%s/%s/%s/moved", figure, w->name, name);
    bench_report(line, "MiB", &result->mib, against, peer ? &peer->mib : NULL);
}

static void fig6(const struct workload *w, int devices)
{
    static const struct config apart = {"apart", false, RULES_APART, false};
    static const struct config kept = {"new", false, RULES_NEW, true};
    struct result ours = {0}, peer = {0};
    char name[32];
    for (int i = 0; i < bench_reps(); i++) {
        run_once(w, devices, false, &kept, &peer);
        run_once(w, devices, false, &apart, &ours);
    }
    snprintf(name, sizeof name, "%d/new", devices);
    report("fig6", w, name, &peer, NULL, NULL);
    snprintf(name, sizeof name, "%d/apart", devices);
    report("fig6", w, name, &ours, "new", &peer);
}

static void fig7(const struct workload *w)
{
    enum { CONFIGS = 5, BASE = 2 };
    static const struct config config[CONFIGS] = {
        {"initial", false, RULES_INITIAL, false},
        {"new", false, RULES_NEW, false},
        {"new+peer", false, RULES_NEW, true},
        {"adsm", true, RULES_NEW, false},
        {"adsm+peer", true, RULES_NEW, true},
    };
    struct result result[CONFIGS] = {0};
    for (int i = 0; i < bench_reps(); i++)
        for (int k = 0; k < CONFIGS; k++)
            run_once(w, 2, true, &config[k], &result[k]);
    for (int k = 0; k < CONFIGS; k++)
        report("fig7", w, config[k].name, &result[k],
               k == BASE ? NULL : config[BASE].name,
               k == BASE ? NULL : &result[BASE]);
}

/* Kernels are loaded and compiled before anything is measured. */
static void warm_up(void)
{
    struct program program = program_mandel(64, 1);
    containers_set(RULES_NEW, true);
    run_program(&program, 2, false, true);
    program_free(&program);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "containers");
    setenv("SOFTCUDA_DEVICES", "2", 0);
    setenv("SOFTCUDA_LINK", "20MB/s", 0);
    setenv("SOFTCUDA_NATIVE", "wait", 0);
    containers_start(2);
    warm_up();
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        for (int devices = 1; devices <= 2; devices++)
            fig6(&workloads[i], devices);
    for (int i = 0; i < 3; i++)
        fig7(&workloads[i]);
    return 0;
}

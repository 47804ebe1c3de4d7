/*
 * adsm-bench: the benchmarks in all their forms under every protocol, and on
 * several numbers of devices.
 *
 * Owns the cases of a benchmark and their runs: each is a process of its own,
 * and repetitions go round all cases of a benchmark, in changing order
 * (rounds.h), so that a slow minute of the machine falls on every case. One
 * thread, no locks.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/child.h"
#include "runner/inputs.h"
#include "runner/places.h"
#include "runner/plan.h"
#include "runner/rounds.h"
#include "runner/show.h"

static struct plan plan;

static struct show_case *cases;
static int case_count, runs_done, runs_all;

static _Noreturn void die(const char *what, const char *value)
{
    fprintf(stderr, "adsm-bench: %s '%s'\n", what, value);
    exit(2);
}

static void case_add(const struct show_case *which)
{
    struct show_case *grown =
        realloc(cases, (size_t)(case_count + 1) * sizeof *cases);
    if (!grown)
        die("out of memory for the cases of", which->bench->name);
    cases = grown;
    cases[case_count++] = *which;
}

/* An empty list stands for the default: one case without the option. */
static int times(const struct plan_list *list)
{
    return list->count ? list->count : 1;
}

/* `which` under every size of blocks and of rolling. */
static void cases_add_sizes(struct show_case *which)
{
    /* batch and lazy move whole objects. */
    bool rolling = strcmp(which->protocol, "rolling") == 0 ||
                   strcmp(which->protocol, PLAN_ASYNC) == 0;
    for (int b = 0; b < (rolling ? times(&plan.block_sizes) : 1); b++)
        for (int r = 0; r < (rolling ? times(&plan.rolling_sizes) : 1); r++) {
            which->block_size = rolling ? plan.block_sizes.words[b] : NULL;
            which->rolling_size = rolling ? plan.rolling_sizes.words[r] : NULL;
            case_add(which);
        }
}

static void cases_add_preloaded(struct show_case *which)
{
    const struct plan_list *protocols = plan_protocols(&plan, which->bench);
    bool split = which->bench->room == PLAN_RANGES;
    for (int p = 0; p < protocols->count; p++)
        for (int d = 0; d < (split ? plan.devices.count : 1); d++) {
            which->protocol = protocols->words[p];
            which->devices = split ? plan.devices.words[d] : NULL;
            cases_add_sizes(which);
        }
}

static void cases_make(const struct plan_bench *bench)
{
    static struct show_case which;
    case_count = 0;
    for (int i = 0; i < plan_form_count; i++) {
        const struct plan_form *form = &plan_forms[i];
        if (!plan_has(&plan.forms, form->name) || !plan_exists(bench, form))
            continue;
        which = (struct show_case){.bench = bench, .form = form};
        if (form->preloaded)
            cases_add_preloaded(&which);
        else
            case_add(&which);
    }
}

static void pair_add(struct child *child, const char *option, const char *value)
{
    if (!value || !*value)
        return;
    child_word(child, option);
    child_word(child, value);
}

/* What the program itself is told. */
static void program_words(struct child *child, const struct show_case *which,
                          const char *input)
{
    static char snapshots[PATH_MAX];
    if (which->bench->room == PLAN_WAVE) {
        places_join(snapshots, places.scratch, "snapshots.vol");
        pair_add(child, "--volume", input);
        pair_add(child, "--steps", "40");
        pair_add(child, "--every", "10");
        pair_add(child, "--out", snapshots);
    } else {
        pair_add(child, "--input", input);
        if (plan.verify)
            child_word(child, "--verify");
    }
    child_word(child, "--json");
}

/* A run has as many devices as its case says: the first ones of the machine, or
 * so many software devices. */
static void devices_set(struct child *child, const char *devices)
{
    static char list[3 * 16];
    int count = devices ? (int)strtol(devices, NULL, 10) : 0;
    *list = 0;
    for (int i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d",
                 i ? "," : "", i);
    if (devices && plan.real_device)
        child_variable(child, "ADSM_DEVICES", list);
    else if (devices)
        child_variable(child, "SOFTCUDA_DEVICES", devices);
}

static void program_find(const struct show_case *which, char *program)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", which->bench->program,
             which->form->program ? which->form->program : which->form->name);
    places_join(program, places.programs[which->bench->room], name);
}

static void command_make(struct child *child, const struct show_case *which,
                         char *program, const char *input, const char *counters)
{
    program_find(which, program);
    if (which->protocol) {
        bool async = strcmp(which->protocol, PLAN_ASYNC) == 0;
        child_word(child, places.adsm_run);
        pair_add(child, "--protocol", async ? "rolling" : which->protocol);
        if (async)
            child_variable(child, "ADSM_FAULT_ENGINE", "async");
        pair_add(child, "--block-size", which->block_size);
        pair_add(child, "--rolling-size", which->rolling_size);
        if (!plan.real_device)
            child_word(child, "--soft");
        pair_add(child, "--stats-file", counters);
        child_word(child, "--");
    } else {
        /* A program that starts another takes 0.7 ms, as adsm-run does. */
        child_word(child, "/usr/bin/env");
        if (!plan.real_device)
            child_variable(child, "LD_LIBRARY_PATH", places.softcuda);
    }
    devices_set(child, which->devices);
    if (!plan.real_device)
        child_variable(child, "SOFTCUDA_STATS", "1");
    if (plan.link)
        child_variable(child, "SOFTCUDA_LINK", plan.link);
    child_word(child, program);
    program_words(child, which, input);
}

static void case_run(const struct show_case *which, struct result *result,
                     const char *input)
{
    static struct child child;
    char program[PATH_MAX], counters[PATH_MAX];
    memset(&child, 0, sizeof child);
    memset(result, 0, sizeof *result);
    child.limit_s = plan.limit_s;
    places_join(counters, places.scratch, "counters.json");
    unlink(counters);
    command_make(&child, which, program, input, counters);
    if (!child_run(&child, result->message, sizeof result->message))
        return;
    result->used_s = child.used_s;
    result_read_marks(result, child.out, child.started_s, child.ended_s);
    const char *missing =
        !result_read_report(result, child.out) ? "printed no report"
        : which->protocol && !result_read_counters(result, counters)
            ? "left no counters"
        : !plan.real_device && !result_read_device(result, child.err)
            ? "the software device did not count its bytes"
            : NULL;
    if (missing)
        snprintf(result->message, sizeof result->message, "%s", missing);
    else
        result->good = true;
}

static void progress(const struct show_case *which, int rep)
{
    char name[160];
    if (plan.quiet)
        return;
    show_name(which, name, sizeof name);
    bool tty = isatty(STDERR_FILENO);
    fprintf(stderr, "%s%d/%d %s%s%s", tty ? "\r\033[K" : "", ++runs_done,
            runs_all, name, rep ? " again" : "", tty ? "" : "\n");
}

static void progress_end(void)
{
    if (!plan.quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* Nobody is the first to read a file or a program, or to have kernels compiled:
 * a device, the software device too, compiles one when it first meets it. */
static void all_warm(const char *input)
{
    char program[PATH_MAX];
    struct result first;
    inputs_warm(input);
    inputs_warm(places.adsm_run);
    inputs_warm(places.preload);
    for (int i = 0; i < case_count; i++) {
        program_find(&cases[i], program);
        inputs_warm(program);
    }
    if ((plan.reps > 1 || plan.real_device) && case_count > 0)
        case_run(&cases[0], &first, input);
}

/* All runs of one benchmark; whether every case came out right. */
static bool bench_run(const struct plan_bench *bench)
{
    char input[PATH_MAX];
    cases_make(bench);
    bool good = inputs_find(&plan, bench, input);
    if (good)
        all_warm(input);
    for (int rep = 0; good && rep < plan.reps; rep++)
        for (int place = 0; place < case_count; place++) {
            struct show_case *next =
                &cases[rounds_case(rep, place, case_count)];
            progress(next, rep);
            case_run(next, &next->results[rep], input);
            next->results[rep].place = place;
            if (child_interrupted)
                return false;
        }
    inputs_remove(&plan, input);
    progress_end();
    return good && show_cases(&plan, cases, case_count);
}

static bool all_run(void)
{
    bool good = true;
    for (int i = 0; i < plan_bench_count; i++)
        if (plan_runs(&plan, &plan_benches[i])) {
            cases_make(&plan_benches[i]);
            runs_all += case_count * plan.reps;
        }
    for (int i = 0; i < plan_bench_count && !child_interrupted; i++)
        if (plan_runs(&plan, &plan_benches[i]))
            good = bench_run(&plan_benches[i]) && good;
    return good;
}

static void interrupt(int signal)
{
    child_interrupted = signal;
}

int main(int argc, char **argv)
{
    plan_read(&plan, argc, argv);
    if (plan.list) {
        for (int i = 0; i < plan_bench_count; i++)
            printf("%-12s %s\n", plan_benches[i].name, plan_benches[i].about);
        return 0;
    }
    /* So that an interrupted run leaves no files behind. */
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    places_find();
    bool good = all_run();
    show_notes(&plan);
    int interrupted = child_interrupted;
    places_remove();
    free(cases);
    if (interrupted)
        return 128 + interrupted;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "adsm-bench: cannot write the table: %s\n",
                strerror(errno));
        return 2;
    }
    return good ? 0 : 1;
}

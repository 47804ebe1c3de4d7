/*
 * Eight ways in which programs use arrays from both sides (pattern.h), each with
 * copies by hand, with managed memory, and by the device's own pointers under
 * libadsm: milliseconds of a repetition, against the better of both ways by hand
 * in the same run.
 *
 *   <pattern>/pageable, pinned   copies by hand
 *   <pattern>/managed, hints     managed memory without and with hints
 *   <pattern>/rolling, lazy, batch, async
 *                                preloaded, under these protocols, and under
 *                                rolling with ADSM_FAULT_ENGINE=async
 *
 * A line has besides what a step costs in faults, copies, bytes and calls of the
 * driver: of copies by hand what the program does; under libadsm what that has
 * counted beyond a process that repeats once, with the program's calls and its
 * copies as calls. Of managed memory nobody tells but
 * the calls. All forms of a pattern must read the same.
 *
 * PRELOAD names libadsm-preload.so; without it there are no rows of libadsm.
 * --large takes the sizes measured on an H200, --pattern=NAME one pattern alone.
 * A child is this program again, as
 * `bench_access --child <pattern> <form> <size> <repetitions>`.
 */
#include "../micro/bench.h"
#include "pattern.h"
#include "form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct way {
    const char *name;
    enum form form;
    const char *settings; /* of libadsm; NULL without it */
} ways[] = {
    {"pageable", FORM_PAGEABLE, NULL},
    {"pinned", FORM_PINNED, NULL},
    {"managed", FORM_MANAGED, NULL},
    {"hints", FORM_HINTS, NULL},
    {"rolling", FORM_OWN, "ADSM_PROTOCOL=rolling"},
    {"lazy", FORM_OWN, "ADSM_PROTOCOL=lazy"},
    {"batch", FORM_OWN, "ADSM_PROTOCOL=batch"},
    {"async", FORM_OWN, "ADSM_PROTOCOL=rolling ADSM_FAULT_ENGINE=async"},
};

enum { WAYS = sizeof ways / sizeof *ways };

/* ---- the child ----------------------------------------------------------- */

/* What one prints behind its times. */
enum { SUM, UP, DOWN, BYTES_UP, BYTES_DOWN, CALLS, FIGURES };

static int child(char **argv)
{
    const struct pattern *pattern = pattern_find(argv[2]);
    int size = atoi(argv[4]), reps = atoi(argv[5]);
    int steps = pattern->steps[size];
    form_start((enum form)atoi(argv[3]));
    pattern->setup(pattern->extent[size]);
    pattern->repeat(steps); /* what is done once: pages, code */
    form_count_from_here();
    for (int i = 0; i < reps; i++) {
        uint64_t begin = bench_now();
        pattern->repeat(steps);
        printf("%f\n", (double)(bench_now() - begin) / 1e6);
    }
    struct form_counts c = form_counts();
    pattern->end();
    /* A double has all of these bits. */
    printf("%.0f %.0f %.0f %.0f %.0f %.0f\n",
           (double)(pattern_sum() & ((1ull << 52) - 1)), (double)c.up,
           (double)c.down, (double)c.bytes_up, (double)c.bytes_down,
           (double)c.calls);
    return 0;
}

/* ---- what libadsm counts --------------------------------------------------- */

struct counted {
    double faults, up, down, bytes_up, bytes_down;
};

static double number_of(const char *line, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static bool read_counted(FILE *file, struct counted *c)
{
    char line[8192];
    if (!fgets(line, sizeof line, file))
        return false;
    *c = (struct counted){
        number_of(line, "faults_read") + number_of(line, "faults_write"),
        number_of(line, "flushes"), number_of(line, "fetches"),
        number_of(line, "bytes_up"), number_of(line, "bytes_down")};
    return true;
}

/* ---- the parent ---------------------------------------------------------- */

/** What a step costs; NAN: nobody knows. */
struct step {
    double faults, up, down, bytes_up, bytes_down, calls;
};

static struct {
    const struct pattern *pattern;
    enum size size;
    char counters[64]; /* the file of libadsm's */
    struct bench_samples ms[WAYS];
    struct step step[WAYS];
    double sum[WAYS];
    bool there[WAYS];
} run;

/* Run the child; what it has counted is added to the file. Return: whether it
 * printed all. */
static bool ask(const struct way *way, int reps, double *values)
{
    char settings[8192] = "LD_PRELOAD=", words[128];
    if (way->settings)
        snprintf(settings, sizeof settings,
                 "LD_PRELOAD='%s' %s ADSM_STATS_FILE='%s'", getenv("PRELOAD"),
                 way->settings, run.counters);
    snprintf(words, sizeof words, "--child %s %d %d %d", run.pattern->name,
             (int)way->form, (int)run.size, reps);
    if (bench_ask_more(settings, words, values, reps + FIGURES))
        return true;
    fprintf(stderr, "bench_access: %s/%s: the child failed\n",
            run.pattern->name, way->name);
    return false;
}

/* So many repetitions are counted at least: how often a process sends and
 * fetches in all differs by a few. */
static int reps_counted(void)
{
    return run.pattern->steps[run.size] > 1 ? 2 : 5;
}

static double more_of(double all, double before, double steps)
{
    return all > before ? (all - before) / steps : 0;
}

/* What repetitions behind the first add to all that a process does: of the one
 * that was timed, which has written the first line, where it has enough. */
static bool libadsm_step(const struct way *way, int reps, struct step *step)
{
    double values[BENCH_REPS_MAX + FIGURES];
    struct counted all, before;
    int counted = reps < reps_counted() ? reps_counted() : reps;
    if (counted > reps &&
        (truncate(run.counters, 0) != 0 || !ask(way, counted, values)))
        return false;
    if (!ask(way, 1, values))
        return false;
    FILE *file = fopen(run.counters, "r");
    bool there =
        file && read_counted(file, &all) && read_counted(file, &before);
    if (file)
        fclose(file);
    double n = (double)(counted - 1) * run.pattern->steps[run.size];
    if (!there)
        return false;
    step->faults = more_of(all.faults, before.faults, n);
    step->up = more_of(all.up, before.up, n);
    step->down = more_of(all.down, before.down, n);
    step->bytes_up = more_of(all.bytes_up, before.bytes_up, n);
    step->bytes_down = more_of(all.bytes_down, before.bytes_down, n);
    step->calls += step->up + step->down;
    return true;
}

static struct step program_step(enum form form, const double *figures, int reps)
{
    double n = (double)reps * run.pattern->steps[run.size];
    struct step step = {NAN, NAN, NAN, NAN, NAN, figures[CALLS] / n};
    if (form == FORM_PAGEABLE || form == FORM_PINNED)
        step = (struct step){0,
                             figures[UP] / n,
                             figures[DOWN] / n,
                             figures[BYTES_UP] / n,
                             figures[BYTES_DOWN] / n,
                             figures[CALLS] / n};
    return step;
}

static bool measure(int w)
{
    const struct way *way = &ways[w];
    double values[BENCH_REPS_MAX + FIGURES];
    int reps = bench_reps();
    if (truncate(run.counters, 0) != 0 || !ask(way, reps, values))
        return false;
    run.ms[w] = (struct bench_samples){0};
    for (int i = 0; i < reps; i++)
        bench_add(&run.ms[w], values[i]);
    run.sum[w] = values[reps + SUM];
    run.step[w] = program_step(way->form, values + reps, reps);
    if (!way->settings || libadsm_step(way, reps, &run.step[w]))
        return true;
    fprintf(stderr, "bench_access: %s/%s: no counters\n", run.pattern->name,
            way->name);
    return false;
}

static const struct count {
    const char *name; /* of the member, and behind the number in the table */
    const char *format, *unknown;
} count_list[] = {
    {"faults", " %7.4g %s", " %7s %s"},
    {"up", " %7.4g %s", " %7s %s"},
    {"down", " %7.4g %s", " %7s %s"},
    {"bytes_up", " %10.0f %s", " %10s %s"},
    {"bytes_down", " %10.0f %s", " %10s %s"},
    {"calls", " %7.4g %s", " %7s %s"},
};

static void print_counts(FILE *json, FILE *table, const struct step *s)
{
    const double values[] = {s->faults,   s->up,         s->down,
                             s->bytes_up, s->bytes_down, s->calls};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const struct count *c = &count_list[i];
        if (isnan(values[i])) {
            fprintf(json, ",\"%s\":null", c->name);
            fprintf(table, c->unknown, "-", c->name);
        } else {
            fprintf(json, ",\"%s\":%.12g", c->name, values[i]);
            fprintf(table, c->format, values[i], c->name);
        }
    }
}

static void report(int w, int hand)
{
    char name[64], members[512] = "", words[512] = "";
    FILE *json = fmemopen(members, sizeof members, "w");
    FILE *table = fmemopen(words, sizeof words, "w");
    if (!json || !table)
        exit(1);
    fprintf(json, ",\"steps\":%d", run.pattern->steps[run.size]);
    print_counts(json, table, &run.step[w]);
    fclose(json);
    fclose(table);
    snprintf(name, sizeof name, "%s/%s", run.pattern->name, ways[w].name);
    bench_also(members, words);
    bench_report(name, "ms", &run.ms[w], "by-hand",
                 hand < 0 ? NULL : &run.ms[hand]);
}

/* Whether all forms that ran have read the same. */
static bool same_sums(int count)
{
    int first = 0;
    bool same = true;
    while (first < count && !run.there[first])
        first++;
    for (int w = first + 1; w < count; w++) {
        if (!run.there[w] || run.sum[w] == run.sum[first])
            continue;
        same = false;
        fprintf(stderr, "bench_access: %s/%s has read %.0f, and %s %.0f\n",
                run.pattern->name, ways[w].name, run.sum[w], ways[first].name,
                run.sum[first]);
    }
    return same;
}

/* The better way by hand; negative: there is none. */
static int by_hand(void)
{
    if (!run.there[0] || !run.there[1])
        return run.there[0] ? 0 : run.there[1] ? 1 : -1;
    return bench_median(&run.ms[0]) <= bench_median(&run.ms[1]) ? 0 : 1;
}

/* Return: whether all forms ran and read the same. */
static bool measure_pattern(int count)
{
    bool good = true;
    for (int w = 0; w < count; w++) {
        run.there[w] = measure(w);
        good = good && run.there[w];
    }
    good = same_sums(count) && good;
    int hand = by_hand();
    for (int w = 0; w < count; w++)
        if (run.there[w])
            report(w, hand);
    return good;
}

/* Take out the words that are ours. Return: the pattern asked for, or NULL. */
static const char *own_words(int *argc, char **argv)
{
    static const char only[] = "--pattern=";
    const char *wanted = NULL;
    int kept = 1;
    run.size = SIZE_USUAL;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--large") == 0)
            run.size = SIZE_LARGE;
        else if (strncmp(argv[i], only, strlen(only)) == 0)
            wanted = argv[i] + strlen(only);
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    return wanted;
}

static int count_ways(void)
{
    if (getenv("PRELOAD"))
        return WAYS;
    fprintf(stderr, "bench_access: without PRELOAD, libadsm-preload.so, there "
                    "are no rows of libadsm\n");
    int bare = 0;
    while (bare < WAYS && !ways[bare].settings)
        bare++;
    return bare;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    const char *wanted = own_words(&argc, argv);
    if (wanted && !pattern_find(wanted)) {
        fprintf(stderr, "bench_access: there is no pattern %s\n", wanted);
        return 2;
    }
    bench_start(argc, argv, "access");
    if (bench_quick())
        run.size = SIZE_QUICK;
    strcpy(run.counters, "/tmp/bench_access-XXXXXX");
    int file = mkstemp(run.counters);
    if (file < 0)
        return 1;
    close(file);
    bench_settle();
    bool good = true;
    int count = count_ways();
    for (run.pattern = patterns; run.pattern->name; run.pattern++)
        if (!wanted || strcmp(wanted, run.pattern->name) == 0)
            good = measure_pattern(count) && good;
    unlink(run.counters);
    return good ? 0 : 1;
}

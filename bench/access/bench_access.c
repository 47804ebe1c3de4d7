/*
 * Eight ways in which programs use arrays from both sides (pattern.h), each with
 * copies by hand, with managed memory, and by the device's own pointers under
 * libadsm: milliseconds of a repetition, against the better of both ways by hand
 * in the same run, in turns.
 *
 *   <pattern>/pageable, pinned   copies by hand
 *   <pattern>/managed, hints     managed memory without and with hints
 *   <pattern>/rolling, lazy, batch, async
 *                                preloaded, under these protocols, and under
 *                                rolling with ADSM_FAULT_ENGINE=async
 *
 * A line has besides what a step costs in faults, copies, bytes and calls of the
 * driver: of copies by hand what the program does; under libadsm what that has
 * counted beyond a process that repeats once, with the program's calls, its copies
 * and what it sends single stores by as calls. Of managed memory nobody tells but
 * the calls. All forms of a pattern must read the same.
 *
 * PRELOAD names libadsm-preload.so; without it there are no rows of libadsm.
 * --large takes the sizes measured on an H200, --pattern=NAME one pattern alone.
 * A child is this program again, as
 * `bench_access --child <pattern> <form> <size> <repetitions>`.
 */
#include "../micro/bench.h"
#include "form.h"
#include "pattern.h"
#include "turns.h"

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
    turns_ready();
    for (int i = 0; i < reps; i++) {
        turns_await();
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
    double stores; /* calls that sent stores alone */
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
    *c = (struct counted){number_of(line, "faults_read") +
                              number_of(line, "faults_write"),
                          number_of(line, "flushes"),
                          number_of(line, "fetches"),
                          number_of(line, "bytes_up"),
                          number_of(line, "bytes_down"),
                          number_of(line, "store_sends")};
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
    char counters[WAYS][80]; /* files of libadsm's */
    struct bench_samples ms[WAYS];
    struct step step[WAYS];
    double sum[WAYS];
    bool there[WAYS];
} run;

struct command {
    char settings[8192], words[128];
};

/* What it has counted is added to the way's file. */
static struct command command_of(int w, int reps)
{
    const struct way *way = &ways[w];
    struct command c = {.settings = "LD_PRELOAD="};
    if (way->settings)
        snprintf(c.settings, sizeof c.settings,
                 "LD_PRELOAD='%s' %s ADSM_STATS_FILE='%s'", getenv("PRELOAD"),
                 way->settings, run.counters[w]);
    snprintf(c.words, sizeof c.words, "--child %s %d %d %d", run.pattern->name,
             (int)way->form, (int)run.size, reps);
    return c;
}

static bool failed(int w, const char *what)
{
    fprintf(stderr, "bench_access: %s/%s: %s\n", run.pattern->name,
            ways[w].name, what);
    return false;
}

/* Run the child alone, for what libadsm counts. */
static bool count_alone(int w, int reps)
{
    struct command c = command_of(w, reps);
    struct turns child;
    double values[BENCH_REPS_MAX + FIGURES];
    return turns_start(&child, c.settings, c.words) &&
           turns_end(&child, values, reps + FIGURES);
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
static bool libadsm_step(int w, int reps, struct step *step)
{
    struct counted all, before;
    int counted = reps < reps_counted() ? reps_counted() : reps;
    if (counted > reps &&
        (truncate(run.counters[w], 0) != 0 || !count_alone(w, counted)))
        return false;
    if (!count_alone(w, 1))
        return false;
    FILE *file = fopen(run.counters[w], "r");
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
    step->calls +=
        step->up + step->down + more_of(all.stores, before.stores, n);
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

/* The child has had all its turns: what else it tells. */
static bool finish(int w, struct turns *child)
{
    double figures[FIGURES];
    int reps = bench_reps();
    if (!turns_end(child, figures, FIGURES))
        return failed(w, "the child failed");
    run.sum[w] = figures[SUM];
    run.step[w] = program_step(ways[w].form, figures, reps);
    return !ways[w].settings || libadsm_step(w, reps, &run.step[w]) ||
           failed(w, "no counters");
}

static bool begin(int w, struct turns *child)
{
    struct command c = command_of(w, bench_reps());
    run.ms[w] = (struct bench_samples){0};
    return truncate(run.counters[w], 0) == 0 &&
           (turns_start(child, c.settings, c.words) ||
            failed(w, "the child failed"));
}

static void take_turn(int w, struct turns *child)
{
    double ms;
    if (turns_take(child, &ms))
        bench_add(&run.ms[w], ms);
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
    struct turns children[WAYS];
    bool good = true;
    for (int w = 0; w < count; w++)
        run.there[w] = begin(w, &children[w]);
    for (int i = 0; i < bench_reps(); i++)
        for (int w = 0; w < count; w++)
            if (run.there[w])
                take_turn(w, &children[w]);
    for (int w = 0; w < count; w++) {
        run.there[w] = run.there[w] && finish(w, &children[w]);
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

static void remove_counters(void)
{
    for (int w = 0; w < WAYS; w++)
        unlink(run.counters[w]);
}

/* A file for each way, in which the counters of its processes are lines. */
static bool make_counters(void)
{
    for (int w = 0; w < WAYS; w++) {
        strcpy(run.counters[w], "/tmp/bench_access-XXXXXX");
        int file = mkstemp(run.counters[w]);
        if (file < 0) {
            perror("bench_access: no file for what libadsm counts");
            remove_counters();
            return false;
        }
        close(file);
    }
    return true;
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
    if (!make_counters())
        return 1;
    bench_settle();
    bool good = true;
    int count = count_ways();
    for (run.pattern = patterns; run.pattern->name; run.pattern++)
        if (!wanted || strcmp(wanted, run.pattern->name) == 0)
            good = measure_pattern(count) && good;
    remove_counters();
    return good ? 0 : 1;
}

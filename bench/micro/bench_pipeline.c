/*
 * The benches of MultiStream: skeletons whose upload U, kernel K and download D
 * take as long as in the thesis, in n chunks, beside what the model of their
 * pipeline says. Links are throttled and kernels paced; all costs of the model
 * are measured by themselves in the same run.
 *
 *   even            19.1 ms each
 *   map, maparray   19.1, 17.2 and 19.1 ms; 19.1, 18.1 and 19.1 ms
 *   nevmap          two inputs: 38.2, 20.2 and 19.1 ms
 *   mapreduce       two inputs, one number comes back: 38.2, 17.4 and 0 ms
 *   accumulate      the output stays on the device: 19.1 and 17.2 ms
 *
 * With a = U/n + u, b = K/n + k, c = D/n + d:
 *
 *   X/n/fetch     the output comes as it is made: a + b + c + (n-1) max(a, b, c)
 *   X/n/after     it comes when all kernels have run, as in the thesis' library:
 *                 a + b + (n-1) max(a, b) + D
 *   X/n           none comes back: the same without D
 *   .../thesis    the same call beside the thesis' own formula, (1a) to (4c)
 *   .../gain      without chunks, over 16 of them
 *   .../chosen    chunks are the library's, beside the best n; `n` says which
 *   small/BYTES   a map without throttle or pace, beside the same in one piece
 *
 * Paper: Parisi, "Optimization of Parallel Computations on Heterogeneous
 *        GPU-Based Systems", 3.1, 3.4, 4.3 and 4.4, Figs. 7 and 8
 */
#include "bench.h"
#include "device_stats.h"
#include "pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1 << 10, MANY = 32, MOST_FORMS = 2 };

struct work {
    const char *name;
    enum pipeline_kind kind;
    int inputs;
    double k_ms; /* that the thesis measured of the kernel */
    long each;   /* elements for a thread                  */
    enum pipeline_form form[MOST_FORMS];
    const char *formula[MOST_FORMS];
    int forms;
};

static const struct work works[] = {
    {"even",
     MAP,
     1,
     19.1,
     1,
     {PIPELINE_FETCH, PIPELINE_AFTER},
     {"2b", "2c"},
     2},
    {"map", MAP, 1, 17.2, 1, {PIPELINE_FETCH, PIPELINE_AFTER}, {"2b", "2c"}, 2},
    {"nevmap",
     NEVMAP,
     2,
     20.2,
     1,
     {PIPELINE_FETCH, PIPELINE_AFTER},
     {"2b", "2c"},
     2},
    {"maparray",
     MAPARRAY,
     1,
     18.1,
     1,
     {PIPELINE_FETCH, PIPELINE_AFTER},
     {"4b", "4c"},
     2},
    {"accumulate", ACCUMULATE, 1, 17.2, 1, {PIPELINE_STAYS}, {"1b"}, 1},
    {"mapreduce", MAPREDUCE, 2, 17.4, 256, {PIPELINE_STAYS}, {"3b"}, 1},
};

static const char *const suffix[] = {"/fetch", "/after", ""};
static const int counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
enum { COUNTS = sizeof counts / sizeof *counts };

/* ---- the model ----------------------------------------------------------------- */

/* Milliseconds of a stage for all of it, and what each piece adds. */
struct stage {
    double whole, piece;
};

struct costs {
    struct stage up, kernel, down;
    double table;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double model(const struct costs *s, int n, enum pipeline_form form)
{
    double a = s->up.whole / n + s->up.piece;
    double b = s->kernel.whole / n + s->kernel.piece;
    double c = s->down.whole / n + s->down.piece;
    double most = larger(a, b);
    if (form == PIPELINE_FETCH)
        return s->table + a + b + c + (n - 1) * larger(most, c);
    return s->table + a + b + (n - 1) * most +
           (form == PIPELINE_AFTER ? s->down.whole : 0);
}

/* The thesis': one transfer time for all directions, no costs of a piece. For
 * one chunk it has the sum. */
static double thesis(const struct work *w, const struct costs *s, int n,
                     enum pipeline_form form)
{
    double comm = s->up.whole / w->inputs, up = s->up.whole;
    double kernel = s->kernel.whole;
    double back = form == PIPELINE_STAYS ? s->down.whole : comm;
    double first = form == PIPELINE_FETCH ? up + comm : up;
    if (w->kind == ACCUMULATE)
        back = 0;
    if (n == 1)
        return s->table + up + kernel + back;
    double time =
        larger(up, kernel) + (first < kernel ? first : kernel) / n + s->table;
    return form == PIPELINE_FETCH ? time : time + back;
}

/* ---- one skeleton --------------------------------------------------------------- */

struct measured {
    struct pipeline p;
    struct bench_samples stage[2][3], table; /* whole and in pieces */
    struct bench_samples call[MOST_FORMS][COUNTS], chosen[MOST_FORMS];
    struct bench_samples chunks[MOST_FORMS];
};

static double (*const stage_ms[])(struct pipeline *, int) = {
    pipeline_up_ms, pipeline_kernel_ms, pipeline_down_ms};

/* A call none of whose kernels was late, as far as some tries give one. */
static double punctual_ms(struct pipeline *p, int chunks,
                          enum pipeline_form form)
{
    enum { TRIES = 5 };
    double ms = 0;
    uint64_t late = 0;
    for (int i = 0; i < TRIES && (i == 0 || device_stats().late > late); i++) {
        late = device_stats().late;
        ms = pipeline_call_ms(p, chunks, form);
    }
    return ms;
}

/* By a call more. */
static double chosen_chunks(struct measured *m, enum pipeline_form form)
{
    uint64_t before = device_stats().launches;
    (void)pipeline_call_ms(&m->p, 0, form);
    return (double)(device_stats().launches - before);
}

/* One sample of everything: what slows the machine down slows all of it. */
static void sample(const struct work *w, struct measured *m)
{
    for (int s = 0; s < 3; s++)
        for (int many = 0; many < 2; many++)
            bench_add(&m->stage[many][s], stage_ms[s](&m->p, many ? MANY : 1));
    bench_add(&m->table, pipeline_table_ms(&m->p));
    for (int f = 0; f < w->forms; f++) {
        for (int i = 0; i < COUNTS; i++)
            bench_add(&m->call[f][i],
                      punctual_ms(&m->p, counts[i], w->form[f]));
        bench_add(&m->chosen[f], punctual_ms(&m->p, 0, w->form[f]));
        bench_add(&m->chunks[f], chosen_chunks(m, w->form[f]));
    }
}

static struct stage stage_of(const struct measured *m, int s)
{
    double one = bench_median(&m->stage[0][s]);
    double many = bench_median(&m->stage[1][s]);
    return (struct stage){one, larger(many - one, 0) / (MANY - 1)};
}

static struct bench_samples just(double value)
{
    return (struct bench_samples){.value = {value}, .count = 1};
}

static void report(const struct work *w, const struct measured *m, int f)
{
    const struct costs costs = {stage_of(m, 0), stage_of(m, 1), stage_of(m, 2),
                                bench_median(&m->table)};
    const struct bench_samples *call = m->call[f], *best = &call[0];
    char name[64], against[64];
    for (int i = 0; i < COUNTS; i++) {
        struct bench_samples exact = just(model(&costs, counts[i], w->form[f]));
        struct bench_samples own =
            just(thesis(w, &costs, counts[i], w->form[f]));
        snprintf(name, sizeof name, "%s/%d%s", w->name, counts[i],
                 suffix[w->form[f]]);
        bench_report(name, "ms", &call[i], "T(n)", &exact);
        snprintf(name, sizeof name, "%s/%d%s/thesis", w->name, counts[i],
                 suffix[w->form[f]]);
        snprintf(against, sizeof against, "(%c%c)", w->formula[f][0],
                 counts[i] == 1 ? 'a' : w->formula[f][1]);
        bench_report(name, "ms", &call[i], against, &own);
        if (bench_median(&call[i]) < bench_median(best))
            best = &call[i];
        if (counts[i] == 16) {
            snprintf(name, sizeof name, "%s%s/gain", w->name,
                     suffix[w->form[f]]);
            bench_report(name, "ms", &call[0], "16 chunks", &call[i]);
        }
    }
    snprintf(name, sizeof name, "%s%s/chosen", w->name, suffix[w->form[f]]);
    snprintf(against, sizeof against, "%d chunks, the best",
             counts[best - call]);
    bench_report(name, "ms", &m->chosen[f], against, best);
    snprintf(name, sizeof name, "%s%s/chosen/n", w->name, suffix[w->form[f]]);
    bench_report(name, "chunks", &m->chunks[f], NULL, NULL);
}

/* What the model knows. */
static void report_costs(const struct work *w, const struct measured *m)
{
    static const char *const names[] = {"up", "kernel", "down"};
    char name[64];
    for (int s = 0; s < 3; s++) {
        struct bench_samples piece = just(stage_of(m, s).piece * 1e3);
        snprintf(name, sizeof name, "%s/cost/%s", w->name, names[s]);
        bench_report(name, "ms", &m->stage[0][s], NULL, NULL);
        snprintf(name, sizeof name, "%s/cost/%s/piece", w->name, names[s]);
        bench_report(name, "us", &piece, NULL, NULL);
    }
}

/* Elements, and rates at which they take the thesis' time. */
static long settings(const struct work *w)
{
    enum { COMM_NS = 19100 * 1000 };
    /* A paced thread of a reduction stands for many elements, and blocks are
     * whole: it has to be large. */
    long n = w->kind == MAPREDUCE ? 2048 * KIB : 955000;
    char text[64];
    n = bench_quick() ? n / 4 : n;
    double scale = bench_quick() ? 4 : 1;
    snprintf(text, sizeof text, "%.0fKB/s",
             (double)n * 4 * scale * 1e6 / COMM_NS);
    setenv("SOFTCUDA_LINK", text, 1);
    snprintf(text, sizeof text, "%.0fK/s",
             (double)n / (double)w->each * scale / w->k_ms);
    setenv("SOFTCUDA_PACE", text, 1);
    return n;
}

static int run(const struct work *w)
{
    static struct measured m;
    m.p = pipeline_make(w->kind, settings(w));
    for (int r = 0; r < bench_reps(); r++)
        sample(w, &m);
    report_costs(w, &m);
    for (int f = 0; f < w->forms; f++)
        report(w, &m, f);
    device_tell_late(w->name);
    pipeline_free(&m.p);
    return 0;
}

/* ---- where chunks gain nothing ------------------------------------------------------ */

static int run_small(void)
{
    for (long bytes = 4 * KIB; bytes <= 4096 * KIB; bytes *= 4) {
        struct bench_samples left = {.count = 0}, one = {.count = 0};
        struct pipeline p = pipeline_make(MAP, bytes / (long)sizeof(unsigned));
        int calls = bench_reps() * (bench_quick() ? 1 : 5);
        char name[32];
        for (int i = 0; i < calls && i < BENCH_REPS_MAX; i++) {
            bench_add(&left, pipeline_call_ms(&p, 0, PIPELINE_FETCH));
            bench_add(&one, pipeline_call_ms(&p, 1, PIPELINE_FETCH));
        }
        snprintf(name, sizeof name, "small/%ldK", bytes / KIB);
        bench_report(name, "ms", &left, "one chunk", &one);
        pipeline_free(&p);
    }
    return 0;
}

/* What is set for a device is read once in a process: each has its own. */
static void in_child(const struct work *w)
{
    int status;
    bench_settle();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(w ? run(w) : run_small());
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "bench_pipeline: '%s' failed\n", w ? w->name : "small");
        exit(3);
    }
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "pipeline");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        in_child(&works[i]);
    in_child(NULL);
    return 0;
}

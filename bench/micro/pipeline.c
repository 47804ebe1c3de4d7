/* Skeletons in stages; see pipeline.h. */
#include "pipeline.h"

#include <adsm_skeleton.h>

#include "bench.h"
#include "ranged.h"

static const char stages_ptx[] =
#include "stages_ptx.inc"
    ;

static const char *const names[] = {"map", "nevmap", "maparray", "accumulate",
                                    "mapreduce"};

static double ms_since(uint64_t began)
{
    return (double)(bench_now() - began) * 1e-6;
}

static void issue(struct pipeline *p, const adsmOpts *opts)
{
    adsmBox all = adsmR1(p->n);
    switch (p->kind) {
    case MAP:
        must(adsmCallWith(opts, p->kernel, all, adsmIn(p->in[0]),
                          adsmOut(p->out)));
        break;
    case NEVMAP:
        must(adsmCallWith(opts, p->kernel, all, adsmIn(p->in[0]),
                          adsmIn(p->in[1]), adsmOut(p->out)));
        break;
    case MAPARRAY:
        must(adsmCallWith(opts, p->kernel, all, adsmIn(p->in[0]),
                          adsmOut(p->out), adsmAll(p->table)));
        break;
    case ACCUMULATE:
        must(adsmCallWith(opts, p->kernel, all, adsmIn(p->in[0]),
                          adsmInOut(p->out)));
        break;
    case MAPREDUCE:
        must(adsmMapReduce(opts, p->kernel, p->out, all, adsmIn(p->in[0]),
                           adsmIn(p->in[1])));
        break;
    }
}

/* The host has all inputs, and nobody else. */
static void refresh(struct pipeline *p)
{
    p->turn++;
    for (int k = 0; k < 2 && p->in[k]; k++)
        for (long i = 0; i < p->n; i++)
            p->in[k][i] = (unsigned)i * 61 + p->turn + (unsigned)k;
    for (unsigned i = 0; p->table && i < PIPELINE_TABLE; i++)
        p->table[i] = i * p->turn;
}

static unsigned value_of(const struct pipeline *p, long i)
{
    unsigned a = p->in[0][i];
    switch (p->kind) {
    case MAP:
        return 2 * a;
    case NEVMAP:
        return a + 2 * p->in[1][i];
    case MAPARRAY:
        return a + p->table[a % PIPELINE_TABLE];
    default:
        return a * p->in[1][i];
    }
}

static void wrong(const struct pipeline *p, long i)
{
    fprintf(stderr, "%s: element %ld is wrong\n", names[p->kind], i);
    exit(3);
}

/* Some of each piece of the output, which brings what is not here yet. */
static void touch(const struct pipeline *p)
{
    enum { EVERY = 1 << 10 };
    for (long i = 0; i < p->n; i += EVERY)
        if (p->out[i] != value_of(p, i))
            wrong(p, i);
}

static void check_sum(const struct pipeline *p)
{
    unsigned sum = 0;
    for (long i = 0; i < p->n; i++)
        sum += value_of(p, i);
    if (p->out[0] != sum)
        wrong(p, 0);
}

struct pipeline pipeline_make(enum pipeline_kind kind, long n)
{
    enum { CALLS = 8 };
    struct pipeline p = {.kind = kind, .n = n};
    adsmModule *module;
    must(adsmModuleLoad(&module, stages_ptx, sizeof stages_ptx - 1));
    must(adsmKernelGet(&p.kernel, module, names[kind], ADSM_ONLY_ARGUMENTS));
    p.in[0] = array(n);
    p.in[1] = kind == NEVMAP || kind == MAPREDUCE ? array(n) : NULL;
    p.out = array(kind == MAPREDUCE ? 1 : n);
    p.table = kind == MAPARRAY ? array(PIPELINE_TABLE) : NULL;
    for (int i = 0; i < CALLS; i++)
        (void)pipeline_call_ms(&p, i < 2, PIPELINE_STAYS);
    return p;
}

void pipeline_free(struct pipeline *p)
{
    unsigned *all[] = {p->in[0], p->in[1], p->out, p->table};
    for (int i = 0; i < 4; i++)
        if (all[i])
            must(adsmFree(all[i]));
}

/* Piece `i` of `pieces` of an array. */
static adsmBox piece(const struct pipeline *p, int i, int pieces)
{
    return (adsmBox){1, {p->n * i / pieces}, {p->n * (i + 1) / pieces}};
}

static double bring_table(struct pipeline *p)
{
    uint64_t began = bench_now();
    if (!p->table)
        return 0;
    must(adsmPrefetch(p->table, NULL, 0));
    must(adsmWaitFor(p->table, NULL, ADSM_IN));
    return ms_since(began);
}

static double bring(struct pipeline *p, int pieces)
{
    uint64_t began = bench_now();
    for (int i = 0; i < pieces; i++) {
        adsmBox box = piece(p, i, pieces);
        for (int k = 0; k < 2 && p->in[k]; k++)
            must(adsmPrefetch(p->in[k], &box, 0));
    }
    must(adsmWaitFor(p->in[p->in[1] != NULL], NULL, ADSM_IN));
    return ms_since(began);
}

double pipeline_table_ms(struct pipeline *p)
{
    refresh(p);
    return bring_table(p);
}

double pipeline_up_ms(struct pipeline *p, int pieces)
{
    refresh(p);
    return bring(p, pieces);
}

static double compute(struct pipeline *p, int pieces)
{
    refresh(p);
    (void)bring_table(p);
    (void)bring(p, 1);
    uint64_t began = bench_now();
    issue(p, adsmWith(.devices = 1, .chunks = pieces, .sync = 1));
    return ms_since(began);
}

double pipeline_kernel_ms(struct pipeline *p, int pieces)
{
    return compute(p, pieces);
}

double pipeline_down_ms(struct pipeline *p, int pieces)
{
    (void)compute(p, 1);
    uint64_t began = bench_now();
    if (p->kind == MAPREDUCE) {
        (void)*(volatile unsigned *)p->out;
        return ms_since(began);
    }
    for (int i = 0; i < pieces; i++) {
        adsmBox box = piece(p, i, pieces);
        must(adsmPrefetch(p->out, &box, ADSM_HOST));
    }
    for (int i = 0; i < pieces; i++) {
        adsmBox box = piece(p, i, pieces);
        (void)*(volatile unsigned *)&p->out[box.lo[0]];
    }
    return ms_since(began);
}

double pipeline_call_ms(struct pipeline *p, int chunks, enum pipeline_form form)
{
    refresh(p);
    uint64_t began = bench_now();
    issue(p, adsmWith(.devices = 1, .chunks = chunks,
                      .fetch = form == PIPELINE_FETCH,
                      .sync = form == PIPELINE_STAYS));
    if (form == PIPELINE_AFTER)
        must(adsmPrefetch(p->out, NULL, ADSM_HOST));
    if (form != PIPELINE_STAYS)
        touch(p);
    else if (p->kind == MAPREDUCE)
        (void)*(volatile unsigned *)p->out;
    double ms = ms_since(began);
    if (p->kind == MAPREDUCE)
        check_sum(p);
    return ms;
}

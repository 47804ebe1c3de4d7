/*
 * Calls in chunks beside what the model of their pipeline says.
 *
 * An array goes up, is doubled, and comes back, in n chunks: a stage of one
 * chunk runs beside other stages of its neighbours, so that
 *
 *     T(n) = a + b + c + (n - 1) max(a, b, c)
 *
 * with a = U/n + u, b = K/n + k, c = D/n + d: the times of the whole upload,
 * kernel and download, and what a piece of each costs besides. All six are
 * measured by themselves in the same run; links are throttled and kernels paced.
 *
 *   chunks/N/fetch   outputs come to the host as they are made: the model
 *   chunks/N         outputs come when all kernels have run: their download is
 *                    behind the rest
 *   nevmap/N         the upload takes twice as long as kernel and download, as in
 *                    the thesis' NevMap (38.2, 20.2 and 19.1 ms)
 *   chosen           chunks are the library's, beside the best of eight numbers
 */
#include "bench.h"
#include "ranged.h"

enum { KIB = 1 << 10 };

/* Up, kernel and down of n elements, as asked for. */
struct job {
    adsmKernel *twice;
    unsigned *x, *y, *more; /* two inputs, or one: NULL */
    long n;
};

static double ms_since(uint64_t began)
{
    return (double)(bench_now() - began) * 1e-6;
}

static void call(const struct job *job, const adsmOpts *opts)
{
    must(job->more ? adsmCallWith(opts, job->twice, adsmR1(job->n),
                                  adsmIn(job->x), adsmOut(job->y),
                                  adsmIn(job->more), adsmIn(job->more))
                   : adsmCallWith(opts, job->twice, adsmR1(job->n),
                                  adsmIn(job->x), adsmOut(job->y)));
}

/* Everything there: memory for copies, code, pages of the host. */
static struct job prepare(long n, int inputs)
{
    struct job job = {kernel(inputs == 2 ? "twice4" : "twice"), array(n),
                      array(n), inputs == 2 ? array(n) : NULL, n};
    for (int i = 0; i < 6; i++) {
        call(&job, adsmWith(.devices = 1, .chunks = i < 2));
        for (long k = 0; k < n; k++)
            job.x[k] = (unsigned)k + job.y[k] % 2;
        if (job.more)
            memset(job.more, i, (size_t)n * sizeof *job.more);
    }
    return job;
}

/* Piece `i` of `pieces` of the array. */
static adsmBox piece(const struct job *job, int i, int pieces)
{
    return (adsmBox){1, {job->n * i / pieces}, {job->n * (i + 1) / pieces}};
}

static double up_ms(const struct job *job, int pieces)
{
    uint64_t began = bench_now();
    for (int i = 0; i < pieces; i++) {
        adsmBox box = piece(job, i, pieces);
        must(adsmPrefetch(job->x, &box, 0));
        if (job->more)
            must(adsmPrefetch(job->more, &box, 0));
    }
    must(adsmWaitFor(job->more ? job->more : job->x, NULL, ADSM_IN));
    return ms_since(began);
}

static double kernel_ms(const struct job *job, int pieces)
{
    (void)up_ms(job, 1);
    uint64_t began = bench_now();
    call(job, adsmWith(.devices = 1, .chunks = pieces, .sync = 1));
    return ms_since(began);
}

static double down_ms(const struct job *job, int pieces)
{
    (void)kernel_ms(job, 1);
    uint64_t began = bench_now();
    for (int i = 0; i < pieces; i++) {
        adsmBox box = piece(job, i, pieces);
        must(adsmPrefetch(job->y, &box, ADSM_HOST));
    }
    for (int i = 0; i < pieces; i++) {
        adsmBox box = piece(job, i, pieces);
        (void)*(volatile unsigned *)&job->y[box.lo[0]];
    }
    return ms_since(began);
}

static double all_ms(const struct job *job, int chunks, int fetch)
{
    unsigned wrong = 0;
    uint64_t began = bench_now();
    call(job, adsmWith(.devices = 1, .chunks = chunks, .fetch = fetch));
    if (!fetch)
        must(adsmPrefetch(job->y, NULL, ADSM_HOST));
    for (long i = 0; i < job->n; i += KIB)
        wrong += job->y[i] != 2 * job->x[i];
    double ms = ms_since(began);
    return wrong ? -1 : ms;
}

static int child(char **argv)
{
    struct job job = prepare(atol(argv[3]), atoi(argv[5]));
    int pieces = atoi(argv[4]);
    double ms = strcmp(argv[2], "up") == 0       ? up_ms(&job, pieces)
                : strcmp(argv[2], "kernel") == 0 ? kernel_ms(&job, pieces)
                : strcmp(argv[2], "down") == 0   ? down_ms(&job, pieces)
                : strcmp(argv[2], "fetch") == 0  ? all_ms(&job, pieces, 1)
                                                 : all_ms(&job, pieces, 0);
    printf("%.4f\n", ms);
    return ms < 0;
}

/* ---- the model --------------------------------------------------------------- */

static const char settings[] = "SOFTCUDA_LINK=200MB/s SOFTCUDA_PACE=50M/s";

static int inputs = 1; /* of the cases that are measured */

static double ask(const char *what, long n, int pieces)
{
    char words[96];
    snprintf(words, sizeof words, "--child %s %ld %d %d", what, n, pieces,
             inputs);
    double ms = bench_ask(settings, words);
    if (ms < 0)
        exit(3);
    return ms;
}

struct stage {
    double whole, piece; /* ms of all of it, and what each piece adds */
};

static struct stage stage(const char *what, long n)
{
    enum { MANY = 32 };
    double one = ask(what, n, 1), many = ask(what, n, MANY);
    return (struct stage){one, (many - one) / (MANY - 1)};
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double model(const struct stage s[3], int n, bool fetch)
{
    double a = s[0].whole / n + s[0].piece, b = s[1].whole / n + s[1].piece;
    double c = s[2].whole / n + s[2].piece;
    return fetch ? a + b + c + (n - 1) * most(a, most(b, c))
                 : a + b + (n - 1) * most(a, b) + s[2].whole;
}

static void measure(long n, int chunks, bool fetch)
{
    struct bench_samples here = {.count = 0}, there = {.count = 0};
    char name[32];
    for (int r = 0; r < bench_reps(); r++) {
        struct stage s[3] = {stage("up", n), stage("kernel", n),
                             stage("down", n)};
        bench_add(&here, ask(fetch ? "fetch" : "call", n, chunks));
        bench_add(&there, model(s, chunks, fetch));
    }
    snprintf(name, sizeof name, "%s/%d%s", inputs == 2 ? "nevmap" : "chunks",
             chunks, fetch ? "/fetch" : "");
    bench_report(name, "ms", &here, "T(n)", &there);
}

/* The sixth call of a kernel, whose chunks are the library's, beside the best
 * number of them. */
static void measure_chosen(long n, bool fetch)
{
    struct bench_samples here = {.count = 0}, there = {.count = 0};
    for (int r = 0; r < bench_reps(); r++) {
        double best = 1e9;
        for (int chunks = 4; chunks <= 32; chunks += 4) {
            double ms = ask(fetch ? "fetch" : "call", n, chunks);
            best = ms < best ? ms : best;
        }
        bench_add(&here, ask(fetch ? "fetch" : "call", n, 0));
        bench_add(&there, best);
    }
    bench_report(fetch ? "chosen/fetch" : "chosen", "ms", &here, "best of 8",
                 &there);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "chunks");
    long n = bench_quick() ? 256 * KIB : 4096 * KIB;
    for (int chunks = 1; chunks <= 32; chunks *= 2) {
        measure(n, chunks, true);
        measure(n, chunks, false);
    }
    measure_chosen(n, true);
    measure_chosen(n, false);
    inputs = 2;
    for (int chunks = 1; chunks <= 16; chunks *= 4) {
        measure(n / 2, chunks, true);
        measure(n / 2, chunks, false);
    }
    return 0;
}

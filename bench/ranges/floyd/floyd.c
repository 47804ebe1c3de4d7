/*
 * floyd on the CPU: the roads, and the same steps once more. See floyd.h.
 *
 * Lengths are whole numbers, so the order of sums means nothing. That the result
 * is one of shortest ways is looked at besides: no way is longer than by way of
 * a third place.
 */
#include "floyd/floyd.h"

#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

/* Longer than any way, and two of them no more than 31 bits. */
#define FLOYD_NO_ROAD (1 << 29)
#define FLOYD_LONGEST 1000.0f
/* Of all pairs, those that have a road. */
#define FLOYD_ROADS 0.2f
/* Pairs of the result that are looked at. */
#define FLOYD_SAMPLES 2000

const struct input_field floyd_fields[FLOYD_FIELDS] = {
    {"n", 1, 16384},
    {"seed", 0, UINT32_MAX},
    {"steps", 0, 16384},
};

void floyd_open(struct floyd *floyd, int argc, char **argv)
{
    uint32_t value[FLOYD_FIELDS];
    program_open(argc, argv, "floyd", floyd_fields, FLOYD_FIELDS, value);
    *floyd = (struct floyd){.n = (long)value[0], .seed = value[1]};
    floyd->steps =
        value[2] && (long)value[2] < floyd->n ? (long)value[2] : floyd->n;
    floyd->bytes = (size_t)floyd->n * (size_t)floyd->n * sizeof(int32_t);
}

void floyd_make(const struct floyd *floyd, int32_t *path)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = floyd->seed;
    for (long i = 0; i < floyd->n; i++)
        for (long j = 0; j < floyd->n; j++) {
            bool road = data_uniform(&seed, 0, 1) < FLOYD_ROADS;
            float length = data_uniform(&seed, 1, FLOYD_LONGEST);
            path[i * floyd->n + j] = i == j ? 0
                                     : road ? (int32_t)length
                                            : FLOYD_NO_ROAD;
        }
    bench_enter(before);
}

static void step(const struct floyd *floyd, int32_t *path, long k)
{
    const int32_t *by = path + k * floyd->n;
    for (long i = 0; i < floyd->n; i++) {
        int32_t *row = path + i * floyd->n;
        int32_t to = row[k];
        for (long j = 0; j < floyd->n; j++)
            if (to + by[j] < row[j])
                row[j] = to + by[j];
    }
}

static void shortest_check(const struct floyd *floyd, const int32_t *path)
{
    long n = floyd->n;
    for (long at = 0; at < n * n; at += 1 + n * n / FLOYD_SAMPLES) {
        int32_t least = path[at];
        for (long k = 0; k < n; k++) {
            int32_t by = path[at / n * n + k] + path[k * n + at % n];
            least = by < least ? by : least;
        }
        bench_check("way", (size_t)at, path[at], least, 0);
    }
}

static void verify(const struct floyd *floyd)
{
    int32_t *path = bench_alloc(floyd->bytes);
    const int32_t *result = bench_result(floyd->bytes);
    if (floyd->steps == floyd->n)
        shortest_check(floyd, result);
    floyd_make(floyd, path);
    for (long k = 0; k < floyd->steps; k++)
        step(floyd, path, k);
    program_same("way", result, path, (size_t)floyd->n * (size_t)floyd->n,
                 sizeof *path);
    free(path);
}

void floyd_finish(const struct floyd *floyd, const int32_t *path)
{
    bench_output(path, floyd->bytes);
    if (bench_end())
        verify(floyd);
    bench_report();
}

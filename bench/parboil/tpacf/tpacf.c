/*
 * tpacf on the CPU: sets, estimate, and counting pairs again. See tpacf.h.
 *
 * Tolerance: none. Distances are computed with the roundings of the kernel, so
 * every pair falls into the same bin; half a pair stands for the division.
 */
#include "tpacf/tpacf.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (M_PI / 180)
/* Pairs; the histograms beyond are not counted again. */
#define TPACF_WORK 2e7

const struct input_field tpacf_fields[TPACF_FIELDS] = {
    {"points", 1, 1 << 20},
    {"random_sets", 1, 999},
    {"edges", 2, TPACF_EDGES_MAX},
    {"per_decade", 1, 20},       /* edges in a decade of angles */
    {"least_arcsec", 1, 360000}, /* angle of the first edge */
};
const struct input_field tpacf_set_fields[1] = {{"points", 1, 1 << 20}};

void tpacf_open(struct tpacf *sky, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/tpacf.par");
    input_open(&sky->input, path, "tpacf", tpacf_fields, TPACF_FIELDS);
    input_expect(&sky->input, 0);
    input_close(&sky->input);
    sky->points = (int)sky->input.value[0];
    sky->sets = 1 + (int)sky->input.value[1];
    sky->edges = (int)sky->input.value[2];
    sky->histograms = 1 + 2 * (sky->sets - 1);
    sky->set_bytes = (size_t)sky->points * TPACF_NUMBERS * sizeof(float);
    sky->points_bytes = (size_t)sky->sets * sky->set_bytes;
    sky->edges_bytes = (size_t)sky->edges * sizeof(float);
    sky->histogram_bytes =
        (size_t)sky->histograms * (size_t)(sky->edges + 1) * sizeof(unsigned);
    sky->block = (struct bench_dim){TPACF_THREADS, 1, 1};
    sky->grid = (struct bench_dim){
        ((unsigned)sky->points + TPACF_THREADS - 1) / TPACF_THREADS, 1, 1};
}

static void set_read(const struct tpacf *sky, int set, float *points)
{
    char path[PATH_MAX];
    struct input input;
    if (snprintf(path, sizeof path, "%s.%03d", sky->input.path, set) >=
        PATH_MAX)
        input_refuse(&sky->input, "has a name that is too long");
    input_open(&input, path, "tpacfset", tpacf_set_fields, 1);
    input_expect(&input, input.value[0] * TPACF_NUMBERS * sizeof(float));
    if (input.value[0] != sky->input.value[0])
        input_refuse(&input, "holds %u points, '%s' promises %u",
                     input.value[0], sky->input.path, sky->input.value[0]);
    input_read(&input, points, sky->set_bytes);
    input_check(&input, "angle or red shift", points,
                (size_t)sky->points * TPACF_NUMBERS, -360.0f, 360.0f);
    input_close(&input);
}

void tpacf_load(struct tpacf *sky, float *points)
{
    size_t numbers = (size_t)sky->points * TPACF_NUMBERS;
    for (int set = 0; set < sky->sets; set++)
        set_read(sky, set, points + (size_t)set * numbers);
    bench_work();
    bench_enter(BENCH_CPU);
}

void tpacf_turn(const struct tpacf *sky, float *points, int sets)
{
    size_t all = (size_t)sets * (size_t)sky->points * TPACF_NUMBERS;
    for (size_t i = 0; i < all; i += TPACF_NUMBERS) {
        points[i] *= (float)DEGREE;
        points[i + 1] *= (float)DEGREE;
    }
    for (size_t i = 0; i < all; i += TPACF_NUMBERS) {
        float ascension = points[i], declination = points[i + 1];
        points[i] = cosf(ascension) * cosf(declination);
        points[i + 1] = sinf(ascension) * cosf(declination);
        points[i + 2] = sinf(declination);
    }
}

void tpacf_read(struct tpacf *sky, float *points)
{
    tpacf_load(sky, points);
    tpacf_turn(sky, points, sky->sets);
}

void tpacf_edges(const struct tpacf *sky, float *edge)
{
    double least = sky->input.value[4] / 3600.0 * DEGREE;
    for (int i = 0; i < sky->edges; i++) {
        double angle = least * pow(10, (double)i / sky->input.value[3]);
        double chord = 2 * sin(fmin(angle, M_PI) / 2);
        edge[i] = (float)(chord * chord);
    }
}

/* Landy and Szalay's estimate, (DD - 2 DR + RR) / RR, of each bin. */
void tpacf_estimate(const struct tpacf *sky, const unsigned *histograms)
{
    int bins = sky->edges + 1, random_sets = sky->sets - 1;
    double *estimate = bench_alloc((size_t)bins * sizeof *estimate);
    double n = sky->points, pairs = n * (n - 1) / 2;
    for (int bin = 0; bin < bins; bin++) {
        double dd = histograms[bin] / pairs, dr = 0, rr = 0;
        for (int i = 1; i < sky->histograms; i += 2) {
            rr += histograms[i * bins + bin] / pairs / random_sets;
            dr += histograms[(i + 1) * bins + bin] / (n * n) / random_sets;
        }
        estimate[bin] = rr > 0 ? (dd - 2 * dr + rr) / rr : 0;
    }
    bench_output(histograms, sky->histogram_bytes);
    bench_output(estimate, (size_t)bins * sizeof *estimate);
    free(estimate);
}

/* One histogram, from all pairs and bins one after the other. */
static void pairs_verify(const struct tpacf *sky, const float *points,
                         const float *edge, const int pair[2],
                         const unsigned *got)
{
    unsigned want[TPACF_EDGES_MAX + 1] = {0};
    size_t numbers = (size_t)sky->points * TPACF_NUMBERS;
    const float *a = points + (size_t)pair[0] * numbers;
    const float *b = points + (size_t)pair[1] * numbers;
    for (size_t i = 0; i < numbers; i += TPACF_NUMBERS)
        for (size_t j = pair[0] == pair[1] ? i + TPACF_NUMBERS : 0; j < numbers;
             j += TPACF_NUMBERS) {
            float dx = b[j] - a[i], dy = b[j + 1] - a[i + 1];
            float dz = b[j + 2] - a[i + 2];
            float square = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
            int bin = sky->edges;
            while (bin > 0 && square < edge[bin - 1])
                bin--;
            want[bin]++;
        }
    for (int bin = 0; bin <= sky->edges; bin++)
        bench_check("count", (size_t)bin, got[bin], want[bin], 0.5);
}

static void verify(struct tpacf *sky)
{
    size_t bins = (size_t)sky->edges + 1;
    const unsigned *got =
        bench_result(sky->histogram_bytes + bins * sizeof(double));
    float *points = bench_alloc(sky->points_bytes);
    float *edge = bench_alloc(sky->edges_bytes);
    tpacf_read(sky, points);
    tpacf_edges(sky, edge);
    double left = TPACF_WORK;
    for (int i = 0; i < sky->histograms && left > 0; i++) {
        int set = (i + 1) / 2, pair[2] = {i % 2 ? set : 0, set};
        pairs_verify(sky, points, edge, pair, got + (size_t)i * bins);
        left -= (double)sky->points * sky->points;
    }
    free(points);
    free(edge);
}

void tpacf_finish(struct tpacf *sky)
{
    if (bench_end())
        verify(sky);
    bench_report();
}

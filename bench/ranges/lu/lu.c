/*
 * lu on the CPU: the matrix, the same steps once more, and the product of the
 * two triangles. See lu.h; built with -ffp-contract=off.
 *
 * Tolerance of the product: 1e-4 of the greatest element of the matrix, n. The
 * diagonal dominates, so nothing grows, and n sums of f32 are off by some n
 * roundings of 6e-8.
 */
#include "lu/lu.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define LU_TOLERANCE 1e-4
/* Elements of the product that are looked at. */
#define LU_SAMPLES 2000

const struct input_field lu_fields[LU_FIELDS] = {
    {"n", 1, 16384},
    {"seed", 0, UINT32_MAX},
};

void lu_open(struct lu *lu, int argc, char **argv)
{
    uint32_t value[LU_FIELDS];
    program_open(argc, argv, "lu", lu_fields, LU_FIELDS, value);
    *lu = (struct lu){.n = (long)value[0], .seed = value[1]};
    lu->bytes = (size_t)lu->n * (size_t)lu->n * sizeof(float);
}

void lu_make(const struct lu *lu, float *matrix)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = lu->seed;
    for (long i = 0; i < lu->n; i++)
        for (long j = 0; j < lu->n; j++)
            matrix[i * lu->n + j] =
                data_uniform(&seed, -1.0f, 1.0f) + (i == j ? (float)lu->n : 0);
    bench_enter(before);
}

/* In place: what a step reads of other rows it does not change. */
static void step(const struct lu *lu, float *matrix, long k)
{
    const float *pivot = matrix + k * lu->n;
    for (long i = k + 1; i < lu->n; i++) {
        float *row = matrix + i * lu->n;
        float factor = row[k] / pivot[k];
        row[k] = factor;
        for (long j = k + 1; j < lu->n; j++)
            row[j] = fmaf(-factor, pivot[j], row[j]);
    }
}

/* Row i of the lower triangle times column j of the upper one. */
static double product(const struct lu *lu, const float *matrix, long i, long j)
{
    double sum = 0;
    for (long k = 0; k <= i && k <= j; k++) {
        double factor = k == i ? 1 : (double)matrix[i * lu->n + k];
        sum += factor * (double)matrix[k * lu->n + j];
    }
    return sum;
}

static void product_check(const struct lu *lu, const float *result,
                          const float *matrix)
{
    size_t all = (size_t)lu->n * (size_t)lu->n;
    for (size_t at = 0; at < all; at += 1 + all / LU_SAMPLES)
        bench_check("product", at,
                    product(lu, result, (long)at / lu->n, (long)at % lu->n),
                    (double)matrix[at], LU_TOLERANCE * (double)lu->n);
}

static void verify(const struct lu *lu)
{
    float *matrix = bench_alloc(lu->bytes);
    const float *result = bench_result(lu->bytes);
    lu_make(lu, matrix);
    product_check(lu, result, matrix);
    for (long k = 0; k + 1 < lu->n; k++)
        step(lu, matrix, k);
    program_same("element", result, matrix, (size_t)lu->n * (size_t)lu->n,
                 sizeof *matrix);
    free(matrix);
}

void lu_finish(const struct lu *lu, const float *matrix)
{
    bench_output(matrix, lu->bytes);
    if (bench_end())
        verify(lu);
    bench_report();
}

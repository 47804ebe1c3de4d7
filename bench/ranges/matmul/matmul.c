/*
 * matmul on the CPU: the matrices, and the same sums once more. See matmul.h;
 * built with -ffp-contract=off.
 *
 * That the kernel's sums are those of the product is looked at besides, in f64
 * and by another way: C times a vector is A times (B times the vector).
 * Tolerance: a row has `inner` times `columns` products of at most 1, whose f32
 * roundings of 6e-8 go up as well as down: a third of one for each of them.
 */
#include "matmul/matmul.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define MATMUL_TOLERANCE 2e-8

const struct input_field matmul_fields[MATMUL_FIELDS] = {
    {"rows", 1, 1 << 24},
    {"inner", 1, 16384},
    {"columns", 1, 16384},
    {"seed", 0, UINT32_MAX},
};

void matmul_open(struct matmul *m, int argc, char **argv)
{
    uint32_t value[MATMUL_FIELDS];
    program_open(argc, argv, "matmul", matmul_fields, MATMUL_FIELDS, value);
    *m = (struct matmul){
        .rows = (long)value[0],
        .inner = (long)value[1],
        .columns = (long)value[2],
        .seed = value[3],
    };
    m->bytes = (size_t)m->rows * (size_t)m->columns * sizeof(float);
}

void matmul_make(const struct matmul *m, float *a, float *b)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = m->seed;
    for (long i = 0; i < m->rows * m->inner; i++)
        a[i] = data_uniform(&seed, -1, 1);
    for (long i = 0; i < m->inner * m->columns; i++)
        b[i] = data_uniform(&seed, -1, 1);
    bench_enter(before);
}

/* Row by row of B, so that the CPU reads in order; each sum is in order of k. */
static void product(const struct matmul *m, const float *a, const float *b,
                    float *c)
{
    for (long i = 0; i < m->rows; i++) {
        float *row = c + i * m->columns;
        for (long j = 0; j < m->columns; j++)
            row[j] = 0;
        for (long k = 0; k < m->inner; k++) {
            float factor = a[i * m->inner + k];
            for (long j = 0; j < m->columns; j++)
                row[j] = fmaf(factor, b[k * m->columns + j], row[j]);
        }
    }
}

/* Matrix times vector; every row is `columns` long. */
static void times(const float *matrix, long rows, long columns,
                  const double *vector, double *out)
{
    for (long i = 0; i < rows; i++) {
        out[i] = 0;
        for (long j = 0; j < columns; j++)
            out[i] += (double)matrix[i * columns + j] * vector[j];
    }
}

static void product_check(const struct matmul *m, const float *a,
                          const float *b, const float *c)
{
    size_t all = (size_t)(m->columns + m->inner + 2 * m->rows);
    double *vector = bench_alloc(all * sizeof *vector);
    double *inner = vector + m->columns, *want = inner + m->inner,
           *got = want + m->rows;
    for (long j = 0; j < m->columns; j++)
        vector[j] = 1 + (double)(j % 5);
    times(b, m->inner, m->columns, vector, inner);
    times(a, m->rows, m->inner, inner, want);
    times(c, m->rows, m->columns, vector, got);
    for (long i = 0; i < m->rows; i++)
        bench_check("row", (size_t)i, got[i], want[i],
                    MATMUL_TOLERANCE * (double)(m->columns * m->inner));
    free(vector);
}

static void verify(const struct matmul *m)
{
    float *a = bench_alloc((size_t)(m->rows * m->inner) * sizeof *a);
    float *b = bench_alloc((size_t)(m->inner * m->columns) * sizeof *b);
    float *c = bench_alloc(m->bytes);
    const float *result = bench_result(m->bytes);
    matmul_make(m, a, b);
    product_check(m, a, b, result);
    product(m, a, b, c);
    program_same("element", result, c, (size_t)(m->rows * m->columns),
                 sizeof *c);
    free(c);
    free(b);
    free(a);
}

void matmul_finish(const struct matmul *m, const float *c)
{
    bench_output(c, m->bytes);
    if (bench_end())
        verify(m);
    bench_report();
}

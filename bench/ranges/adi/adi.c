/*
 * adi on the CPU: the arrays, and the same sweeps once more. See adi.h; built
 * with -ffp-contract=off.
 */
#include "adi/adi.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

const struct input_field adi_fields[ADI_FIELDS] = {
    {"n", 2, 32768},
    {"steps", 1, 100000},
    {"seed", 0, UINT32_MAX},
};

void adi_open(struct adi *adi, int argc, char **argv)
{
    uint32_t value[ADI_FIELDS];
    program_open(argc, argv, "adi", adi_fields, ADI_FIELDS, value);
    *adi = (struct adi){
        .n = (long)value[0], .steps = (int)value[1], .seed = value[2]};
    adi->count = (size_t)(adi->n * adi->n);
    adi->bytes = adi->count * sizeof(float);
}

/* A step divides x by b and takes a^2 from b, so both are about 1 / steps. */
void adi_make(const struct adi *adi, const struct adi_data *data)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = adi->seed;
    float most = 0.5f / (float)adi->steps;
    for (size_t i = 0; i < adi->count; i++) {
        data->x[i] = data_uniform(&seed, -1, 1);
        data->a[i] = data_uniform(&seed, -most, most);
        data->b[i] = 1 + data_uniform(&seed, 0, most);
    }
    bench_enter(before);
}

/* Along n values that are `pitch` apart. */
static void sweep(long n, long pitch, float *x, float *b, const float *a)
{
    for (long k = pitch; k < n * pitch; k += pitch) {
        float share = a[k] / b[k - pitch];
        x[k] = fmaf(-x[k - pitch], share, x[k]);
        b[k] = fmaf(-a[k], share, b[k]);
    }
    long last = (n - 1) * pitch;
    x[last] = x[last] / b[last];
    for (long k = last - pitch; k > 0; k -= pitch)
        x[k] = fmaf(-x[k - pitch], a[k - pitch], x[k]) / b[k - pitch];
}

static void step_compute(const struct adi *adi, const struct adi_data *data)
{
    long n = adi->n;
    for (long i = 0; i < n * n; i += n)
        sweep(n, 1, data->x + i, data->b + i, data->a + i);
    for (long j = 0; j < n; j++)
        sweep(n, n, data->x + j, data->b + j, data->a + j);
}

static void verify(const struct adi *adi)
{
    float *all = bench_alloc(3 * adi->bytes);
    const struct adi_data data = {
        .x = all, .b = all + adi->count, .a = all + 2 * adi->count};
    adi_make(adi, &data);
    for (int step = 0; step < adi->steps; step++)
        step_compute(adi, &data);
    program_same("value", bench_result(adi->bytes), data.x, adi->count,
                 sizeof *data.x);
    free(all);
}

void adi_finish(const struct adi *adi, const struct adi_data *data)
{
    bench_output(data->x, adi->bytes);
    if (bench_end())
        verify(adi);
    bench_report();
}

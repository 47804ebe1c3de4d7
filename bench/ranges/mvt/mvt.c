/*
 * mvt on the CPU: the matrix, and the same products once more. See mvt.h; built
 * with -ffp-contract=off.
 *
 * Sums are done in ascending order of the index that goes away, whoever does
 * them, each onto the value that is there.
 */
#include "mvt/mvt.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

const struct input_field mvt_fields[MVT_FIELDS] = {
    {"nx", 1, 65536},
    {"ny", 1, 65536},
    {"turns", 1, 1000000},
    {"seed", 0, UINT32_MAX},
};

void mvt_open(struct mvt *mvt, int argc, char **argv)
{
    uint32_t value[MVT_FIELDS];
    program_open(argc, argv, "mvt", mvt_fields, MVT_FIELDS, value);
    *mvt = (struct mvt){
        .nx = (long)value[0],
        .ny = (long)value[1],
        .turns = (int)value[2],
        .seed = value[3],
    };
}

static void noise_make(uint64_t *seed, float *values, long count)
{
    for (long i = 0; i < count; i++)
        values[i] = data_uniform(seed, -1, 1);
}

void mvt_make(const struct mvt *mvt, const struct mvt_data *data)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = mvt->seed;
    noise_make(&seed, data->a, mvt->nx * mvt->ny);
    noise_make(&seed, data->x1, mvt->ny);
    noise_make(&seed, data->x2, mvt->nx);
    noise_make(&seed, data->y1, mvt->nx);
    noise_make(&seed, data->y2, mvt->ny);
    bench_enter(before);
}

static void turn_compute(const struct mvt *mvt, const struct mvt_data *data)
{
    for (long i = 0; i < mvt->ny; i++) {
        const float *row = data->a + i * mvt->nx;
        for (long j = 0; j < mvt->nx; j++) {
            data->x1[i] = fmaf(row[j], data->y1[j], data->x1[i]);
            data->x2[j] = fmaf(row[j], data->y2[i], data->x2[j]);
        }
    }
}

static void verify(const struct mvt *mvt)
{
    size_t nx = (size_t)mvt->nx, ny = (size_t)mvt->ny;
    float *all = bench_alloc((nx * ny + 2 * (nx + ny)) * sizeof *all);
    float *x = all + nx * ny;
    const struct mvt_data data = {
        .a = all,
        .x1 = x,
        .x2 = x + ny,
        .y1 = x + ny + nx,
        .y2 = x + ny + 2 * nx,
    };
    mvt_make(mvt, &data);
    for (int turn = 0; turn < mvt->turns; turn++)
        turn_compute(mvt, &data);
    program_same("element", bench_result((nx + ny) * sizeof *x), x, nx + ny,
                 sizeof *x);
    free(all);
}

void mvt_finish(const struct mvt *mvt, const struct mvt_data *data)
{
    bench_output(data->x1, (size_t)mvt->ny * sizeof(float));
    bench_output(data->x2, (size_t)mvt->nx * sizeof(float));
    if (bench_end())
        verify(mvt);
    bench_report();
}

/*
 * heat3d on the CPU: the block, and the same steps once more. See heat3d.h;
 * built with -ffp-contract=off.
 */
#include "heat3d/heat3d.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define HOT  1.0f
#define WARM 0.5f
/* One of so many cells. */
#define HOT_ONES 64

const struct input_field heat3d_fields[HEAT3D_FIELDS] = {
    {"nx", 3, 4096},       {"ny", 3, 4096},         {"nz", 3, 4096},
    {"steps", 1, 1000000}, {"seed", 0, UINT32_MAX},
};

void heat3d_open(struct heat3d *heat, int argc, char **argv)
{
    uint32_t value[HEAT3D_FIELDS];
    program_open(argc, argv, "heat3d", heat3d_fields, HEAT3D_FIELDS, value);
    *heat = (struct heat3d){
        .nx = (long)value[0],
        .ny = (long)value[1],
        .nz = (long)value[2],
        .steps = (int)value[3],
        .seed = value[4],
        .factor = 0.125f,
    };
    heat->count = (size_t)(heat->nx * heat->ny * heat->nz);
    heat->bytes = heat->count * sizeof(float);
}

void heat3d_make(const struct heat3d *heat, float *cells)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = heat->seed;
    size_t warm = (size_t)(heat->nx * heat->ny);
    for (size_t at = 0; at < heat->count; at++) {
        bool hot = data_random(&seed) % HOT_ONES == 0;
        cells[at] = at < warm ? WARM : hot ? HOT : 0;
    }
    bench_enter(before);
}

static float cell_compute(const struct heat3d *heat, const float *cell)
{
    long nx = heat->nx, plane = nx * heat->ny;
    float value = *cell;
    float around = (cell[-plane] + cell[plane]) + (cell[-nx] + cell[nx]);
    around += cell[-1] + cell[1];
    return fmaf(heat->factor, fmaf(-6.0f, value, around), value);
}

static void step_compute(const struct heat3d *heat, const float *now,
                         float *next)
{
    long nx = heat->nx, ny = heat->ny, nz = heat->nz, at = 0;
    for (long i = 0; i < nz; i++)
        for (long j = 0; j < ny; j++)
            for (long k = 0; k < nx; k++, at++) {
                bool inside = i > 0 && i < nz - 1 && j > 0 && j < ny - 1 &&
                              k > 0 && k < nx - 1;
                next[at] = inside ? cell_compute(heat, now + at) : now[at];
            }
}

static void verify(const struct heat3d *heat)
{
    float *now = bench_alloc(heat->bytes), *next = bench_alloc(heat->bytes);
    heat3d_make(heat, now);
    for (int step = 0; step < heat->steps; step++) {
        step_compute(heat, now, next);
        float *last = now;
        now = next;
        next = last;
    }
    program_same("cell", bench_result(heat->bytes), now, heat->count,
                 sizeof *now);
    free(now);
    free(next);
}

void heat3d_finish(const struct heat3d *heat, const float *cells)
{
    bench_output(cells, heat->bytes);
    if (bench_end())
        verify(heat);
    bench_report();
}

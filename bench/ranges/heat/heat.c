/*
 * heat on the CPU: the plate, the same steps once more, the picture. See
 * heat.h; built with -ffp-contract=off.
 */
#include "heat/heat.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define HOT  1.0f
#define WARM 0.5f

const struct input_field heat_fields[HEAT_FIELDS] = {
    {"nx", 3, 32768},      {"ny", 3, 32768},        {"steps", 1, 1000000},
    {"every", 1, 1000000}, {"seed", 0, UINT32_MAX},
};

void heat_open(struct heat *heat, int argc, char **argv)
{
    uint32_t value[HEAT_FIELDS];
    program_has_picture();
    program_open(argc, argv, "heat", heat_fields, HEAT_FIELDS, value);
    *heat = (struct heat){
        .nx = (long)value[0],
        .ny = (long)value[1],
        .steps = (int)value[2],
        .every = (int)value[3],
        .seed = value[4],
        .factor = 0.24f,
    };
    heat->bytes = (size_t)heat->nx * (size_t)heat->ny * sizeof(float);
}

void heat_make(const struct heat *heat, float *cells)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    for (long i = 0; i < heat->ny; i++)
        for (long j = 0; j < heat->nx; j++)
            cells[i * heat->nx + j] = i == 0 ? WARM : 0;
    bench_enter(before);
}

static long spot_edge(const struct heat *heat)
{
    return 1 + (heat->nx < heat->ny ? heat->nx : heat->ny) / 16;
}

/* From `begin` on, without the edge of the plate. */
static void spot_cut(long begin, long edge, long size, long *lo, long *hi)
{
    *lo = begin > 0 ? begin : 1;
    *hi = begin + edge < size - 1 ? begin + edge : size - 1;
}

bool heat_spot(const struct heat *heat, int step, struct heat_spot *spot)
{
    if (step % heat->every != 0)
        return false;
    uint64_t seed = heat->seed + (uint64_t)step;
    long top = (long)(data_random(&seed) % (uint64_t)heat->ny);
    long left = (long)(data_random(&seed) % (uint64_t)heat->nx);
    spot_cut(top, spot_edge(heat), heat->ny, &spot->top, &spot->bottom);
    spot_cut(left, spot_edge(heat), heat->nx, &spot->left, &spot->right);
    return spot->top < spot->bottom && spot->left < spot->right;
}

size_t heat_hot(const struct heat *heat, float *cells)
{
    size_t count = (size_t)(spot_edge(heat) * spot_edge(heat));
    for (size_t i = 0; cells && i < count; i++)
        cells[i] = HOT;
    return count * sizeof *cells;
}

void heat_touch(const struct heat *heat, int step, float *cells)
{
    struct heat_spot spot;
    if (!heat_spot(heat, step, &spot))
        return;
    enum bench_phase before = bench_enter(BENCH_CPU);
    for (long i = spot.top; i < spot.bottom; i++)
        for (long j = spot.left; j < spot.right; j++)
            cells[i * heat->nx + j] = HOT;
    bench_enter(before);
}

static void step_compute(const struct heat *heat, const float *now, float *next)
{
    long nx = heat->nx, ny = heat->ny;
    for (long i = 0; i < ny; i++)
        for (long j = 0; j < nx; j++) {
            const float *cell = now + i * nx + j;
            float value = *cell;
            if (i > 0 && i < ny - 1 && j > 0 && j < nx - 1) {
                float around = (cell[-nx] + cell[nx]) + (cell[-1] + cell[1]);
                value = fmaf(heat->factor, fmaf(-4.0f, value, around), value);
            }
            next[i * nx + j] = value;
        }
}

static void verify(const struct heat *heat)
{
    float *now = bench_alloc(heat->bytes), *next = bench_alloc(heat->bytes);
    heat_make(heat, now);
    for (int step = 0; step < heat->steps; step++) {
        heat_touch(heat, step, now);
        step_compute(heat, now, next);
        float *last = now;
        now = next;
        next = last;
    }
    program_same("cell", bench_result(heat->bytes), now,
                 (size_t)heat->nx * (size_t)heat->ny, sizeof *now);
    free(now);
    free(next);
}

static void draw(const struct heat *heat, const float *cells)
{
    struct canvas canvas =
        program_canvas((int)heat->nx, (int)heat->ny, (struct rgb){0, 0, 0});
    for (long at = 0; at < heat->nx * heat->ny; at++)
        canvas.pixels[at] = program_glow(cells[at] / HOT);
    program_picture(&canvas);
}

void heat_finish(const struct heat *heat, const float *cells)
{
    bench_output(cells, heat->bytes);
    if (program_draws())
        draw(heat, cells);
    if (bench_end())
        verify(heat);
    bench_report();
}

/*
 * fdtd on the CPU: the fields, and the same steps once more. See fdtd.h; built
 * with -ffp-contract=off.
 */
#include "fdtd/fdtd.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define NOISE 0.1f
/* Steps of the source's pulse. */
#define PULSE 16

const struct input_field fdtd_fields[FDTD_FIELDS] = {
    {"nx", 2, 32768},
    {"ny", 2, 32768},
    {"steps", 1, 1000000},
    {"seed", 0, UINT32_MAX},
};

void fdtd_open(struct fdtd *fdtd, int argc, char **argv)
{
    uint32_t value[FDTD_FIELDS];
    program_open(argc, argv, "fdtd", fdtd_fields, FDTD_FIELDS, value);
    *fdtd = (struct fdtd){
        .nx = (long)value[0],
        .ny = (long)value[1],
        .steps = (int)value[2],
        .seed = value[3],
    };
    fdtd->count = (size_t)(fdtd->nx * fdtd->ny);
    fdtd->bytes = fdtd->count * sizeof(float);
}

static void noise_make(const struct fdtd *fdtd, uint64_t *seed, float *field)
{
    for (size_t at = 0; at < fdtd->count; at++)
        field[at] = data_uniform(seed, -NOISE, NOISE);
}

void fdtd_make(const struct fdtd *fdtd, const struct fields *fields)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = fdtd->seed;
    noise_make(fdtd, &seed, fields->ex);
    noise_make(fdtd, &seed, fields->ey);
    noise_make(fdtd, &seed, fields->hz);
    bench_enter(before);
}

float fdtd_source(int step)
{
    int at = step % (2 * PULSE) - PULSE;
    return 1.0f - (float)(at * at) / (PULSE * PULSE);
}

static void electric_compute(const struct fdtd *fdtd, const struct fields *f,
                             float source)
{
    long nx = fdtd->nx, at = 0;
    for (long i = 0; i < fdtd->ny; i++)
        for (long j = 0; j < nx; j++, at++) {
            const float *hz = f->hz + at;
            f->ey[at] =
                i == 0 ? source : fmaf(-0.5f, hz[0] - hz[-nx], f->ey[at]);
            if (j > 0)
                f->ex[at] = fmaf(-0.5f, hz[0] - hz[-1], f->ex[at]);
        }
}

static void magnetic_compute(const struct fdtd *fdtd, const struct fields *f)
{
    long nx = fdtd->nx, at = 0;
    for (long i = 0; i < fdtd->ny; i++)
        for (long j = 0; j < nx; j++, at++) {
            const float *ex = f->ex + at, *ey = f->ey + at;
            if (i < fdtd->ny - 1 && j < nx - 1)
                f->hz[at] =
                    fmaf(-0.7f, (ex[1] - ex[0]) + (ey[nx] - ey[0]), f->hz[at]);
        }
}

static void verify(const struct fdtd *fdtd)
{
    float *all = bench_alloc(3 * fdtd->bytes);
    const struct fields fields = {all, all + fdtd->count,
                                  all + 2 * fdtd->count};
    fdtd_make(fdtd, &fields);
    for (int step = 0; step < fdtd->steps; step++) {
        electric_compute(fdtd, &fields, fdtd_source(step));
        magnetic_compute(fdtd, &fields);
    }
    program_same("value", bench_result(3 * fdtd->bytes), all, 3 * fdtd->count,
                 sizeof *all);
    free(all);
}

void fdtd_finish(const struct fdtd *fdtd, const struct fields *fields)
{
    bench_output(fields->ex, fdtd->bytes);
    bench_output(fields->ey, fdtd->bytes);
    bench_output(fields->hz, fdtd->bytes);
    if (bench_end())
        verify(fdtd);
    bench_report();
}

/*
 * mandel on the CPU: the same steps once more, the picture. See mandel.h; built
 * with -ffp-contract=off.
 */
#include "mandel/mandel.h"

#include <math.h>
#include <stdlib.h>

#include "common/program.h"

/* At zoom 0 all of the set is seen, and further in this place. */
#define CENTRE_X -0.743644f
#define CENTRE_Y 0.131826f
#define WIDTH    4.0f

const struct input_field mandel_fields[MANDEL_FIELDS] = {
    {"nx", 1, 32768},      {"ny", 1, 32768}, {"calls", 1, 100000},
    {"steps", 1, 1000000}, {"zoom", 0, 12}, /* each doubles */
};

void mandel_open(struct mandel *mandel, int argc, char **argv)
{
    uint32_t value[MANDEL_FIELDS];
    program_has_picture();
    program_open(argc, argv, "mandel", mandel_fields, MANDEL_FIELDS, value);
    *mandel = (struct mandel){
        .nx = (long)value[0],
        .ny = (long)value[1],
        .calls = (int)value[2],
        .steps = (int)value[3],
    };
    float pixel = ldexpf(WIDTH, -(int)value[4]) / (float)mandel->nx;
    mandel->view = (struct mandel_view){
        .left = CENTRE_X - pixel * (float)(mandel->nx / 2),
        .top = CENTRE_Y - pixel * (float)(mandel->ny / 2),
        .pixel = pixel,
    };
    mandel->bytes =
        (size_t)mandel->nx * (size_t)mandel->ny * sizeof(struct mandel_point);
}

static struct mandel_point point_compute(const struct mandel *mandel, long i,
                                         long j)
{
    struct mandel_point z = {0};
    float cx = fmaf((float)j, mandel->view.pixel, mandel->view.left);
    float cy = fmaf((float)i, mandel->view.pixel, mandel->view.top);
    unsigned most = (unsigned)mandel->calls * (unsigned)mandel->steps;
    while (z.steps < most && z.x * z.x + z.y * z.y <= 4.0f) {
        float x = z.x * z.x - z.y * z.y + cx;
        z.y = fmaf(2.0f * z.x, z.y, cy);
        z.x = x;
        z.steps++;
    }
    return z;
}

static void verify(const struct mandel *mandel)
{
    struct mandel_point *points = bench_alloc(mandel->bytes);
    for (long i = 0; i < mandel->ny; i++)
        for (long j = 0; j < mandel->nx; j++)
            points[i * mandel->nx + j] = point_compute(mandel, i, j);
    program_same("pixel", bench_result(mandel->bytes), points,
                 (size_t)mandel->nx * (size_t)mandel->ny, sizeof *points);
    free(points);
}

/* Dark outside, brighter towards the set, which is black. */
static void draw(const struct mandel *mandel, const struct mandel_point *points)
{
    struct canvas canvas =
        program_canvas((int)mandel->nx, (int)mandel->ny, (struct rgb){0, 0, 0});
    unsigned most = (unsigned)mandel->calls * (unsigned)mandel->steps;
    float whole = logf(1 + (float)most);
    for (long at = 0; at < mandel->nx * mandel->ny; at++)
        if (points[at].steps < most) {
            float part = logf(1 + (float)points[at].steps) / whole;
            canvas.pixels[at] = program_glow(part * part);
        }
    program_picture(&canvas);
}

void mandel_finish(const struct mandel *mandel,
                   const struct mandel_point *points)
{
    bench_output(points, mandel->bytes);
    if (program_draws())
        draw(mandel, points);
    if (bench_end())
        verify(mandel);
    bench_report();
}

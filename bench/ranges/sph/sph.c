/*
 * sph on the CPU: the column, the same steps once more, the picture. See sph.h;
 * built with -ffp-contract=off.
 */
#include "sph/sph.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

/* The column, in units of the basin's height. */
#define COLUMN_WIDTH  0.5f
#define COLUMN_HEIGHT 0.8f
#define BASIN_WIDTH   2.0f
#define REST          1000.0f
#define SOUND         4.0f /* speed of it; drops fall at 1.3 at most */
#define HEIGHT_PIXELS 320

const struct input_field sph_fields[SPH_FIELDS] = {
    {"drops", 1, 1 << 22},
    {"steps", 1, 1000000},
    {"seed", 0, UINT32_MAX},
};

/* Distance of drops in the column. */
static float spacing(const struct sph *sph)
{
    return sqrtf(COLUMN_WIDTH * COLUMN_HEIGHT / (float)sph->n);
}

static struct sph_law law(const struct sph *sph)
{
    float between = spacing(sph), h = 2 * between;
    float mass = REST * between * between, pi = (float)M_PI;
    return (struct sph_law){
        .reach = h,
        .weigh = mass * 4 / (pi * powf(h, 8)),
        .squeeze = mass * 30 / (pi * powf(h, 5)),
        .drag = mass * 0.4f * h * 40 / (pi * powf(h, 5)) * REST * 0.01f,
        .rest = REST,
        .stiffness = SOUND * SOUND,
        .gravity = 1,
        .dt = 0.2f * h / SOUND,
        .width = BASIN_WIDTH,
        .height = 1,
        .bounce = 0.3f,
    };
}

void sph_open(struct sph *sph, int argc, char **argv)
{
    uint32_t value[SPH_FIELDS];
    program_has_picture();
    program_open(argc, argv, "sph", sph_fields, SPH_FIELDS, value);
    *sph = (struct sph){
        .n = (long)value[0], .steps = (int)value[1], .seed = value[2]};
    sph->law = law(sph);
}

/* y points down: the column stands on y = 1. */
void sph_make(const struct sph *sph, struct sph_drop *drops)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = sph->seed;
    float between = spacing(sph);
    long row = (long)(COLUMN_WIDTH / between);
    row = row > 0 ? row : 1;
    for (long i = 0; i < sph->n; i++) {
        float off_x = data_uniform(&seed, 0.4f, 0.6f);
        float off_y = data_uniform(&seed, 0.4f, 0.6f);
        drops[i] = (struct sph_drop){
            .x = between * ((float)(i % row) + off_x),
            .y = 1 - between * ((float)(i / row) + off_y),
        };
    }
    bench_enter(before);
}

static struct sph_state density(const struct sph *sph,
                                const struct sph_drop *drops, long i)
{
    const struct sph_law *law = &sph->law;
    float sum = 0;
    for (long k = 0; k < sph->n; k++) {
        float dx = drops[k].x - drops[i].x, dy = drops[k].y - drops[i].y;
        float left = law->reach * law->reach - (dx * dx + dy * dy);
        if (left > 0)
            sum += left * left * left;
    }
    float dense = law->weigh * sum, over = dense - law->rest;
    return (struct sph_state){dense, over > 0 ? law->stiffness * over : 0};
}

static struct sph_push force(const struct sph *sph,
                             const struct sph_drop *drops,
                             const struct sph_state *states, long i)
{
    const struct sph_law *law = &sph->law;
    float ax = 0, ay = 0;
    for (long k = 0; k < sph->n; k++) {
        float dx = drops[k].x - drops[i].x, dy = drops[k].y - drops[i].y;
        float square = dx * dx + dy * dy;
        if (square >= law->reach * law->reach || square <= 0)
            continue;
        float distance = sqrtf(square), left = law->reach - distance;
        float between = states[i].pressure + states[k].pressure;
        float away = -law->squeeze * between * left * left /
                     (2 * states[k].density * distance);
        float along = law->drag * left / states[k].density;
        ax += away * dx + along * (drops[k].vx - drops[i].vx);
        ay += away * dy + along * (drops[k].vy - drops[i].vy);
    }
    return (struct sph_push){ax / states[i].density,
                             ay / states[i].density + law->gravity};
}

static void wall(float *place, float *speed, float size, float bounce)
{
    if (*place >= 0 && *place <= size)
        return;
    *place = *place < 0 ? 0 : size;
    *speed *= -bounce;
}

static void move(const struct sph_law *law, struct sph_drop *drop,
                 const struct sph_push *push)
{
    drop->vx += law->dt * push->ax;
    drop->vy += law->dt * push->ay;
    drop->x += law->dt * drop->vx;
    drop->y += law->dt * drop->vy;
    wall(&drop->x, &drop->vx, law->width, law->bounce);
    wall(&drop->y, &drop->vy, law->height, law->bounce);
}

static void verify(const struct sph *sph)
{
    size_t n = (size_t)sph->n;
    struct sph_drop *drops = bench_alloc(n * sizeof *drops);
    struct sph_state *states = bench_alloc(n * sizeof *states);
    struct sph_push *pushes = bench_alloc(n * sizeof *pushes);
    sph_make(sph, drops);
    for (int step = 0; step < sph->steps; step++) {
        for (long i = 0; i < sph->n; i++)
            states[i] = density(sph, drops, i);
        for (long i = 0; i < sph->n; i++)
            pushes[i] = force(sph, drops, states, i);
        for (long i = 0; i < sph->n; i++)
            move(&sph->law, drops + i, pushes + i);
    }
    program_same("drop", bench_result(n * sizeof *drops), drops, n,
                 sizeof *drops);
    free(pushes);
    free(states);
    free(drops);
}

/* Drops as squares, the brighter the faster. */
static void draw(const struct sph *sph, const struct sph_drop *drops)
{
    int width = (int)(BASIN_WIDTH * HEIGHT_PIXELS);
    int edge = 1 + (int)(0.8f * spacing(sph) * HEIGHT_PIXELS);
    struct canvas canvas =
        program_canvas(width, HEIGHT_PIXELS, (struct rgb){0, 0, 0});
    for (long i = 0; i < sph->n; i++) {
        float speed = hypotf(drops[i].vx, drops[i].vy);
        canvas_fill(&canvas, (int)(drops[i].x * HEIGHT_PIXELS) - edge / 2,
                    (int)(drops[i].y * HEIGHT_PIXELS) - edge / 2, edge, edge,
                    program_glow(0.3f + 0.5f * speed));
    }
    program_picture(&canvas);
}

void sph_finish(const struct sph *sph, const struct sph_drop *drops)
{
    bench_output(drops, (size_t)sph->n * sizeof *drops);
    if (program_draws())
        draw(sph, drops);
    if (bench_end())
        verify(sph);
    bench_report();
}

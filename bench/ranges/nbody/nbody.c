/*
 * nbody on the CPU: the disc, the same steps once more, the picture. See
 * nbody.h; built with -ffp-contract=off.
 */
#include "nbody/nbody.h"

#include <math.h>
#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define CENTRE_MASS 1.0f
#define DISC_MASS   0.2f /* of all other bodies together */
#define EDGE_PIXELS 512
#define VIEW        1.6f /* from the middle to the edge of the picture */

const struct input_field nbody_fields[NBODY_FIELDS] = {
    {"bodies", 1, 1 << 22},
    {"steps", 1, 1000000},
    {"seed", 0, UINT32_MAX},
};

void nbody_open(struct nbody *nbody, int argc, char **argv)
{
    uint32_t value[NBODY_FIELDS];
    program_has_picture();
    program_open(argc, argv, "nbody", nbody_fields, NBODY_FIELDS, value);
    *nbody = (struct nbody){.n = (long)value[0],
                            .steps = (int)value[1],
                            .seed = value[2],
                            .dt = 0.01f};
}

/* On a circle around the middle, fast enough to stay there. */
static struct nbody_body body_make(uint64_t *seed, float mass)
{
    float radius = sqrtf(data_uniform(seed, 0.04f, 1.0f));
    float angle = data_uniform(seed, 0.0f, 2.0f * (float)M_PI);
    float inside = CENTRE_MASS + DISC_MASS * radius * radius;
    float speed = sqrtf(inside / radius);
    return (struct nbody_body){
        .x = radius * cosf(angle),
        .y = radius * sinf(angle),
        .z = 0.03f * data_normal(seed),
        .mass = mass,
        .vx = -speed * sinf(angle),
        .vy = speed * cosf(angle),
    };
}

void nbody_make(const struct nbody *nbody, struct nbody_body *bodies)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = nbody->seed;
    bodies[0] = (struct nbody_body){.mass = CENTRE_MASS};
    for (long i = 1; i < nbody->n; i++)
        bodies[i] = body_make(&seed, DISC_MASS / (float)nbody->n);
    bench_enter(before);
}

static struct nbody_body body_step(const struct nbody *nbody,
                                   const struct nbody_body *all, long i)
{
    struct nbody_body me = all[i];
    float a[3] = {0};
    for (long k = 0; k < nbody->n; k++) {
        float d[3] = {all[k].x - me.x, all[k].y - me.y, all[k].z - me.z};
        float square =
            d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + NBODY_SOFTENING;
        float pull = all[k].mass / (square * sqrtf(square));
        for (int axis = 0; axis < 3; axis++)
            a[axis] += pull * d[axis];
    }
    me.vx += nbody->dt * a[0];
    me.vy += nbody->dt * a[1];
    me.vz += nbody->dt * a[2];
    me.x += nbody->dt * me.vx;
    me.y += nbody->dt * me.vy;
    me.z += nbody->dt * me.vz;
    return me;
}

static void verify(const struct nbody *nbody)
{
    size_t n = (size_t)nbody->n, bytes = n * sizeof(struct nbody_body);
    struct nbody_body *p = bench_alloc(bytes), *q = bench_alloc(bytes);
    nbody_make(nbody, p);
    for (int step = 0; step < nbody->steps; step++) {
        for (long i = 0; i < nbody->n; i++)
            q[i] = body_step(nbody, p, i);
        struct nbody_body *next = q;
        q = p;
        p = next;
    }
    program_same("body", bench_result(bytes), p, n, sizeof *p);
    free(p);
    free(q);
}

/* Every body adds some light. */
static void light(struct canvas *canvas, int x, int y)
{
    if (x < 0 || x >= canvas->width || y < 0 || y >= canvas->height)
        return;
    struct rgb *pixel = &canvas->pixels[y * canvas->width + x];
    int red = pixel->r + 90, blue = pixel->b + 160;
    pixel->r = pixel->g = (uint8_t)(red > 255 ? 255 : red);
    pixel->b = (uint8_t)(blue > 255 ? 255 : blue);
}

static void draw(const struct nbody *nbody, const struct nbody_body *bodies)
{
    struct canvas canvas =
        program_canvas(EDGE_PIXELS, EDGE_PIXELS, (struct rgb){0, 0, 0});
    for (long i = 0; i < nbody->n; i++) {
        float x = (bodies[i].x / VIEW + 1) * EDGE_PIXELS / 2;
        float y = (bodies[i].y / VIEW + 1) * EDGE_PIXELS / 2;
        /* What has left the view for good does not fit into an int either. */
        if (fabsf(x) < 2 * EDGE_PIXELS && fabsf(y) < 2 * EDGE_PIXELS)
            for (int at = 0; at < 4; at++)
                light(&canvas, (int)x + at % 2, (int)y + at / 2);
    }
    program_picture(&canvas);
}

void nbody_finish(const struct nbody *nbody, const struct nbody_body *bodies)
{
    bench_output(bodies, (size_t)nbody->n * sizeof *bodies);
    if (program_draws())
        draw(nbody, bodies);
    if (bench_end())
        verify(nbody);
    bench_report();
}

/*
 * Two images to compare. See images.h.
 */
#include "common/images.h"

#include <math.h>
#include <string.h>

#include "common/data.h"
#include "common/program.h"

#define NOISE 6.0f

const struct input_field images_fields[IMAGES_FIELDS] = {
    {"nx", 1, 32768},
    {"ny", 1, 32768},
    {"seed", 0, UINT32_MAX},
};

void images_open(struct images *images, int argc, char **argv, const char *kind)
{
    uint32_t value[IMAGES_FIELDS];
    program_open(argc, argv, kind, images_fields, IMAGES_FIELDS, value);
    *images = (struct images){
        .nx = (long)value[0],
        .ny = (long)value[1],
        .seed = value[2],
    };
    images->pixels = images->nx * images->ny;
    images->chunks = (images->pixels + CHUNK_PIXELS - 1) / CHUNK_PIXELS;
    images->bytes = (size_t)images->chunks * sizeof(struct chunk);
}

static float grey(float value)
{
    value = roundf(value);
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

/* Waves across the image, as no photograph has them. */
static float scene(const struct images *images, long at)
{
    float x = (float)(at % images->nx) / (float)images->nx;
    float y = (float)(at / images->nx) / (float)images->ny;
    float waves = sinf(19 * x + 3 * y) + sinf(31 * x * y) + sinf(11 * y);
    return 127.5f + 40 * waves;
}

void images_make(const struct images *images, struct chunk *first,
                 struct chunk *second)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = images->seed;
    for (long at = 0; at < images->chunks * CHUNK_PIXELS; at++) {
        float good = 0, bad = 0;
        if (at < images->pixels) {
            good = grey(scene(images, at));
            bad = grey(0.9f * good + 8 + data_uniform(&seed, -NOISE, NOISE));
        }
        first[at / CHUNK_PIXELS].pixel[at % CHUNK_PIXELS] = good;
        second[at / CHUNK_PIXELS].pixel[at % CHUNK_PIXELS] = bad;
    }
    bench_enter(before);
}

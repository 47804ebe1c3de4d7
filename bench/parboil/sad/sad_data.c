/*
 * Two frames for sad: a smooth background that the camera pans over, discs
 * that move on their own, and the noise of a sensor.
 */
#include "common/data.h"
#include "sad/sad.h"

#include <math.h>

#define DISCS 12

static const uint32_t small[] = {176, 144, 6};
static const uint32_t medium[] = {352, 288, 16};
static const uint32_t large[] = {704, 576, 16};
static const uint32_t gpu[] = {1024, 1008, 48};

struct disc {
    float x, y, radius, light, x_motion, y_motion;
};

/* Light of the scene at a place, `time` frames after the reference. */
static float scene(const struct disc *discs, float x, float y, float time)
{
    for (int i = 0; i < DISCS; i++) {
        float dx = x - discs[i].x - time * discs[i].x_motion;
        float dy = y - discs[i].y - time * discs[i].y_motion;
        if (dx * dx + dy * dy < discs[i].radius * discs[i].radius)
            return discs[i].light + 20.0f * sinf(0.9f * dx) * sinf(0.7f * dy);
    }
    x -= 2.3f * time;
    y += 1.4f * time;
    return 120.0f + 50.0f * sinf(0.13f * x + 0.05f * y) +
           30.0f * cosf(0.31f * y) * sinf(0.21f * x);
}

static void discs_make(struct disc *discs, const uint32_t *value,
                       uint64_t *seed)
{
    for (int i = 0; i < DISCS; i++)
        discs[i] = (struct disc){
            .x = data_uniform(seed, 0, (float)value[0]),
            .y = data_uniform(seed, 0, (float)value[1]),
            .radius = data_uniform(seed, 4, (float)value[1] / 6),
            .light = data_uniform(seed, 40, 220),
            .x_motion = data_uniform(seed, -5, 5),
            .y_motion = data_uniform(seed, -5, 5),
        };
}

static void sad_write(const struct data_request *request)
{
    uint64_t seed = request->seed;
    struct disc discs[DISCS];
    discs_make(discs, request->value, &seed);
    FILE *file = data_create(request->path, &sad_data, request->value);
    for (int time = 1; time >= 0; time--)
        for (uint32_t y = 0; y < request->value[1]; y++)
            for (uint32_t x = 0; x < request->value[0]; x++) {
                float light = scene(discs, (float)x, (float)y, (float)time) +
                              1.5f * data_normal(&seed);
                unsigned char pixel =
                    (unsigned char)fminf(fmaxf(light, 0), 255);
                data_write(file, &pixel, 1);
            }
    data_close(file, request->path);
}

const struct data_kind sad_data = {"sad",  sad_fields, SAD_FIELDS, small,
                                   medium, large,      gpu,        sad_write};

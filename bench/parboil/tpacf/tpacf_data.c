/*
 * A sky for tpacf: an observed set whose galaxies gather in clusters, and
 * random sets spread evenly over the same part of the sphere.
 */
#include "common/data.h"
#include "tpacf/tpacf.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const uint32_t small[] = {512, 8, 20, 5, 60};
static const uint32_t medium[] = {1024, 40, 20, 5, 60};
static const uint32_t large[] = {10391, 100, 20, 5, 60};
static const uint32_t gpu[] = {50000, 60, 20, 5, 60};

static const struct data_kind set_kind = {
    .name = "tpacfset", .fields = tpacf_set_fields, .count = 1};

/* A direction in the observed cap, 120 by 60 degrees. */
static void anywhere(float *place, uint64_t *seed)
{
    place[0] = data_uniform(seed, 100.0f, 220.0f);
    float height = data_uniform(seed, 0.0f, 0.866f);
    place[1] = asinf(height) * (float)(180 / M_PI);
}

static void set_write(const struct data_request *request, uint32_t set,
                      uint64_t *seed)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s.%03u", request->path, set);
    FILE *file = data_create(path, &set_kind, request->value);
    float centre[2] = {0, 0};
    for (uint32_t i = 0; i < request->value[0]; i++) {
        float point[TPACF_NUMBERS];
        anywhere(point, seed);
        if (set == 0 && i % 16 == 0)
            anywhere(centre, seed);
        if (set == 0 && i % 16 < 10) {
            point[0] = centre[0] + 0.7f * data_normal(seed);
            point[1] = fminf(centre[1] + 0.5f * data_normal(seed), 90.0f);
        }
        point[2] = fabsf(0.1f + 0.05f * data_normal(seed));
        data_write(file, point, sizeof point);
    }
    data_close(file, path);
}

static void tpacf_write(const struct data_request *request)
{
    uint64_t seed = request->seed;
    data_close(data_create(request->path, &tpacf_data, request->value),
               request->path);
    for (uint32_t set = 0; set <= request->value[1]; set++)
        set_write(request, set, &seed);
}

const struct data_kind tpacf_data = {"tpacf", tpacf_fields, TPACF_FIELDS,
                                     small,   medium,       large,
                                     gpu,     tpacf_write};

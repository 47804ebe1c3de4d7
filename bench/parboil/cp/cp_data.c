/*
 * Atoms for cp: a box of charges as large as the lattice, half of them at the
 * corners of a disturbed lattice as in a crystal, half anywhere as in water.
 */
#include "common/data.h"
#include "cp/cp.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t small[] = {128, 96, 4, 400, 250};
static const uint32_t medium[] = {384, 384, 8, 2000, 100};
static const uint32_t large[] = {512, 512, 32, 40000, 100};
static const uint32_t gpu[] = {1024, 1024, 32, 100000, 50};

static void atom_place(const struct data_request *request, uint32_t i,
                       float *atom, uint64_t *seed)
{
    const uint32_t *value = request->value;
    float spacing = (float)value[4] / 1000.0f;
    float edge[3] = {(float)value[0] * spacing, (float)value[1] * spacing,
                     (float)(value[2] + 40) * spacing};
    uint32_t side = (uint32_t)ceil(cbrt(value[3] / 2.0 + 1));
    uint32_t site[3] = {i / 2 % side, i / 2 / side % side, i / 2 / side / side};
    for (int k = 0; k < 3; k++) {
        float step = edge[k] / (float)side;
        atom[k] = i % 2 == 0 ? ((float)site[k] + 0.5f) * step +
                                   0.05f * step * data_normal(seed)
                             : data_uniform(seed, 0, edge[k]);
    }
    atom[3] = (site[0] + site[1] + site[2]) % 2 ? 1.0f : -1.0f;
    if (i % 2)
        atom[3] = data_uniform(seed, -0.8f, 0.8f);
}

static void cp_write(const struct data_request *request)
{
    uint64_t seed = request->seed;
    FILE *file = data_create(request->path, &cp_data, request->value);
    for (uint32_t i = 0; i < request->value[3]; i++) {
        float atom[4];
        atom_place(request, i, atom, &seed);
        data_write(file, atom, sizeof atom);
    }
    data_close(file, request->path);
}

const struct data_kind cp_data = {"cp",   cp_fields, CP_FIELDS, small,
                                  medium, large,     gpu,       cp_write};

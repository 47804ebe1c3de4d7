/*
 * Molecules for rpes: a cluster of water in the basis STO-3G, molecules turned
 * as they like on the sites of a cube.
 */
#include "common/data.h"
#include "rpes/rpes.h"

#include <math.h>

#define SHELLS 5    /* of a water molecule */
#define SITE   5.5f /* bohr between molecules */

static const uint32_t small[] = {10, 12};
static const uint32_t medium[] = {25, 12};
static const uint32_t large[] = {40, 12};
static const uint32_t gpu[] = {150, 12};

/* The 2s and 2p shells have the same exponents and other coefficients. */
static const struct rpes_primitive basis[] = {
    {130.7093214f, 0.1543289673f},  {23.80886605f, 0.5353281423f},
    {6.443608313f, 0.4446345422f},  {5.033151319f, -0.09996722919f},
    {1.169596125f, 0.3995128261f},  {0.3803889600f, 0.7001154689f},
    {5.033151319f, 0.1559162750f},  {1.169596125f, 0.6076837186f},
    {0.3803889600f, 0.3919573931f}, {3.425250914f, 0.1543289673f},
    {0.6239137298f, 0.5353281423f}, {0.1688554040f, 0.4446345422f},
};

static const struct {
    float place[3]; /* in the molecule, bohr */
    uint32_t axes, first;
} shells[SHELLS] = {
    {{0, 0, 0}, 1, 0},         {{0, 0, 0}, 1, 3},          {{0, 0, 0}, 3, 6},
    {{1.43f, 1.11f, 0}, 1, 9}, {{-1.43f, 1.11f, 0}, 1, 9},
};

/* Three orthogonal directions. */
static void turn_make(float turn[3][3], uint64_t *seed)
{
    for (int i = 0; i < 3; i++) {
        float length = 0;
        for (int k = 0; k < 3; k++)
            turn[i][k] = data_normal(seed);
        for (int before = 0; before < i; before++) {
            float along = 0;
            for (int k = 0; k < 3; k++)
                along += turn[i][k] * turn[before][k];
            for (int k = 0; k < 3; k++)
                turn[i][k] -= along * turn[before][k];
        }
        for (int k = 0; k < 3; k++)
            length += turn[i][k] * turn[i][k];
        for (int k = 0; k < 3; k++)
            turn[i][k] /= sqrtf(length);
    }
}

static void rpes_write(const struct data_request *request)
{
    uint64_t seed = request->seed;
    uint32_t count = request->value[0];
    uint32_t header[] = {count, sizeof basis / sizeof *basis};
    uint32_t edge = (uint32_t)ceil(cbrt(ceil(count / (double)SHELLS)));
    FILE *file = data_create(request->path, &rpes_data, header);
    float turn[3][3];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t molecule = i / SHELLS, shell = i % SHELLS;
        uint32_t site[3] = {molecule % edge, molecule / edge % edge,
                            molecule / edge / edge};
        struct rpes_shell out = {.axes = shells[shell].axes,
                                 .first = shells[shell].first,
                                 .count = 3};
        if (shell == 0)
            turn_make(turn, &seed);
        for (int k = 0; k < 3; k++) {
            out.centre[k] = (float)site[k] * SITE;
            for (int axis = 0; axis < 3; axis++)
                out.centre[k] += shells[shell].place[axis] * turn[axis][k];
        }
        data_write(file, &out, sizeof out);
    }
    data_write(file, basis, sizeof basis);
    data_close(file, request->path);
}

const struct data_kind rpes_data = {
    "rpes", rpes_fields, RPES_FIELDS, small, medium, large, gpu, rpes_write};

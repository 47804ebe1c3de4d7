/*
 * cp on the CPU: input, charges, and the potential in f64. See cp.h.
 *
 * Tolerance: 1e-5 of the sum of |charge| / distance. The kernel adds up in f32;
 * a sum of n terms is off by some sqrt(n) roundings of 6e-8.
 */
#include "cp/cp.h"
#include "cp/cp_kernel.h"

#include <math.h>
#include <stdlib.h>

#define CP_TOLERANCE 1e-5
/* Lattice points times atoms; above, only every n-th point is verified. */
#define CP_WORK 2e8

const struct input_field cp_fields[CP_FIELDS] = {
    {"nx", 1, 8192},
    {"ny", 1, 8192},
    {"planes", 1, 1024},
    {"atoms", 1, 1 << 20},
    {"spacing", 1, 100000} /* 1e-13 m */
};

void cp_open(struct cp *cp, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/cp.par");
    input_open(&cp->input, path, "cp", cp_fields, CP_FIELDS);
    const uint32_t *value = cp->input.value;
    cp->nx = (int)value[0];
    cp->ny = (int)value[1];
    cp->planes = (int)value[2];
    cp->atoms = (int)value[3];
    cp->spacing = (float)value[4] / 1000.0f;
    cp->atoms_bytes = (size_t)cp->atoms * 4 * sizeof(float);
    cp->plane_bytes = (size_t)cp->nx * (size_t)cp->ny * sizeof(float);
    cp->block = (struct bench_dim){CP_BLOCK_X, CP_BLOCK_Y, 1};
    cp->grid =
        (struct bench_dim){((unsigned)cp->nx + CP_BLOCK_X - 1) / CP_BLOCK_X,
                           ((unsigned)cp->ny + CP_BLOCK_Y - 1) / CP_BLOCK_Y, 1};
    input_expect(&cp->input, cp->atoms_bytes);
}

void cp_read(struct cp *cp, float *atoms)
{
    input_read(&cp->input, atoms, cp->atoms_bytes);
    input_close(&cp->input);
    bench_work();
    bench_enter(BENCH_CPU);
    input_check(&cp->input, "value", atoms, (size_t)cp->atoms * 4, -1e5f, 1e5f);
    double sum = 0;
    for (int i = 0; i < cp->atoms; i++)
        sum += (double)atoms[4 * i + 3];
    float mean = (float)(sum / cp->atoms);
    for (int i = 0; i < cp->atoms; i++)
        atoms[4 * i + 3] -= mean;
}

float cp_height(const struct cp *cp, int plane)
{
    return (float)plane * cp->spacing;
}

/* Potential at a point, and the sum of its terms' sizes. */
static double potential(const struct cp *cp, const float *atoms,
                        const double at[3], double *size)
{
    double sum = 0;
    *size = 0;
    for (int i = 0; i < cp->atoms; i++) {
        const float *atom = atoms + 4 * i;
        double x = at[0] - (double)atom[0], y = at[1] - (double)atom[1];
        double z = at[2] - (double)atom[2];
        double square = fmax(x * x + y * y + z * z, (double)CP_SQUARE_MIN);
        double term = (double)atom[3] / sqrt(square);
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static void verify(struct cp *cp)
{
    size_t points = (size_t)cp->nx * (size_t)cp->ny;
    size_t all = points * (size_t)cp->planes;
    const float *result = bench_result(all * sizeof(float));
    float *atoms = bench_alloc(cp->atoms_bytes);
    input_open(&cp->input, cp->input.path, "cp", cp_fields, CP_FIELDS);
    cp_read(cp, atoms);

    size_t stride = 1 + (size_t)((double)all * cp->atoms / CP_WORK);
    for (size_t i = 0; i < all; i += stride) {
        size_t point = i % points;
        double size,
            at[3] = {(double)((float)(point % (size_t)cp->nx) * cp->spacing),
                     (double)((float)(point / (size_t)cp->nx) * cp->spacing),
                     (double)cp_height(cp, (int)(i / points))};
        double want = potential(cp, atoms, at, &size);
        bench_check("potential", i, (double)result[i], want,
                    CP_TOLERANCE * size);
    }
    free(atoms);
}

void cp_finish(struct cp *cp)
{
    if (bench_end())
        verify(cp);
    bench_report();
}

/*
 * cp: the Coulomb potential of point charges on the planes of a lattice.
 *
 * Owns the input, the CPU's part of the work and the verification. Does not
 * own the atoms or the planes: each form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_CP_H
#define BENCH_PARBOIL_CP_H

#include "common/bench.h"
#include "common/input.h"

#define CP_FIELDS 5
extern const struct input_field cp_fields[CP_FIELDS];

struct cp {
    struct input input;
    int nx, ny, planes, atoms;
    float spacing; /* between lattice points, in 1e-10 m */
    size_t atoms_bytes, plane_bytes;
    struct bench_dim grid, block;
};

/** Command line and header of the input. */
void cp_open(struct cp *cp, int argc, char **argv);

/**
 * Read the atoms and centre their charges on zero in sum.
 *
 * @atoms  receives x, y, z and charge of each
 */
void cp_read(struct cp *cp, float *atoms);

/** Height of a plane of the lattice. */
float cp_height(const struct cp *cp, int plane);

/** Stop the clock, verify, report. */
void cp_finish(struct cp *cp);

#endif

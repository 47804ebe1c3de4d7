/*
 * heat3d: heat spreads in a block, some places of which are hot at first. Every
 * cell needs its six neighbours.
 *
 * Cut into parts across its planes, a boundary between two parts costs two
 * planes a step: each side reads the one beside its own. So 4 nx ny (steps - 1)
 * 2 (parts - 1) bytes go from device to device; those of the first step come
 * with the rest from the host.
 *
 * Owns the input and the verification. Does not own the cells. One thread.
 */
#ifndef BENCH_RANGES_HEAT3D_H
#define BENCH_RANGES_HEAT3D_H

#include <stddef.h>

#include "common/input.h"

#define HEAT3D_FIELDS 5
extern const struct input_field heat3d_fields[HEAT3D_FIELDS];

struct heat3d {
    long nx, ny, nz;
    int steps;
    uint32_t seed;
    float factor;
    size_t count, bytes; /* of all cells */
};

/** Command line and input. */
void heat3d_open(struct heat3d *heat, int argc, char **argv);

/** Cold cells, some hot places, and a side that is warm. */
void heat3d_make(const struct heat3d *heat, float *cells);

/** Write the cells, stop the clock, verify, report. */
void heat3d_finish(const struct heat3d *heat, const float *cells);

#endif

/*
 * fdtd: a wave in a plane, as finite differences in time: each step moves the
 * electric field along and across the rows, then the magnetic one (fdtd-2d of
 * PolyBench). A source holds the first row.
 *
 * The electric field along the columns, ey, needs the magnetic one of the row
 * before, hz, and hz needs ey of the row behind. So cut across its rows a
 * boundary between two parts costs two rows a step, one each way: 4 nx
 * (2 steps - 1) (parts - 1) bytes go from device to device, and the first row
 * of hz comes with the rest from the host.
 *
 * Owns the input and the verification. Does not own the fields. One thread.
 */
#ifndef BENCH_RANGES_FDTD_H
#define BENCH_RANGES_FDTD_H

#include <stddef.h>

#include "common/input.h"

#define FDTD_FIELDS 4
extern const struct input_field fdtd_fields[FDTD_FIELDS];

struct fdtd {
    long nx, ny;
    int steps;
    uint32_t seed;
    size_t count, bytes; /* of one field */
};

/** One value of each field for each of ny rows of nx. */
struct fields {
    float *ex, *ey, *hz;
};

/** Command line and input. */
void fdtd_open(struct fdtd *fdtd, int argc, char **argv);

/** Noise in all three fields. */
void fdtd_make(const struct fdtd *fdtd, const struct fields *fields);

/** What the source makes of ey in the first row in a step. */
float fdtd_source(int step);

/** Write the fields, stop the clock, verify, report. */
void fdtd_finish(const struct fdtd *fdtd, const struct fields *fields);

#endif

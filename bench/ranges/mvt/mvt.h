/*
 * mvt: two products of one matrix and vectors, x1 += A y1 by rows and
 * x2 += A' y2 by columns (mvt of PolyBench), some times over.
 *
 * Parts of the second call need columns of what the first one had in rows. So
 * A, of ny rows of nx, goes up once in all and then once more but for what a
 * device has already: 4 (2 nx ny - sum of rows * columns of a part) bytes in
 * several parts. Later turns bring nothing of it, and nothing ever goes from one
 * device to another. y1 and y2 are whole on every device.
 *
 * Owns the input and the verification. Does not own the data. One thread.
 */
#ifndef BENCH_RANGES_MVT_H
#define BENCH_RANGES_MVT_H

#include <stddef.h>

#include "common/input.h"

#define MVT_FIELDS 4
extern const struct input_field mvt_fields[MVT_FIELDS];

struct mvt {
    long nx, ny;
    int turns;
    uint32_t seed;
};

struct mvt_data {
    float *a;       /* ny rows of nx */
    float *x1, *y2; /* ny */
    float *x2, *y1; /* nx */
};

/** Command line and input. */
void mvt_open(struct mvt *mvt, int argc, char **argv);

/** Noise in all five. */
void mvt_make(const struct mvt *mvt, const struct mvt_data *data);

/** Write x1 and x2, stop the clock, verify, report. */
void mvt_finish(const struct mvt *mvt, const struct mvt_data *data);

#endif

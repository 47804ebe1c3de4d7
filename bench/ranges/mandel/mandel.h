/*
 * mandel: the Mandelbrot set, some steps a call. What the pixels have come to
 * stays where it is between calls.
 *
 * Owns the input, the picture and the verification. Does not own the points.
 * One thread.
 */
#ifndef BENCH_RANGES_MANDEL_H
#define BENCH_RANGES_MANDEL_H

#include <stddef.h>

#include "common/input.h"
#include "mandel_kernel.h"

#define MANDEL_FIELDS 5
extern const struct input_field mandel_fields[MANDEL_FIELDS];

struct mandel {
    long nx, ny;
    int calls, steps; /* steps of one call */
    struct mandel_view view;
    size_t bytes; /* of all points */
};

/** Command line and input. */
void mandel_open(struct mandel *mandel, int argc, char **argv);

/** Write the points and the picture, stop the clock, verify, report. */
void mandel_finish(const struct mandel *mandel,
                   const struct mandel_point *points);

#endif

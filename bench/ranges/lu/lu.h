/*
 * lu: a square matrix becomes the product of a lower and an upper triangle,
 * one call for each column.
 *
 * Owns the input and the verification. Does not own the matrix. One thread.
 */
#ifndef BENCH_RANGES_LU_H
#define BENCH_RANGES_LU_H

#include <stddef.h>

#include "common/input.h"

#define LU_FIELDS 2
extern const struct input_field lu_fields[LU_FIELDS];

struct lu {
    long n;
    uint32_t seed;
    size_t bytes; /* of the matrix */
};

/** Command line and input. */
void lu_open(struct lu *lu, int argc, char **argv);

/** Make the matrix: random, its diagonal larger than the rest of each row. */
void lu_make(const struct lu *lu, float *matrix);

/**
 * Write the result, stop the clock, verify, report.
 *
 * @matrix  the upper triangle, and below it the lower one, whose diagonal is 1
 */
void lu_finish(const struct lu *lu, const float *matrix);

#endif

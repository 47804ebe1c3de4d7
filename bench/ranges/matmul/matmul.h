/*
 * matmul: the product of two matrices, C = A B.
 *
 * Owns the input and the verification. Does not own the matrices. One thread.
 */
#ifndef BENCH_RANGES_MATMUL_H
#define BENCH_RANGES_MATMUL_H

#include <stddef.h>
#include <stdint.h>

#include "common/input.h"

#define MATMUL_FIELDS 4
extern const struct input_field matmul_fields[MATMUL_FIELDS];

struct matmul {
    long rows, inner, columns; /* A is rows x inner, B is inner x columns */
    uint32_t seed;
    size_t bytes; /* of C */
};

/** Command line and input. */
void matmul_open(struct matmul *m, int argc, char **argv);

/** Draw A and B. */
void matmul_make(const struct matmul *m, float *a, float *b);

/** Write C, stop the clock, verify, report. */
void matmul_finish(const struct matmul *m, const float *c);

#endif

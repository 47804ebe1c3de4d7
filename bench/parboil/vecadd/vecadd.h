/*
 * vecadd: the CPU makes two vectors, the device adds them, the CPU uses the
 * sum.
 *
 * Owns the input, the CPU's part of the work and the verification. Does not
 * own the vectors: each form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_VECADD_H
#define BENCH_PARBOIL_VECADD_H

#include "common/bench.h"
#include "common/input.h"

#define VECADD_FIELDS 3
extern const struct input_field vecadd_fields[VECADD_FIELDS];

struct vecadd {
    struct input input;
    int elements;
    size_t bytes; /* of one vector */
    struct bench_dim grid, block;
};

/** Command line and header of the input. */
void vecadd_open(struct vecadd *add, int argc, char **argv);

/** Make a vector; `which` is 0 or 1. */
void vecadd_make(const struct vecadd *add, int which, float *values);

/** The next `count` values of one. @state  where it is, at first its seed */
void vecadd_make_some(uint32_t *state, float *values, size_t count);

/** Stop the clock, verify, report. */
void vecadd_finish(struct vecadd *add);

#endif

/*
 * floyd: the shortest ways between all pairs of places, by way of one more place
 * in each step (Floyd and Warshall).
 *
 * Owns the input and the verification. Does not own the matrix. One thread.
 */
#ifndef BENCH_RANGES_FLOYD_H
#define BENCH_RANGES_FLOYD_H

#include <stddef.h>
#include <stdint.h>

#include "common/input.h"

#define FLOYD_FIELDS 3
extern const struct input_field floyd_fields[FLOYD_FIELDS];

struct floyd {
    long n;     /* places */
    long steps; /* places by way of which ways go, the first ones; or n */
    uint32_t seed;
    size_t bytes; /* of the matrix */
};

/** Command line and input. */
void floyd_open(struct floyd *floyd, int argc, char **argv);

/** Make the matrix: element (i, j) is how long the road from i to j is. There is
 *  one from every place to some. */
void floyd_make(const struct floyd *floyd, int32_t *path);

/** Write the result, stop the clock, verify, report. */
void floyd_finish(const struct floyd *floyd, const int32_t *path);

#endif

/*
 * tpacf: the two-point angular correlation function of a set of galaxies.
 *
 * Owns the input (one file that describes the sets, one file per set), the
 * CPU's part of the work and the verification. Does not own the arrays: each
 * form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_TPACF_H
#define BENCH_PARBOIL_TPACF_H

#include "common/bench.h"
#include "common/input.h"
#include "tpacf/tpacf_kernel.h"

#define TPACF_FIELDS 5
extern const struct input_field tpacf_fields[TPACF_FIELDS];
extern const struct input_field tpacf_set_fields[1];

struct tpacf {
    struct input input;
    int points; /* in each set */
    int sets;   /* the observed one, then the random ones */
    int edges;
    int histograms; /* of the data, then two for each random set */
    size_t points_bytes, set_bytes, edges_bytes, histogram_bytes;
    struct bench_dim grid, block;
};

/** Command line and description. */
void tpacf_open(struct tpacf *sky, int argc, char **argv);

/**
 * Read all sets, one file behind the other, then turn degrees into radians,
 * then angles into points of the unit sphere: three passes over the array.
 *
 * @points  receives TPACF_NUMBERS numbers of each point
 */
void tpacf_read(struct tpacf *sky, float *points);

/** Its parts: all files as they are, and the first `sets` sets turned. */
void tpacf_load(struct tpacf *sky, float *points);
void tpacf_turn(const struct tpacf *sky, float *points, int sets);

/** Edges of the bins: squares of chords. */
void tpacf_edges(const struct tpacf *sky, float *edge);

/** The estimate of the correlation; given to bench_output with the counts. */
void tpacf_estimate(const struct tpacf *sky, const unsigned *histograms);

/** Stop the clock, verify, report. */
void tpacf_finish(struct tpacf *sky);

#endif

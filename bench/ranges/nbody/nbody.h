/*
 * nbody: bodies that attract each other, each with each, in small steps of
 * time.
 *
 * Owns the input, the picture and the verification. Does not own the bodies.
 * One thread.
 */
#ifndef BENCH_RANGES_NBODY_H
#define BENCH_RANGES_NBODY_H

#include "common/input.h"
#include "nbody_kernel.h"

#define NBODY_FIELDS 3
extern const struct input_field nbody_fields[NBODY_FIELDS];

struct nbody {
    long n;
    int steps;
    uint32_t seed;
    float dt;
};

/** Command line and input. */
void nbody_open(struct nbody *nbody, int argc, char **argv);

/** Place the bodies: a disc that turns around a heavy one in its middle. */
void nbody_make(const struct nbody *nbody, struct nbody_body *bodies);

/** Write the bodies and the picture, stop the clock, verify, report. */
void nbody_finish(const struct nbody *nbody, const struct nbody_body *bodies);

#endif

/*
 * sph: smoothed particle hydrodynamics. A column of water falls over in a
 * basin; three calls for each step of time.
 *
 * Owns the input, the law, the picture and the verification. Does not own the
 * drops. One thread.
 */
#ifndef BENCH_RANGES_SPH_H
#define BENCH_RANGES_SPH_H

#include "common/input.h"
#include "sph_kernel.h"

#define SPH_FIELDS 3
extern const struct input_field sph_fields[SPH_FIELDS];

struct sph {
    long n;
    int steps;
    uint32_t seed;
    struct sph_law law;
};

/** Command line and input. */
void sph_open(struct sph *sph, int argc, char **argv);

/** Stack the drops up at one side of the basin, a little out of line. */
void sph_make(const struct sph *sph, struct sph_drop *drops);

/** Write the drops and the picture, stop the clock, verify, report. */
void sph_finish(const struct sph *sph, const struct sph_drop *drops);

#endif

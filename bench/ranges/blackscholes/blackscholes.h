/*
 * blackscholes: what options are worth (Black and Scholes), each for itself.
 *
 * Owns the input and the verification. Does not own the arrays. One thread.
 */
#ifndef BENCH_RANGES_BLACKSCHOLES_H
#define BENCH_RANGES_BLACKSCHOLES_H

#include <stddef.h>
#include <stdint.h>

#include "blackscholes/blackscholes_kernel.h"
#include "common/input.h"

#define BLACKSCHOLES_FIELDS 2
extern const struct input_field blackscholes_fields[BLACKSCHOLES_FIELDS];

struct blackscholes {
    long options;
    uint32_t seed;
    struct price_market market;
    size_t bytes; /* of each array */
};

/** Command line and input. */
void blackscholes_open(struct blackscholes *b, int argc, char **argv);

/** Draw the options: price of the share, of the option, and years. */
void blackscholes_make(const struct blackscholes *b, float *share,
                       float *strike, float *years);

/** Write the results, stop the clock, verify, report. */
void blackscholes_finish(const struct blackscholes *b, const float *call,
                         const float *put);

#endif

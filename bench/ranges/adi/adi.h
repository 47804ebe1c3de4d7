/*
 * adi: alternating directions, a sweep along every row of a square, then one
 * along every column (adi of PolyBench). Within a row or a column each value
 * needs the one before, so it is whole on one device.
 *
 * Where the sweeps along rows have left two arrays in rows, those along columns
 * need them in columns: every call but the first moves all of both but for what
 * a device has already. With n^2 - (sum of rows * columns of a part) elements
 * elsewhere, 8 elsewhere (2 steps - 1) bytes go from device to device. The third
 * array is read only and comes once in rows and once in columns, from the host.
 * This grows with the number of devices, and with n^2 as the computation does.
 *
 * Owns the input and the verification. Does not own the arrays. One thread.
 */
#ifndef BENCH_RANGES_ADI_H
#define BENCH_RANGES_ADI_H

#include <stddef.h>

#include "common/input.h"

#define ADI_FIELDS 3
extern const struct input_field adi_fields[ADI_FIELDS];

struct adi {
    long n;
    int steps;
    uint32_t seed;
    size_t count, bytes; /* of one array */
};

/** Three arrays of n rows of n. */
struct adi_data {
    float *x, *b;
    float *a; /* read only */
};

/** Command line and input. */
void adi_open(struct adi *adi, int argc, char **argv);

/** Random values, such that b stays near 1 and x is of its order in the end. */
void adi_make(const struct adi *adi, const struct adi_data *data);

/** Write x, stop the clock, verify, report. */
void adi_finish(const struct adi *adi, const struct adi_data *data);

#endif

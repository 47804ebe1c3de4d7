/*
 * heat: heat spreads in a plate that the CPU touches with something hot now and
 * then. Every cell needs its four neighbours.
 *
 * Owns the input, the picture and the verification. Does not own the cells. One
 * thread.
 */
#ifndef BENCH_RANGES_HEAT_H
#define BENCH_RANGES_HEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/input.h"

#define HEAT_FIELDS 5
extern const struct input_field heat_fields[HEAT_FIELDS];

struct heat {
    long nx, ny;
    int steps, every; /* the CPU comes before each `every`-th step */
    uint32_t seed;
    float factor;
    size_t bytes; /* of all cells */
};

/** Cells that the CPU heats, without `bottom` and `right`. */
struct heat_spot {
    long top, bottom, left, right;
};

/** Command line and input. */
void heat_open(struct heat *heat, int argc, char **argv);

/** Cold cells, and an edge that is warm above and cold below. */
void heat_make(const struct heat *heat, float *cells);

/** The place that the CPU heats before a step. Return: false when it is not
 *  time, or the place is at the edge of the plate */
bool heat_spot(const struct heat *heat, int step, struct heat_spot *spot);

/** Cells that are as hot as the largest spot needs them; NULL: none. Return:
 *  their bytes */
size_t heat_hot(const struct heat *heat, float *cells);

/** What the CPU does before a step: heat one place, if it is time. */
void heat_touch(const struct heat *heat, int step, float *cells);

/** Write the cells and the picture, stop the clock, verify, report. */
void heat_finish(const struct heat *heat, const float *cells);

#endif

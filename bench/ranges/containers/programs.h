/*
 * The call sequences of programs, as data: what each call reads and writes of
 * which arrays, and what the CPU does in between. Owns no contents; whoever
 * keeps the arrays goes through the steps (containers_run.c, engine_run.c).
 *
 * The arrays of a program have the same number of elements, over which all of
 * its calls run; calls compute what mix.h says.
 */
#ifndef BENCH_RANGES_CONTAINERS_PROGRAMS_H
#define BENCH_RANGES_CONTAINERS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "mix.h"

enum { PROGRAM_ARRAYS = 4, NONE = -1 };

enum step_what { CALL, LOOK, FILL };

struct step {
    enum step_what what;
    int a, b, out;         /* CALL: arrays or NONE; else `out` is meant */
    bool a_whole, b_whole; /* CALL: every part reads all of it */
    bool update;           /* CALL, FILL: the old contents are read too */
    bool one;              /* LOOK, FILL: the element in the middle only */
};

struct program {
    const char *name;
    int arrays;
    long n;
    unsigned words[PROGRAM_ARRAYS]; /* of an element */
    int count;
    struct step *step;
};

/** Fig. 2: one vector of n floats, four calls, the CPU twice.
 *  @one  it uses one element only */
struct program program_fig2(long n, bool one);

/** Two arrays of n bodies that a call fills each; `calls` that read all of one
 *  and their share of it, and write the other; the CPU reads the result. */
struct program program_nbody(long n, int calls);

/** The CPU makes a matrix of n rows of n floats; `calls`, n - 1 of them for the
 *  whole decomposition, read all of it and write rows of another; the CPU reads
 *  the result. */
struct program program_lu(long n, int calls);

/** Three calls a step over n drops, their states and what pushes them. */
struct program program_sph(long n, int steps);

/** `calls` that update n points which the CPU has cleared. */
struct program program_mandel(long n, int calls);

/** Two images of n chunks; two calls and the CPU after each. */
struct program program_ppmcc(long n);

/** Two images of n chunks, one call. */
struct program program_mse(long n);

/** One of these by its name; `calls` where it has them. */
bool program_by_name(struct program *program, const char *name, long n,
                     int calls);

void program_free(struct program *program);

size_t program_bytes(const struct program *program, int array);

/** The scalars of a call. */
struct mix program_mix(const struct program *program, int step);

/** The share of part k of so many: first element, and number of them. */
long program_first(const struct program *program, int part, int parts);

/** Do a step on arrays in one memory: what the others are compared with. */
void program_step(const struct program *program, int step,
                  unsigned *const array[]);

/** Elements that the CPU uses in a LOOK or FILL: the first, and how many. */
long program_span(const struct program *program, int step, long *count);

/** What FILL puts into an array. */
void program_fill(const struct program *program, int step, unsigned *array);

#endif

/*
 * rpes: two-electron repulsion integrals of a molecule, with the polynomials
 * of Rys.
 *
 * Owns the input, the CPU's part of the work (products of Gaussians, one pair
 * of shells at a time, and the table of roots) and the verification. Does not
 * own the arrays: each form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_RPES_H
#define BENCH_PARBOIL_RPES_H

#include "common/bench.h"
#include "common/input.h"
#include "rpes/rpes_kernel.h"

#define RPES_FIELDS 2
extern const struct input_field rpes_fields[RPES_FIELDS];

/* As in the file. */
struct rpes_shell {
    float centre[3];
    uint32_t axes;         /* 1: an s shell, 3: a p shell */
    uint32_t first, count; /* its primitives */
};

struct rpes_primitive {
    float exponent, coefficient;
};

struct rpes {
    struct input input;
    int shells, primitives, pairs;
    struct rpes_shell *shell;
    struct rpes_primitive *primitive;
    size_t integrals; /* all of them */

    /* Room that the arrays need. */
    size_t integrals_bytes, pairs_bytes, products_bytes, kets_bytes;
    size_t table_bytes;
};

/** What the CPU adds to the arrays for one pair, and where its row is. */
struct rpes_step {
    int pair, first_product, products, first_ket, kets;
    size_t row; /* the first integral */
    struct bench_dim grid, block;
};

/** Command line, and the molecule. */
void rpes_open(struct rpes *rpes, int argc, char **argv);

/** Fill the table of roots and weights: RPES_TABLE numbers. */
void rpes_table(float *table);

/** The step before the first. */
struct rpes_step rpes_begin(const struct rpes *rpes);

/**
 * Go on to the next pair: append it to the arrays.
 *
 * Return: false when there is none
 */
bool rpes_next(const struct rpes *rpes, struct rpes_step *step,
               struct rpes_pair *pairs, struct rpes_product *products,
               struct rpes_ket *kets);

/** Stop the clock, verify, report. */
void rpes_finish(struct rpes *rpes);

/* ---- rpes_verify.c ------------------------------------------------------ */

/** Compare integrals with those of another method in f64. */
void rpes_verify(const struct rpes *rpes, const float *integrals);

#endif

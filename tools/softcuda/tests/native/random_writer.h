/*
 * What the parts of the random kernels' writer share; see random_kernel.h.
 *
 * random_kernel.c writes what is around the statements that
 * random_statement.c writes; "uniform" there: every thread of the CTA that has
 * not exited is here, so barriers and warp operations may stand. No state.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_RANDOM_WRITER_H
#define TESTS_SOFTCUDA_NATIVE_RANDOM_WRITER_H

#include <stdio.h>

#include "random_kernel.h"

enum {
    KINDS = 6,
    WORDS = 4, /* registers of kinds s, l, p */
    LONGS = 2,
    PREDS = 3,
    SLOTS = 16,
    DEPTH = 4,    /* of control flow */
    LOOPS = 3,    /* within each other */
    UNIFORMS = 3, /* registers that are the same in a CTA */
    CELLS = 8,    /* of each atomic operation */
    ROW = SLOTS * 8
};

#define RANDOM_KINDS "slhfdp"

/** Registers of a kind, by its place in RANDOM_KINDS. */
static const int random_kind_counts[] = {WORDS, LONGS, 2, 3, 2, PREDS};

struct writer {
    FILE *out;
    uint64_t state;
    const struct random_kernel *kernel;
    uint32_t cta_threads;
    int labels, budget, depth, loops, scratch, counters;
    int counter[LOOPS]; /* of the loops around */
    unsigned features;
    bool exits;
    /* where `break`, `continue` and jumps out of branches may go; 0 = nowhere */
    int leave, next;
};

/** Append text. Every statement has scratch registers of its own: %x, %y, %xl
 *  and %xh get its number. */
void random_put(struct writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A number below n. */
uint32_t random_roll(struct writer *w, uint32_t n);

/** Append one statement, which may hold others. */
void random_statement(struct writer *w, bool uniform);

#endif

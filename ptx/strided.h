/*
 * Sets of numbers as a lowest one and strides, for values that a register may
 * have.
 *
 * Each term adds any of 0, step, 2 * step ... (count - 1) * step; a set has all
 * sums of the lowest number and what its terms add. Numbers stand for patterns
 * as in ptx/interval.h. An operation gives a set that has every possible result
 * in it, and maybe more. Terms know nothing of each other: x + x is what two
 * numbers of the set make. Knows nothing of programs. No lock.
 */
#ifndef SOFTCUDA_PTX_STRIDED_H
#define SOFTCUDA_PTX_STRIDED_H

#include "ptx/interval.h"

enum { SC_TERMS_MOST = 4 };

struct sc_term {
    uint64_t step, count;
};

struct sc_strided {
    sc_wide lo;
    bool known; /* otherwise: anything, and all else means nothing */
    uint8_t count;
    struct sc_term term[SC_TERMS_MOST]; /* the largest step first; 2 at least */
};

#define SC_STRIDED_ANY ((struct sc_strided){.known = false})

/** All numbers of an interval; of one that has none, or very many: anything. */
struct sc_strided sc_strided_of(struct sc_interval a);

/** From the lowest to the highest number of a set that is known. */
struct sc_interval sc_strided_hull(const struct sc_strided *a);

/** Is the number, and not another of its pattern, in a set that is known? */
bool sc_strided_has(const struct sc_strided *a, sc_wide number);

/** Sums of a number of each. */
struct sc_strided sc_strided_add(const struct sc_strided *a,
                                 const struct sc_strided *b);

/** All numbers with the other sign. */
struct sc_strided sc_strided_turned(const struct sc_strided *a);

/** All numbers times one. */
struct sc_strided sc_strided_times(const struct sc_strided *a, sc_wide number);

/** Bits of a number of each, one or the other or both. */
struct sc_strided sc_strided_or(const struct sc_strided *a,
                                const struct sc_strided *b);

/** Numbers of a or of b. */
struct sc_strided sc_strided_join(const struct sc_strided *a,
                                  const struct sc_strided *b);

/** The same patterns as numbers of a type. */
struct sc_strided sc_strided_typed(const struct sc_strided *a, unsigned bits,
                                   bool is_signed);

/** Those of a that are patterns of the interval. */
struct sc_strided sc_strided_cut(const struct sc_strided *a,
                                 struct sc_interval to, unsigned bits);

#endif

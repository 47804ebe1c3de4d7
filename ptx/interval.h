/*
 * Sets of numbers as intervals, for values that a register may have.
 *
 * [lo, hi] stands for every pattern of `bits` bits that equals some number of
 * the interval modulo 2^bits: sums and products need no care for wrapping, and
 * whoever takes a pattern for a signed or an unsigned number asks for it. An
 * operation gives a set that has every possible result in it, and maybe more.
 * Knows nothing of programs. No lock.
 */
#ifndef SOFTCUDA_PTX_INTERVAL_H
#define SOFTCUDA_PTX_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

typedef __int128 sc_wide;

struct sc_interval {
    sc_wide lo, hi; /* lo > hi: no number */
};

#define SC_INTERVAL_NONE ((struct sc_interval){0, -1})

enum sc_relation { SC_LT, SC_LE, SC_GT, SC_GE, SC_EQ, SC_NE };

static inline bool sc_interval_is_none(struct sc_interval a)
{
    return a.lo > a.hi;
}

static inline struct sc_interval sc_interval_of(sc_wide lo, sc_wide hi)
{
    return (struct sc_interval){lo, hi};
}

static inline bool sc_interval_is_one(struct sc_interval a)
{
    return a.lo == a.hi;
}

/** Every pattern. */
struct sc_interval sc_interval_any(unsigned bits);

/** The same patterns as numbers of a type; all its numbers where the interval
 *  runs over an end of them. */
struct sc_interval sc_interval_signed(struct sc_interval a, unsigned bits);
struct sc_interval sc_interval_unsigned(struct sc_interval a, unsigned bits);
struct sc_interval sc_interval_typed(struct sc_interval a, unsigned bits,
                                     bool is_signed);

/** Small numbers for the same patterns, or more of them. */
struct sc_interval sc_interval_trim(struct sc_interval a, unsigned bits);

/** Whether all patterns of b are patterns of a. */
bool sc_interval_has(struct sc_interval a, struct sc_interval b, unsigned bits);

/** Patterns of a or of b. */
struct sc_interval sc_interval_join(struct sc_interval a, struct sc_interval b,
                                    unsigned bits);

struct sc_interval sc_interval_add(struct sc_interval a, struct sc_interval b);
struct sc_interval sc_interval_sub(struct sc_interval a, struct sc_interval b);
struct sc_interval sc_interval_mul(struct sc_interval a, struct sc_interval b,
                                   unsigned bits);
struct sc_interval sc_interval_shl(struct sc_interval a, struct sc_interval by,
                                   unsigned bits);
struct sc_interval sc_interval_shr(struct sc_interval a, struct sc_interval by,
                                   unsigned bits, bool is_signed);
struct sc_interval sc_interval_div(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed);
struct sc_interval sc_interval_rem(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed);
struct sc_interval sc_interval_and(struct sc_interval a, struct sc_interval b,
                                   unsigned bits);
/** Also of an exclusive or. */
struct sc_interval sc_interval_or(struct sc_interval a, struct sc_interval b,
                                  unsigned bits);
struct sc_interval sc_interval_min(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed);
struct sc_interval sc_interval_max(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed);

/** Those of a that are in the relation to some number of b. */
struct sc_interval sc_interval_cut(struct sc_interval a, enum sc_relation is,
                                   struct sc_interval b, unsigned bits,
                                   bool is_signed);

/** The relation that holds where this one does not, and the one of b to a. */
enum sc_relation sc_relation_not(enum sc_relation relation);
enum sc_relation sc_relation_turned(enum sc_relation relation);

#endif

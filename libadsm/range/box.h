/*
 * Boxes: sets of bytes of a row-major array that are half-open in each of 1 to
 * 3 dimensions.
 *
 * In this layer the innermost dimension counts bytes, whatever the elements
 * are. Boxes that meet in an operation have the same number of dimensions, lie
 * in a shape whose lower ends are 0 and whose volume fits in 47 bits, and their
 * unused entries are 0: callers check that once, when a shape is given. A box
 * with an extent of 0 or less is empty. No lock, no memory, no state.
 *
 * The set operations are those of Ramashekar and Bondhugula ("Automatic Data
 * Allocation and Buffer Management for Multi-GPU Machines", Table I), at run
 * time and exact. Theirs of "simple union" is a list of boxes; adsm_box_join
 * says when two of such a list are one.
 *
 * Thread: any, and Signal: any handler, for everything here.
 */
#ifndef ADSM_RANGE_BOX_H
#define ADSM_RANGE_BOX_H

#include "adsm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ADSM_BOX_PIECES = 6, /* most that a subtraction leaves    */
    ADSM_BOX_CUTS = 5,   /* most boxes in an interval of bytes */
};

static inline bool adsm_box_is_empty(const adsmBox *box)
{
    for (int d = 0; d < box->nd; d++)
        if (box->hi[d] <= box->lo[d])
            return true;
    return false;
}

/** Two empty boxes may differ. */
static inline bool adsm_box_equal(const adsmBox *a, const adsmBox *b)
{
    for (int d = 0; d < a->nd; d++)
        if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])
            return false;
    return true;
}

/** Subset: does `a` lie in `b`? Not asked of an empty `a`. */
static inline bool adsm_box_within(const adsmBox *a, const adsmBox *b)
{
    for (int d = 0; d < a->nd; d++)
        if (a->lo[d] < b->lo[d] || a->hi[d] > b->hi[d])
            return false;
    return true;
}

/** Do two boxes that are not empty have a byte in common? */
static inline bool adsm_box_meets(const adsmBox *a, const adsmBox *b)
{
    for (int d = 0; d < a->nd; d++)
        if (a->hi[d] <= b->lo[d] || b->hi[d] <= a->lo[d])
            return false;
    return true;
}

/** Intersection; empty when they do not meet. */
static inline adsmBox adsm_box_meet(const adsmBox *a, const adsmBox *b)
{
    adsmBox out = *a;
    for (int d = 0; d < a->nd; d++) {
        if (b->lo[d] > out.lo[d])
            out.lo[d] = b->lo[d];
        if (b->hi[d] < out.hi[d])
            out.hi[d] = b->hi[d];
    }
    return out;
}

/** Number of bytes; 0 when empty. */
static inline size_t adsm_box_bytes(const adsmBox *box)
{
    size_t bytes = 1;
    for (int d = 0; d < box->nd; d++) {
        if (box->hi[d] <= box->lo[d])
            return 0;
        bytes *= (size_t)(box->hi[d] - box->lo[d]);
    }
    return bytes;
}

/** Convex union: the smallest box around both, neither of them empty. */
adsmBox adsm_box_hull(const adsmBox *a, const adsmBox *b);

/**
 * The bytes of `a` that are not in `b`, as disjoint boxes: slabs of dimension 0
 * first, low before high.
 *
 * @a    not empty; @b  any
 * Return: their number, 0 to 2 * nd
 */
int adsm_box_subtract(const adsmBox *a, const adsmBox *b,
                      adsmBox out[ADSM_BOX_PIECES]);

/** Simple union: when two boxes that are not empty are one box together, store
 *  it and return true. */
bool adsm_box_join(const adsmBox *a, const adsmBox *b, adsmBox *out);

/** Number of bytes in the union of `n` boxes; small n. */
size_t adsm_box_union_bytes(const adsmBox *boxes, int n);

/**
 * Bytes [begin, end) of an array as disjoint boxes, in the order of their
 * bytes.
 *
 * @whole  the array's shape; @end  at most its bytes
 * Return: their number, 0 to 2 * nd - 1
 */
int adsm_box_of_bytes(const adsmBox *whole, size_t begin, size_t end,
                      adsmBox out[ADSM_BOX_CUTS]);

/** Distances in bytes between neighbours in each dimension of a box whose bytes
 *  are stored row by row without gaps. */
void adsm_box_pitches(const adsmBox *box, size_t pitch[3]);

/** Where the first byte of `box` is stored when the first one of `in` is at 0,
 *  by these distances between neighbours. */
size_t adsm_box_offset(const adsmBox *box, const adsmBox *in,
                       const size_t pitch[3]);

#endif

/*
 * How a call's range is cut into parts, and which device gets which.
 *
 * Pure arithmetic: no device, no object. A range is cut into a grid, each
 * dimension that may be cut into strips: as many parts as devices (1:1), sized
 * by how fast each was; more of equal size (1:m), dealt out in blocks of
 * neighbours or round robin; or tiles of a given extent. Of the grids that give
 * as many parts the one is taken whose cuts cost the least bytes of
 * neighbours, of those the one that cuts fewer dimensions, then outer ones: an
 * overlap along columns is cut by columns where that is possible.
 *
 * Lock: none. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_SPLIT_H
#define ADSM_CALL_SPLIT_H

#include "adsm.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ADSM_SPLIT_DEVICES = 32, /* bits of adsmOpts.devices */
    ADSM_SPLIT_PARTS = 4096, /* most of one call */
};

struct adsm_split {
    adsmBox range;
    int devices;   /* 1 or more */
    int parts;     /* 0: one per device */
    long tile[3];  /* where one is above 0: extents of a part; 0: not cut */
    bool cyclic;   /* dealt round robin */
    long align;    /* 0, or parts begin at multiples of it in the outermost
                     dimension that is cut */
    bool may[3];   /* the dimension may be cut; tiles do as they say */
    long grain[3]; /* 0, or parts begin at multiples of it */
    /* Bytes that a cut across a dimension costs, per index of the face. */
    double halo[3];
    double share[ADSM_SPLIT_DEVICES]; /* of each device; together 1 */
    /* NULL, or `parts` + 1 of the outermost dimension, which alone is cut. */
    const long *borders;
};

struct adsm_split_part {
    adsmBox box; /* not empty */
    int device;  /* from 0 to devices - 1 */
    int round;   /* those of one are issued at once; 0 */
    /* Which part of the call it is, or is a piece of, and of how many. */
    int index, count;
};

/** How many indices a box has. */
static inline double adsm_split_indices(const adsmBox *box)
{
    double n = 1;
    for (int d = 0; d < box->nd; d++)
        n *= (double)(box->hi[d] - box->lo[d]);
    return n;
}

/** The least that both divide, for `align` and `grain`: of what is 0 or 1 the
 *  other one; LONG_MAX where it would be more. */
long adsm_split_common(long a, long b);

/**
 * Cut a range: disjoint boxes that cover it, in the order of the grid. Where
 * there are fewer indices than parts there are fewer parts.
 *
 * @parts  room for ADSM_SPLIT_PARTS
 * @grid   strips of each dimension
 * Return: their number; -1 when there would be more than ADSM_SPLIT_PARTS
 */
int adsm_split_make(const struct adsm_split *split,
                    struct adsm_split_part *parts, int grid[3]);

#endif

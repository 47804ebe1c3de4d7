/*
 * What a kernel reads beyond the edge of an array: the margin of a copy.
 *
 * A margin is filled anew for each call, after what the copy has of the array
 * itself; nobody else knows of it. Corners as well: each dimension of a byte
 * beyond the edge says on its own where it comes from.
 *
 * An array that is no box of its object's map, since it begins inside the object
 * or others lie in it, has no room for a margin around it in any copy's memory.
 * It is framed: what the kernel reads of the array itself is brought in the same
 * way, row by row, to memory that is laid out like the array.
 */
#ifndef ADSM_RANGE_EDGE_H
#define ADSM_RANGE_EDGE_H

#include "range/want.h"

/**
 * Enqueue what fills the margin of a want's copy. Its object's lock is held
 * exclusively and a use of the map has begun.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM; a device's error. Thread: any. Signal: never
 */
int adsm_edge_fill(struct adsm_want *want) ADSM_MUST_CHECK;

/**
 * In one dimension of `n` indices, those from `x` on that come from indices
 * which follow each other: those up to the return value, at most `hi`.
 *
 * @unit  indices of an element
 * @from  the first of them; -1 where ADSM_EDGE_PAD names the element
 */
long adsm_edge_stretch(adsmEdge edge, long n, long unit, long x, long hi,
                       long *from);

#endif

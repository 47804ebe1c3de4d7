/*
 * Grains: how much of one an access opens.
 *
 * An access opens one block. Where it goes on from others that are open, it
 * opens as many as those are, up to the end of the grain: 1, 1, 2, 4 blocks of
 * 256 KiB and from then on grains as a whole. A program that goes through an
 * object faults once in 2 MiB, changes the protection of all of it at once,
 * which on a huge page is one entry of the page table, and sends it in one
 * piece. Behind many grains that are written a write opens a quarter of their
 * number, on huge pages: a change of protection interrupts all other threads,
 * and one in 8 MiB is as quick. What is accessed here and there has blocks, and
 * the huge page's mapping at A is split for them until an access opens all of it
 * again (mm/object/paging.h). A read that makes most of a grain be there brings the rest as well.
 *
 * Owns the member `reach` of `struct adsm_object`. Lock: the object's, shared at
 * least. Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_MM_GRAIN_H
#define ADSM_MM_GRAIN_H

#include "mm/object/block.h"

/** Decide for a new object whose blocks are there; `alone`: no slab. Thread: the
 *  one that makes it. Signal: never */
void adsm_grain_init(struct adsm_object *object, bool alone);

/** Blocks from `i` on that an access to `i` should open: 1 at least, all in one
 *  grain, or whole ones. They may be in any state. @limit: the rolling size, of
 *  which a write opens at most half. */
uint32_t adsm_grain_reach(const struct adsm_object *object, uint32_t i,
                          bool write, uint32_t limit);

/**
 * Block `i` has been brought for a read. What should come with it: the largest
 * aligned power of two of its grain's blocks of which more than 51% are there,
 * as the driver of managed memory has it.
 *
 * Return: blocks from *first on, `i` among them, in any state; 1: itself
 */
uint32_t adsm_grain_around(const struct adsm_object *object, uint32_t i,
                           uint32_t *first);

#endif

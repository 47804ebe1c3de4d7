/*
 * Regions: the memory of one piece of work, given back all at once.
 *
 * Pieces are cut from sheets, one behind the other. Sheets come from pools
 * (base/pool.h), which keep them, so work like some before it asks the system
 * for nothing. What is larger than the largest of them is malloc()ed. Under
 * AddressSanitizer each piece is, so that it knows where pieces end.
 *
 * Does not construct what is in a piece, or end it. Lock: the pools', rank POOL,
 * while a sheet is taken or given back. Signal: never.
 */
#ifndef ADSM_BASE_REGION_H
#define ADSM_BASE_REGION_H

#include <stddef.h>
#include <stdint.h>

/** Zero is an empty one. Who is in it may be moved along: nothing points here. */
struct adsm_region {
    struct adsm_sheet *sheets; /* newest first: pieces are cut from that */
    uint8_t *at, *end;         /* what is left of it */
};

/**
 * Memory for `count` items of `bytes`, aligned to 16; its contents are undefined.
 *
 * Return: not NULL for nothing either; NULL when the system has no memory left,
 *         and for more than 2^40 bytes
 * Thread: one at a time for a region
 */
void *adsm_region_get(struct adsm_region *region, size_t count, size_t bytes);

/** The same, filled with zeros. */
void *adsm_region_zeros(struct adsm_region *region, size_t count, size_t bytes);

/** Give all of it back: it is empty. */
void adsm_region_end(struct adsm_region *region);

/** Sheets that the process's regions have, when none is in use: for tests. */
size_t adsm_region_sheets(void);

#endif

/*
 * Granules of device memory that several spans share, page by page: best fit.
 * Of a granule of 2 MiB a page has 4 KiB, of a larger one more.
 *
 * Owns which pages of a granule are in use, which granules lie next to each
 * other, and the lists of granules by the longest free run that begins in
 * them. A run, and so a span, may go on in the next granule: three spans of
 * 171 pages do not fit into one. Does not map them. Lock: none of its own; the
 * caller's (address->lock). Invariant: adsm_shares_are_valid.
 */
#ifndef ADSM_ACCEL_SHARE_H
#define ADSM_ACCEL_SHARE_H

#include "accel/granule.h"

enum {
    ADSM_SHARE_PAGES = 512,
    /* The longest run: all but a page of two granules. */
    ADSM_SHARE_RUNS = 2 * (ADSM_SHARE_PAGES - 1),
};

/** One granule. */
struct adsm_share {
    uint64_t at;     /* device address */
    uint64_t handle; /* of its mapping */
    size_t longest;  /* pages of the longest free run that begins in it */
    struct adsm_granules pages;
    uint64_t words[ADSM_GRANULE_WORDS(ADSM_SHARE_PAGES)];
    struct adsm_share *before, *after; /* at its two ends, where spans cross */
    struct adsm_share *prev, *next;    /* of those with as long a run */
};

/** Those with free pages, by the length of their longest run. */
struct adsm_shares {
    size_t page_bytes; /* the caller's */
    struct adsm_share *with[ADSM_SHARE_RUNS + 1];
};

/**
 * A granule just mapped, for a span that had no room: the first of its pages,
 * behind those that are free at the end of the granule before it.
 *
 * @before @after  granules at its two ends, NULL where they are not shared
 * @pages  of the span, 1 .. ADSM_SHARE_PAGES - 1
 * @span   receives the span's device address
 * Return: the granule; NULL without memory for it
 * Thread: caller holds the lock
 * Signal: never
 */
struct adsm_share *adsm_share_create(struct adsm_shares *shares, uint64_t at,
                                     uint64_t handle, struct adsm_share *before,
                                     struct adsm_share *after, size_t pages,
                                     uint64_t *span);

/**
 * Take pages from the granule whose longest free run exceeds them least.
 *
 * @pages  1 .. ADSM_SHARE_PAGES - 1; @at receives the device address
 * Return: the granule in which they begin; NULL when none has room
 * Thread: caller holds the lock
 * Signal: never
 */
struct adsm_share *adsm_share_take(struct adsm_shares *shares, size_t pages,
                                   uint64_t *at);

/**
 * Give pages back. A granule whose last ones they are leaves the lists and its
 * neighbours, nobody takes pages of it any more, and the caller destroys it.
 *
 * @share  where the pages begin; @empty  receives the granules that became
 *         empty, NULL for the rest
 * Return: false, with nothing changed, when they were not in use
 * Thread: caller holds the lock
 * Signal: never
 */
bool adsm_share_give(struct adsm_shares *shares, struct adsm_share *share,
                     uint64_t at, size_t pages, struct adsm_share *empty[2]);

/** Free a granule that has left the lists. */
void adsm_share_destroy(struct adsm_share *share);

/** For tests. */
bool adsm_shares_are_valid(const struct adsm_shares *shares);

#endif

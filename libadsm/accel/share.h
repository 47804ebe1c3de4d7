/*
 * Granules of device memory that several spans share, page by page: best fit.
 *
 * Owns which pages of a granule are in use, and the lists of granules by their
 * longest free run. Does not map them. Lock: none of its own; the caller's
 * (address->lock). Invariant: adsm_shares_are_valid.
 */
#ifndef ADSM_ACCEL_SHARE_H
#define ADSM_ACCEL_SHARE_H

#include "accel/granule.h"

enum {
    ADSM_SHARE_PAGE_BYTES = 4096,
    ADSM_SHARE_PAGES = (2 << 20) / ADSM_SHARE_PAGE_BYTES,
};

/** One granule. */
struct adsm_share {
    uint64_t at;     /* device address */
    uint64_t handle; /* of its mapping */
    size_t longest;  /* pages of the longest free run */
    struct adsm_granules pages;
    uint64_t words[ADSM_GRANULE_WORDS(ADSM_SHARE_PAGES)];
    struct adsm_share *prev, *next; /* of those with as long a run */
};

/** Those with free pages, by the length of their longest run. */
struct adsm_shares {
    struct adsm_share *with[ADSM_SHARE_PAGES + 1];
};

/**
 * A granule just mapped, of which the first pages are taken.
 *
 * Return: the granule; NULL without memory for it
 * Thread: caller holds the lock
 * Signal: never
 */
struct adsm_share *adsm_share_create(struct adsm_shares *shares, uint64_t at,
                                     uint64_t handle, size_t pages);

/**
 * Take pages of the granule whose longest free run exceeds them least.
 *
 * @pages  1 .. ADSM_SHARE_PAGES - 1; @at receives the device address
 * Return: the granule; NULL when none has room
 * Thread: caller holds the lock
 * Signal: never
 */
struct adsm_share *adsm_share_take(struct adsm_shares *shares, size_t pages,
                                   uint64_t *at);

/**
 * Give pages back. The granule of the last ones leaves the lists, nobody takes
 * pages of it any more, and the caller destroys it.
 *
 * @gave  set to false, with nothing changed, when they were not in use
 * Return: whether they were the last
 * Thread: caller holds the lock
 * Signal: never
 */
bool adsm_share_give(struct adsm_shares *shares, struct adsm_share *share,
                     uint64_t at, size_t pages, bool *gave);

/** Free a granule that has left the lists. */
void adsm_share_destroy(struct adsm_share *share);

/** For tests. */
bool adsm_shares_are_valid(const struct adsm_shares *shares);

#endif

/*
 * Lists of ranges of one call, and large single ones, turned into what the
 * kernel may work on (pieces.h).
 *
 * Ranges that are read are lent, which holds nothing. Those that are written
 * are lent where the call cannot wait, and bounced otherwise.
 */
#ifndef INTERPOSE_CALLS_RANGES_H
#define INTERPOSE_CALLS_RANGES_H

#include "interpose/calls/hold.h"
#include "interpose/libc/pieces.h"

/** How ranges that are written are had. */
enum call_policy {
    CALL_LENDS, /* the call cannot wait                                  */
    CALL_LENDS_LARGE, /* it may: small ones are bounced, and for large ones it
                         is told not to                                       */
    CALL_BOUNCES
};

struct call_ranges {
    struct call_hold copy; /* of the program's list, or of a range in parts  */
    struct pieces pieces;
    bool begun; /* pieces are held                                           */
    bool lent;  /* ... by loans for writing                                  */
    bool ends;  /* a range goes on where no memory is                        */
};

/**
 * Exchange a list of *count ranges. On failure call_ranges_end is still to be
 * called. `ranges->copy` and `begun` are set before.
 *
 * Return: ADSM_OK; why the runtime has no memory for it
 * Thread: any. Signal: never
 */
int call_ranges_begin(struct call_ranges *ranges, struct call_few *few,
                      struct iovec **list, size_t *count,
                      enum adsm_access access, enum call_policy policy);

/** The same for one range. */
int call_ranges_begin_one(struct call_ranges *ranges, struct call_few *few,
                          void **range, size_t *bytes, enum adsm_access access,
                          enum call_policy policy);

/** Put back as many bytes as the result says, less than 0: the call failed.
 *  Return: ADSM_OK; why they are not there */
int call_ranges_end(struct call_ranges *ranges, long result);

#endif

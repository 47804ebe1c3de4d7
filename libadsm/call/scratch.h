/*
 * Arrays for what passes of a reduction or a scan leave to the next one.
 *
 * Owns shared arrays without a home that are not in use, oldest first, up to
 * ADSM_SCRATCH_MOST bytes. Who is given one may enqueue calls that use it at
 * once, and may give it back as soon as those are enqueued: calls are ordered
 * by what they read and write, so nobody waits. Those that are too much are
 * freed, which waits for the work that uses them.
 *
 * Lock: a mutex, held over no call. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_SCRATCH_H
#define ADSM_CALL_SCRATCH_H

#include "adsm.h"

enum { ADSM_SCRATCH_MOST = 64 << 20 };

struct adsm_scratch {
    struct adsm_scratch *next;
    void *array;
    size_t elem;
    adsmBox shape;
};

/** An array of at least `shape`, of two dimensions of exactly that. Return:
 *  NULL with a status in `rc` and a detail */
struct adsm_scratch *adsm_scratch_take(size_t elem, adsmBox shape, int *rc);

/** NULL is allowed. */
void adsm_scratch_give(struct adsm_scratch *scratch);

#endif

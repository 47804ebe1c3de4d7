/*
 * Ready ranges: host memory for objects to come, of which one granule has its
 * pages.
 *
 * What an object's first touch takes longest for is pages that the kernel gets
 * and clears. So of objects that end those pages are kept at which they were
 * touched first, for one as large that is touched at the same place. Where none
 * is kept a thread makes the like of what was taken last: a program's arrays are
 * alike. A few ranges are kept, with 2 MiB each at most. Their pages hold what
 * they held: that is no matter where all blocks are INVALID.
 *
 * Owns the ranges while they are kept, and the thread. Does not know objects.
 * Lock: one, rank READY, which is held for no system call.
 */
#ifndef ADSM_MM_READY_H
#define ADSM_MM_READY_H

#include "os/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct adsm_ready {
    struct adsm_arena_range range;
    size_t at;    /* offset of a granule                                   */
    size_t bytes; /* from there on in it, that have pages; whole ones      */
    bool huge;    /* they are one of 2 MiB                                 */
};

/**
 * A range of the arena for `bytes`: one that is ready where there is any as
 * large. More like it will be wanted.
 *
 * @touch  where it is about to be accessed
 * @huge   whether what has its pages there should have one
 * @ready  its `bytes` are 0 where none was ready
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Thread: any, no lock of rank READY or later held. Signal: fault path
 */
int adsm_ready_take(size_t bytes, size_t touch, bool huge,
                    struct adsm_ready *ready) ADSM_MUST_CHECK;

/**
 * Keep what an object has had, or give it to the system. Other pages than those
 * that *ready names go in any case; nobody uses any, and none is page-locked.
 *
 * Thread: any, no lock of rank READY or later held. Signal: fault path
 */
void adsm_ready_put(struct adsm_ready *ready);

/**
 * Have the thread make what was taken last, if nothing like it is ready: to be
 * called when the access that took it has been answered.
 *
 * Thread: any. Signal: fault path
 */
void adsm_ready_ask(void);

/** Start the thread, if it was asked for anything: to be called between calls of
 *  the program, since an access may have come anywhere. Thread: any. Signal:
 *  never */
void adsm_ready_start(void);

/** Give all that is kept to the system. Thread: any. Signal: fault path */
void adsm_ready_clear(void);

/** Ranges that are kept. Thread: any. Signal: any handler */
size_t adsm_ready_count(void);

#endif

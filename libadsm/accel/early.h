/*
 * Early copies: downloads enqueued behind the work that writes their bytes, before
 * anybody wants them. So the program's own wait covers them, as that of one who
 * copies by hand does, and who fetches finds the bytes.
 *
 * They go to page-locked memory of their own: host copies of objects may be
 * written meanwhile. What was enqueued is as good as a download now for as long as
 * nothing that may write the device's bytes comes behind it: work that is noted,
 * uploads, or another fence of the object's. Else it is forgotten. One that nobody
 * took is sent again only after one launch, then two, four, up to 64.
 *
 * Owns the memory, a slot for each of a few ranges. Does not know objects. Lock: one
 * for each accel, rank ACCEL, held over driver calls that enqueue.
 */
#ifndef ADSM_ACCEL_EARLY_H
#define ADSM_ACCEL_EARLY_H

#include "accel/types.h"
#include "base/lock.h"

#include <stdatomic.h>

struct adsm_cause;

enum { ADSM_EARLY_BYTES = 32 << 10, ADSM_EARLY_SLOTS = 8 };

struct adsm_early_slot {
    struct adsm_daddr from;
    size_t bytes;
    uint64_t notes, uploads; /* how many there were when it was enqueued     */
    struct adsm_fence after, done;
    uint32_t missed, skip; /* times in a row, and launches yet to be left out */
    uint32_t readers;      /* threads that copy its bytes                     */
    bool there;            /* nobody has taken it                             */
};

struct adsm_early {
    struct adsm_lock lock;
    uint8_t *_Atomic memory; /* NULL: none is page-locked */
    _Atomic bool tried;      /* ... and none will be      */
    _Atomic uint32_t count;  /* slots that are `there` */
    uint32_t next;           /* slot to be used next   */
    uint64_t last;           /* number of the last one in its lane */
    struct adsm_early_slot slot[ADSM_EARLY_SLOTS];
};

/** Make it empty in zeroed memory. Thread: the one that makes the accel. Signal:
 *  never */
void adsm_early_init(struct adsm_early *early);

/** Give the memory back. Its lane has no work. Thread: one. Signal: never */
void adsm_early_clear(struct adsm_accel *accel);

/**
 * Enqueue a download behind all noted work and `after`. That nothing is enqueued
 * is no error: there is no page-locked memory, it is too much, or the last one of
 * these bytes was in vain.
 *
 * @bytes  up to ADSM_EARLY_BYTES
 * @after  what a download of these bytes has to wait for, besides
 * Thread: any; nobody notes work that writes them meanwhile. Signal: never
 */
void adsm_early_send(struct adsm_accel *accel, struct adsm_daddr from,
                     size_t bytes, struct adsm_fence after,
                     const struct adsm_cause *cause);

/**
 * Copy what was enqueued, which is waited for.
 *
 * Return: false: nothing valid was, `to` is as before
 * Thread: any; as adsm_early_send. Signal: fault path
 */
bool adsm_early_take(struct adsm_accel *accel, void *to, struct adsm_daddr from,
                     size_t bytes, struct adsm_fence after);

/** Nothing that was enqueued of these bytes counts any more: somebody may have
 *  written them of whom nobody knows, or they go. Thread: any. Signal: fault
 *  path */
void adsm_early_forget(struct adsm_accel *accel, struct adsm_daddr from,
                       size_t bytes);

/** What was enqueued so far has ended, and with it all noted work of then. Thread:
 *  any. Signal: fault path */
void adsm_early_await(struct adsm_accel *accel);

#endif

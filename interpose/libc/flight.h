/*
 * Memory of an operation that goes on after the call that began it: the kernel,
 * or a thread of libc, may use it at any time until the operation has ended.
 *
 * What it writes goes to plain memory first and is moved when the end is seen,
 * on whichever thread. Lending the blocks that long would keep other threads,
 * and the one that began it, away from what lies beside the range, maybe for
 * ever (a socket), and a kernel that is called meanwhile would take the blocks.
 * What it reads it is given at its shadow, which nobody takes away; a range
 * over several allocations is copied.
 */
#ifndef INTERPOSE_LIBC_FLIGHT_H
#define INTERPOSE_LIBC_FLIGHT_H

#include "interpose/calls/copy.h"
#include "interpose/hook.h"

struct flight {
    void *at;     /* what to hand out                                         */
    void *shared; /* where what arrives at `at` belongs; NULL: there already */
    size_t bytes;
    struct adsm_object *lent; /* whose shadow it is given, if that may end    */
    void *map; /* plain memory of ours                                       */
    size_t map_bytes;
};

/**
 * Begin; `address` may be plain memory, which is handed out as it is.
 *
 * @access  ADSM_WRITE: the operation writes memory
 * Return: ADSM_OK; a status of the loan or ADSM_E_NOMEM: nothing is held
 * Thread: any. Signal: never
 */
int flight_begin(struct flight *flight, const void *address, size_t bytes,
                 enum adsm_access access);

/**
 * The operation has ended; the first `done` bytes arrived. errno is kept.
 *
 * Return: ADSM_OK, or why some of them are not where they belong
 * Thread: any. Signal: where a handler may touch shared memory
 */
int flight_end(struct flight *flight, size_t done);

/** Ranges of one operation, one after the other. */
struct flights {
    int count;
    struct iovec
        *iov; /* what to hand out as a list; lies behind them         */
    struct flight each[];
};

/** Room for `count`; NULL: there is none. Undone by free. Thread: any. Signal:
 *  never */
struct flights *flights_make(int count);

/** flight_begin for each of as many ranges. On failure nothing is held. */
int flights_begin(struct flights *flights, const struct iovec *ranges,
                  enum adsm_access access);

/** flight_end for each; a second time it does nothing. */
int flights_end(struct flights *flights, size_t done);

#endif

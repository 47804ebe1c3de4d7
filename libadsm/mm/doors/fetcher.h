/*
 * The thread that fetches ahead (mm/watch/ahead.h): what the CPU is expected to
 * access comes as if another thread had accessed it.
 *
 * Owns the thread. Does not decide what comes, nor what a fetch does:
 * protocol.cell[ADSM_FETCH_AHEAD].
 *
 * Locks: callers hold none of rank GATE or later.
 */
#ifndef ADSM_MM_FETCHER_H
#define ADSM_MM_FETCHER_H

#include "accel/accel.h"

/** Start the thread once there are objects for it. No gate is closed. Thread:
 *  any. Signal: never */
void adsm_fetcher_start(void);

/** `kernel` was given to the accel, behind closed gates: the little that its return
 *  is expected to bring comes behind it at once. Thread: that of the call. Signal:
 *  never */
void adsm_fetcher_launched(struct adsm_accel *accel, const void *kernel);

/** The program has waited for the accel: what is expected may come. Thread: any.
 *  Signal: never */
void adsm_fetcher_returned(struct adsm_accel *accel);

/** Nothing more is fetched, and nobody is at it when this returns. Thread: one,
 *  at exit. Signal: never */
void adsm_fetcher_end(void);

#endif

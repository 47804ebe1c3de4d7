/*
 * Timers: how long the device took for a piece of work in a stream.
 *
 * Owns pairs of timed events, at most ADSM_TIMERS for each accel, made when they
 * are first needed. A timer belongs to who began it until it is taken or
 * dropped; when all belong to somebody nothing is measured. Measuring never
 * fails and never waits: what cannot be measured has no timer. Does not know
 * what is measured.
 *
 * No lock: a bit for each pair says that somebody has it. Accels are never
 * freed, so a timer may be dropped after its accel was forgotten.
 */
#ifndef ADSM_ACCEL_TIMER_H
#define ADSM_ACCEL_TIMER_H

#include "accel/types.h"

#include <stdatomic.h>

enum { ADSM_TIMERS = 64 };

/** Two events of an accel; all for this module but `work` and `of`. */
struct adsm_timer {
    struct adsm_accel *accel;
    void *begin, *end; /* NULL: not made yet */
    double work;       /* how much is measured, for who has the timer */
    void *of;          /* and of what */
};

struct adsm_timers {
    _Atomic uint64_t taken; /* a bit for each pair */
    _Atomic bool never;     /* the driver tells no times, or is gone */
    struct adsm_timer timer[ADSM_TIMERS];
};

_Static_assert(ADSM_TIMERS == 64, "every timer has a bit");

/** The accel is forgotten: no timer begins any more, those that somebody has
 *  tell nothing. Thread: one. Signal: never */
void adsm_timers_destroy(struct adsm_accel *accel);

/**
 * Measure from here on: what is submitted to the stream next.
 *
 * Return: a timer to be ended or dropped; NULL: nothing is measured
 * Thread: any
 * Signal: never
 */
struct adsm_timer *adsm_timer_begin(struct adsm_accel *accel,
                                    adsm_stream stream);

/**
 * Measure up to here.
 *
 * Return: true: to be taken or dropped later; false: nothing is measured, and
 *         the timer was dropped
 * Thread: the one that began it
 * Signal: never
 */
bool adsm_timer_end(struct adsm_timer *timer, adsm_stream stream);

/**
 * What an ended timer has measured, without blocking.
 *
 * @accel  in use by the caller; a timer of another one is one of an accel that
 *         was forgotten, and tells nothing
 * @ns     0: that is not known
 * Return: false: the work has not ended; true: the timer was dropped
 * Thread: one that has the timer
 * Signal: never
 */
bool adsm_timer_take(struct adsm_timer *timer, const struct adsm_accel *accel,
                     uint64_t *ns);

/** Measure nothing after all, whether it was ended or not. Thread: one that has
 *  the timer. Signal: any handler */
void adsm_timer_drop(struct adsm_timer *timer);

#endif

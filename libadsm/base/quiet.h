/*
 * Stretches in which a thread takes no asynchronous signals.
 *
 * A handler of the program that touches shared memory must not wait for the
 * thread it has interrupted: in there no handler runs. Nor can the thread be
 * cancelled. Costs two system calls for the outermost stretch.
 *
 * Owns the thread's mask meanwhile. No lock: all is the thread's own.
 */
#ifndef ADSM_BASE_QUIET_H
#define ADSM_BASE_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Begin or end a stretch in which the calling thread takes no asynchronous
 * signals and cannot be cancelled, as while it holds a lock. Stretches and
 * locks nest.
 *
 * Thread: any. Signal: fault path
 */
void adsm_quiet_enter(void);
void adsm_quiet_leave(void);

/** Is the thread in a stretch, or holds it a lock? Signal: any handler */
bool adsm_quiet_is_on(void);

/** Outside of stretches: the asynchronous signals that the thread takes, bit
 *  n - 1 for signal n. Thread: any. Signal: fault path */
uint64_t adsm_quiet_takes(void);

/** The same for a thread in a handler of a synchronous signal that has all
 *  asynchronous ones blocked and cancellation held already: saves the calls. */
void adsm_quiet_enter_handler(void);
void adsm_quiet_leave_handler(void);

/** In such a handler, before anything else: the signals that the interrupted
 *  code had blocked, bit n - 1 for signal n. Signal: fault path */
void adsm_quiet_interrupted(uint64_t blocked);

/**
 * Begin and end a wait that may last for ever, within quiet stretches or not.
 * Those of the usual signals to end a program that have no handler get through:
 * nothing of the program runs then.
 *
 * Return: what to give to adsm_quiet_wait_end
 * Thread: any. Signal: fault path
 */
uint64_t adsm_quiet_wait_begin(void);
void adsm_quiet_wait_end(uint64_t opened);

#endif

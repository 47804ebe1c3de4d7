/*
 * Stretches in which a thread takes no asynchronous signals.
 *
 * A handler of the program that touches shared memory must not wait for the
 * thread it has interrupted: in there no handler runs. Nor can the thread be
 * cancelled. There are two ways. The kernel blocks the signals: that takes two
 * system calls for the outermost stretch. Or whoever stands before all handlers
 * of the program, and has said so (adsm_quiet_set_keeper), keeps what comes: then
 * a stretch is a count, and only one in which a signal came ends with system
 * calls.
 *
 * Owns which way a thread's stretch goes, and the thread's mask meanwhile. No
 * lock: all but the keeper is the thread's own, also in its signal handlers.
 */
#ifndef ADSM_BASE_QUIET_H
#define ADSM_BASE_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/** A kernel signal set: bit n - 1 for signal n. */
#define ADSM_QUIET_BIT(signal) (UINT64_C(1) << ((signal)-1))

/** Synchronous signals must arrive: a blocked SIGSEGV ends the process. Who uses
 *  it includes <signal.h>. */
#define ADSM_QUIET_ASYNCHRONOUS                                                \
    (~(ADSM_QUIET_BIT(SIGSEGV) | ADSM_QUIET_BIT(SIGBUS) |                      \
       ADSM_QUIET_BIT(SIGFPE) | ADSM_QUIET_BIT(SIGILL) |                       \
       ADSM_QUIET_BIT(SIGTRAP) | ADSM_QUIET_BIT(SIGSYS) |                      \
       ADSM_QUIET_BIT(SIGABRT)))

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

/** In a stretch: from here to the end of the outermost one it is the kernel
 *  that blocks them, so that a thread that is made begins with them blocked.
 *  Thread: any. Signal: fault path */
void adsm_quiet_block(void);

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
 * nothing of the program runs then. What is for the process as a whole is left to
 * its other threads (adsm_quiet_waits).
 *
 * Return: what to give to adsm_quiet_wait_end
 * Thread: any. Signal: fault path
 */
uint64_t adsm_quiet_wait_begin(void);
void adsm_quiet_wait_end(uint64_t opened);

/**
 * The same where nobody ends the program meanwhile, as for a lock: says only that
 * the thread sleeps for others.
 *
 * Return: what to give to adsm_quiet_sleep_end
 * Thread: any. Signal: fault path. errno may change
 */
bool adsm_quiet_sleep_begin(void);
void adsm_quiet_sleep_end(bool began);

/* ---- signals that are kept ------------------------------------------------ */

/** Who stands before all handlers of the program. */
struct adsm_quiet_keeper {
    /** The thread is about to wait: what is kept for it and is not for this
     *  thread alone goes to the process. Signal: fault path */
    void (*waits)(void);
    /** The outermost stretch has ended, and what was shut in it opens next: all
     *  asynchronous signals are blocked. Signal: fault path */
    void (*opens)(void);
};

/**
 * From now on every handler of the program asks adsm_quiet_keeps first.
 * Stretches that have begun end the way they began.
 *
 * @keeper  stays in use
 * Thread: any. Signal: never
 */
void adsm_quiet_set_keeper(const struct adsm_quiet_keeper *keeper);

/** Has signal `number` come to a thread that takes it only later? Then the
 *  handler of the program is not called: see adsm_quiet_shut. Signal: any
 *  handler */
bool adsm_quiet_keeps(int number);

/** Signal `number` was kept: it is blocked in the code that it interrupted. At the
 *  end of the outermost stretch it is opened. Signal: any handler */
void adsm_quiet_shut(int number);

/** Signals that are blocked for that reason alone. Signal: any handler */
uint64_t adsm_quiet_is_shut(void);

/** Is the thread in a wait that may last for ever? Then another thread may be
 *  wanted for what has come. Signal: any handler */
bool adsm_quiet_waits(void);

#endif

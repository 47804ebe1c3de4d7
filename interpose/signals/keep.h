/*
 * Signals that come while their thread is in a quiet stretch (base/quiet.h), and
 * are handled behind it.
 *
 * What has come is blocked in the code that it interrupted, so that its number
 * does not come again, and is sent once more: it is pending, as one that had been
 * blocked. At the end of the stretch the thread opens what was so blocked, and
 * the kernel delivers it as it would any other: stack, mask and flags of its
 * action are the kernel's business.
 *
 * Two things need care. Who else might get it: what was sent to the process goes
 * back to the process, where the kernel lets it be sent so; the rest to this
 * thread. And the order of real-time signals: what is sent once more comes behind
 * what was sent meanwhile. So it is noted here, what is sent stands for it, and
 * whatever comes of its number is exchanged for the oldest of it.
 *
 * Owns what is noted. No lock: that is the thread's own, and changed while it
 * takes no signals.
 */
#ifndef INTERPOSE_SIGNALS_KEEP_H
#define INTERPOSE_SIGNALS_KEEP_H

#include "interpose/hook.h"

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/** Keep the signal that has interrupted `context`; its number is one for which
 *  adsm_quiet_keeps says so. Signal: any handler */
void keep_signal(int number, const siginfo_t *info, ucontext_t *context);

/**
 * What is handed to the program for a signal that has come, in *info.
 *
 * Return: false: nothing, what it stood for went another way
 * Signal: any handler
 */
bool keep_exchange(int number, siginfo_t *info);

/** Is a signal of this number exchanged? Those are that may be kept in order. */
static inline bool keep_is_ordered(int number)
{
    return number >= __SIGRTMIN;
}

/** Is a signal noted for the thread? What a call takes of those that are pending
 *  (sigtimedwait) has to be exchanged then. Signal: any handler */
bool keep_has_some(void);

/** The program ignores signal `number` from now on: what was pending of it is no
 *  more. Signal: any handler */
void keep_discard(int number);

/** From now on signals are kept: every handler asks (signal.c). Thread: one */
void keep_start(void);

#endif

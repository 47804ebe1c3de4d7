/*
 * Actions of signals, of which the kernel is asked itself.
 *
 * As base/system.h does for mappings: libc's sigaction may have been written over
 * by who then makes the call by number, which a preloaded library takes for the
 * program's. Owns the way back from handlers, which the kernel has to be told and
 * only the C library has: it is learnt from an action that that has installed,
 * and until then the C library is asked. No lock.
 */
#ifndef ADSM_OS_ACTION_H
#define ADSM_OS_ACTION_H

#include <signal.h>

/** Learn the way back from the action of `number`, which has a handler. Thread:
 *  one. Signal: never */
void adsm_action_learn(int number);

/**
 * sigaction, of the kernel.
 *
 * @action  with SA_RESTORER its own way back is taken, as it comes from a query
 * Return: 0; -1 with errno
 * Thread: any. Signal: any handler
 */
int adsm_action(int number, const struct sigaction *action,
                struct sigaction *before);

#endif

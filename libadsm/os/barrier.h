/*
 * A full fence in every thread of the process, so that threads which seldom meet
 * need none of their own.
 *
 * Linux has a call for that (membarrier, 4.14). Where it is missing or denied,
 * taking away a right to a page that is in use makes the system interrupt every
 * processor that runs a thread of the process: on x86, where no instruction does
 * it in their place.
 */
#ifndef ADSM_OS_BARRIER_H
#define ADSM_OS_BARRIER_H

#include <stdbool.h>

/** Register with the system, as it wants once; again is no error.
 *  Thread: any. Signal: any handler */
void adsm_barrier_prepare(void);

/** Every thread of the process has passed a full fence when it returns.
 *  Thread: any. Signal: any handler */
void adsm_barrier_everywhere(void);

/** Has the system a call for it, known since adsm_barrier_prepare; if not, is
 *  there another way? Thread: any. Signal: any handler */
bool adsm_barrier_is_call(void);
bool adsm_barrier_can(void);

#endif

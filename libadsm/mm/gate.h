/*
 * The gate between the CPU and a call that is being made.
 *
 * From the moment a call has released the first object until its kernel is
 * enqueued, no CPU access may fetch or open a block: it would see, and later
 * write back, what the kernel is about to replace. Calls close the gate;
 * faults and the ends of loans pass it. A thread that closes the gate must not
 * touch shared memory until it opens it again.
 *
 * Lock: the gate itself, rank GATE.
 */
#ifndef ADSM_MM_GATE_H
#define ADSM_MM_GATE_H

#include "base/lock.h"

extern struct adsm_rwlock adsm_gate;

/** Pass the gate, together with others. Signal: fault path */
static inline void adsm_gate_enter(void)
{
    adsm_rwlock_acquire_shared(&adsm_gate);
}

static inline void adsm_gate_leave(void)
{
    adsm_rwlock_release_shared(&adsm_gate);
}

/** Close it for one call, and open it again. Signal: never */
static inline void adsm_gate_close(void)
{
    adsm_rwlock_acquire(&adsm_gate);
}

static inline void adsm_gate_open(void)
{
    adsm_rwlock_release(&adsm_gate);
}

#endif

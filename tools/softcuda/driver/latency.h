/*
 * Calls that take as long as hardware's, however little they do.
 */
#ifndef SOFTCUDA_DRIVER_LATENCY_H
#define SOFTCUDA_DRIVER_LATENCY_H

#include <stdint.h>

/** Sleep until that moment of CLOCK_MONOTONIC; spin where that is near.
 *  Thread: any; holds no lock. Signal: never */
void sc_latency_until(uint64_t end_ns);

/** A launch begins.  Return: now, or 0 where launches have no latency. */
uint64_t sc_latency_begin(void);

/** It is enqueued: return when that has taken its time.
 *  @begin_ns what sc_latency_begin said.  Thread: any; holds no lock. */
void sc_latency_launched(uint64_t begin_ns);

/** What the thread waited for has ended: return when its last launch and this
 *  wait have taken their time.  Thread: any; holds no lock. */
void sc_latency_waited(void);

#endif

/*
 * More threads for a job than there are processors, where blocks that have
 * begun may wait for some that have not: the system then takes turns.
 *
 * They are started while the job runs, by whoever runs it, and end with it.
 * Lock: one of its own, taken for moments.
 */
#ifndef SOFTCUDA_EXEC_CROWD_H
#define SOFTCUDA_EXEC_CROWD_H

#include "exec/pool.h"

/** The job that begins may have up to `most` threads more. Thread: its starter,
 *  one job at a time. Signal: never */
void sc_crowd_open(sc_pool_job *job, void *argument, uint32_t most);

/**
 * Start up to `more` threads, each with a worker of its own.
 *
 * Return: how many there are now; as before where the system has no more
 * Thread: any that runs the job
 * Signal: never
 */
uint32_t sc_crowd_add(uint32_t more);

/** Wait until all of them have returned from the job. Thread: as open. */
void sc_crowd_close(void);

#endif

/*
 * Threads that run CTAs.
 *
 * The thread that starts a job is worker 0, so that a small job pays for no
 * wake-up; the others join while the job is open. A job ends when its starter
 * has returned from it and all who joined have: it waits for nobody who has
 * not woken up yet.
 *
 * Lock: none; one job at a time, the caller sees to that.
 */
#ifndef SOFTCUDA_EXEC_POOL_H
#define SOFTCUDA_EXEC_POOL_H

#include "exec/worker.h"

/** More workers there never are. */
#define SC_POOL_MOST 256u

typedef void sc_pool_job(struct sc_worker *worker, void *argument);

/** Return: false when no worker could be made. Thread: one at a time. */
bool sc_pool_init(int workers);

/** End the threads. Thread: one at a time, no job is running. */
void sc_pool_fini(void);

/** Number of workers, 0 before sc_pool_init. */
uint32_t sc_pool_workers(void);

/**
 * Run a job on the calling thread and on up to `helpers` others, and wait.
 *
 * @job runs once on each worker that joins
 * Thread: one at a time
 * Signal: never
 */
void sc_pool_run(uint32_t helpers, sc_pool_job *job, void *argument);

#endif

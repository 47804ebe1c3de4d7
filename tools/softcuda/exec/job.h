/*
 * One launch while it runs: what its parts share.
 *
 * Every worker takes CTAs from it until none is left. Lock: `failed` and
 * `fault` by `lock`; the orders of the rest are at the accesses.
 */
#ifndef SOFTCUDA_EXEC_JOB_H
#define SOFTCUDA_EXEC_JOB_H

#include "exec/pool.h"

#include <pthread.h>
#include <stdatomic.h>

struct sc_job {
    const struct sc_module *module;
    struct sc_kernel *kernel;
    const struct sc_launch *launch;
    struct sc_build_variant *variant; /* NULL = interpreter only */
    uint64_t ctas;
    uint64_t most;     /* CTAs of one take */
    uint32_t resident; /* CTAs that hardware would hold at a time */
    _Alignas(64) _Atomic uint64_t next;
    _Alignas(64) atomic_bool stopped;
    pthread_mutex_t lock;
    enum sc_exec_status status; /* of the first to fail */
    struct sc_exec_fault fault;
    _Atomic uint64_t interpreted, native, work_ns;
    _Atomic uint64_t ended;    /* CTAs */
    _Atomic uint32_t crowd;    /* threads beyond the pool's (exec/crowd.h) */
    atomic_bool crowd_is_full; /* or the system gives no more */
    _Atomic uint64_t moves;    /* turns of CTAs that did not only wait */
    atomic_bool told;          /* that nothing goes on */
};

/* ---- launch.c ---- */

/** Take the next CTAs. Return: how many from *first, 0 = none left.
 *  Thread: any that runs the job */
uint64_t sc_job_take(struct sc_job *job, uint64_t *first);
/** Where in the grid a CTA is. */
void sc_job_place(const struct sc_job *job, uint64_t cta, uint32_t id[3]);
/** Whether to leave it: it failed, or was cancelled. Thread: as take */
bool sc_job_is_stopped(struct sc_job *job);
/** The first to fail says why. Thread: as take */
void sc_job_fail(struct sc_job *job, enum sc_exec_status status,
                 const struct sc_exec_fault *fault);
void sc_job_fail_for_memory(struct sc_job *job);

/* ---- together.c ---- */

/** A job (sc_pool_job) of CTAs that synchronise: a worker runs several in
 *  turns. */
void sc_job_together(struct sc_worker *worker, void *job);

/* ---- stuck.c ---- */

/** How many CTAs hardware would run at a time. */
uint32_t sc_job_resident(const struct sc_job *job);
/**
 * A CTA has run for a while. Where none has begun or ended for some time it
 * may wait for one that has not begun: more threads are started, up to as many
 * CTAs as hardware would hold; and after long, once for each kernel, it is
 * said.
 *
 * @watch  of the thread; @worker whose CTA is under way
 * Thread: as take
 */
void sc_job_look(struct sc_job *job, struct sc_watch *watch,
                 const struct sc_worker *worker);

#endif

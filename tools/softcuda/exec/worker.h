/*
 * One thread that runs CTAs: its memory, and its faults.
 *
 * Lock: none; a worker belongs to the thread that runs it.
 */
#ifndef SOFTCUDA_EXEC_WORKER_H
#define SOFTCUDA_EXEC_WORKER_H

#include "exec/module.h"

#include <setjmp.h>

struct sc_worker {
    struct sc_cta cta;
    struct sc_strip *strips; /* SC_MAX_STRIPS of them */
    char *files, *shared, *local, *params;
    size_t files_bytes, shared_bytes, local_bytes, params_bytes;
    sigjmp_buf back; /* from the fault handler */
};

/** Return: false when the host has no memory. */
bool sc_worker_init(struct sc_worker *worker, uint32_t number, uint32_t count);
void sc_worker_fini(struct sc_worker *worker);

/**
 * Make the worker ready for CTAs of one launch: memory, constants, parameters.
 *
 * Return: false when the host has no memory
 */
bool sc_worker_prepare(struct sc_worker *worker, const struct sc_module *module,
                       const struct sc_kernel *kernel,
                       const struct sc_launch *launch);

/** Run CTA `id`; status and fault are in worker->cta. */
void sc_worker_run(struct sc_worker *worker, const uint32_t id[3]);

/** The worker whose kernel this thread runs now, NULL = none. */
struct sc_worker *sc_fault_set(struct sc_worker *worker);

/** Install and remove the SIGSEGV/SIGBUS handler. */
void sc_fault_init(void);
void sc_fault_fini(void);

#endif

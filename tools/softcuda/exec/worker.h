/*
 * One thread that runs CTAs: its memory, and its faults.
 *
 * Lock: none; a worker belongs to the thread that runs it.
 */
#ifndef SOFTCUDA_EXEC_WORKER_H
#define SOFTCUDA_EXEC_WORKER_H

#include "exec/module.h"

#include <setjmp.h>

/** When a worker last saw a CTA of its job begin or end, or move at all; 0 =
 *  not yet. */
struct sc_watch {
    uint64_t news, since_ns, moves, still_ns;
};

struct sc_worker {
    struct sc_cta cta;
    struct sc_strip *strips; /* SC_MAX_STRIPS of them */
    char *files, *shared, *local, *params, *save;
    size_t files_bytes, shared_bytes, local_bytes, params_bytes, save_bytes;
    struct sc_native_cta native;
    volatile bool in_native; /* generated code runs, for the fault handler */
    uint64_t near_page;      /* the last one near.c let it read, or refused */
    sigjmp_buf back;         /* from the fault handler */
    bool can_interpret;      /* prepared for the running launch */
    struct sc_watch watch;
    /* called now and then while a CTA goes on */
    void (*pause)(struct sc_worker *worker, void *of);
    void *pause_of;
};

/** Return: false when the host has no memory. */
bool sc_worker_init(struct sc_worker *worker, uint32_t number, uint32_t count);
void sc_worker_fini(struct sc_worker *worker);

/**
 * Make the worker ready for CTAs of one launch: shared and local memory,
 * parameters. Native code needs no more.
 *
 * Return: false when the host has no memory
 */
bool sc_worker_prepare(struct sc_worker *worker, const struct sc_module *module,
                       const struct sc_kernel *kernel,
                       const struct sc_launch *launch);

/** Set up CTA `id` for the interpreter: registers, constants. Return: false
 *  when the host has no memory. */
bool sc_worker_begin(struct sc_worker *worker, const uint32_t id[3]);

/** Let it run until it ends or all of its lanes wait; call again while it
 *  returns true. Status and fault are in worker->cta. */
bool sc_worker_turn(struct sc_worker *worker);

/** Run CTA `id` in the interpreter; status and fault are in worker->cta. */
void sc_worker_run(struct sc_worker *worker, const uint32_t id[3]);

/** Run `count` CTAs from linear number `first` in generated code; status and
 *  fault are in worker->cta. */
void sc_worker_run_native(struct sc_worker *worker,
                          const struct sc_build_variant *variant,
                          sc_native_run *run, uint64_t first, uint64_t count);

/** The worker whose kernel this thread runs now, NULL = none. */
struct sc_worker *sc_fault_set(struct sc_worker *worker);

/** Install and remove the SIGSEGV/SIGBUS handler. */
void sc_fault_init(void);
void sc_fault_fini(void);

#endif

/*
 * Contexts, and which one a thread has current.
 */
#ifndef SOFTCUDA_DRIVER_CONTEXT_H
#define SOFTCUDA_DRIVER_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "driver/driver.h"

struct sc_device;

struct CUctx_st {
    struct sc_device *device;
    unsigned flags;
    uint64_t id;
    bool primary;
    _Atomic CUresult sticky; /* set under sched lock, read anywhere */
    struct CUctx_st *next;   /* all contexts, sched lock */
    CUstream legacy;         /* the NULL stream */
    CUstream streams;        /* all of its streams, sched lock */
    _Atomic int capturing;   /* streams that capture and wait for `legacy` */
    uint32_t peers;          /* devices it may access, start lock */
    CUfunc_cache cache;
    size_t limits[CU_LIMIT_MAX];
};

/** Rank 1: bring-up of devices and contexts. */
extern pthread_mutex_t sc_start_lock;

/**
 * Make a context and start its device if needed.
 *
 * Return: CUDA_SUCCESS, what sc_device_start says, CUDA_ERROR_OUT_OF_MEMORY
 * Thread: holds the start lock
 */
CUresult sc_context_new(CUcontext *ctx, struct sc_device *device,
                        unsigned flags, bool primary);

/** Wait for its work, stop what does not end, free all it owns.  Thread: holds the start lock. */
void sc_context_free(CUcontext ctx);

/** Current context of the thread, NULL if none. */
CUcontext sc_context_current(void);

/** Make a context current in place of the top one; NULL pops. */
CUresult sc_context_set(CUcontext ctx);
CUresult sc_context_push(CUcontext ctx);
CUcontext sc_context_pop(void);

/** Wait for all its work. Return: the first error since the last wait, or
 *  the sticky error. Thread: any, no lock held. */
CUresult sc_context_wait(CUcontext ctx);

/** Wait for all work on a device.  While the program runs its exit handlers,
 *  stop what does not end.  Thread: any, no lock held. */
void sc_context_drain(struct sc_device *device);

/** From now on exit() tells sc_context_drain, before it calls the handlers
 *  that are there already.  Thread: any. */
void sc_context_expect_exit(void);

/** The device died: every context on it says so from now on.
 *  Thread: holds sc_sched_lock. */
void sc_context_mark_lost(struct sc_device *device);

#endif

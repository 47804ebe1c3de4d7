/*
 * Executor threads of the host side: copy engines and host functions.
 */
#ifndef SOFTCUDA_DRIVER_ENGINE_H
#define SOFTCUDA_DRIVER_ENGINE_H

#include "driver/sched.h"

/** A thread and its queue of ready operations, under sc_sched_lock. */
struct sc_engine {
    struct sc_op_queue queue;
    pthread_cond_t wake;
    bool started;
};

/** Prepare an engine; its thread starts with its first operation, or before. */
void sc_engine_init(struct sc_engine *engine);

/** Start the thread now, so that a copy never fails for want of one.
 *  @stack_bytes 0 = the program's default. Return: whether it runs */
bool sc_engine_start(struct sc_engine *engine, size_t stack_bytes);

/** Queue a ready operation. Thread: holds sc_sched_lock. */
void sc_engine_push(struct sc_engine *engine, struct sc_op *op);

/** Is the calling thread inside a function of the program that an engine
 *  runs?  Such functions must not call the driver. */
bool sc_engine_in_callback(void);

#endif

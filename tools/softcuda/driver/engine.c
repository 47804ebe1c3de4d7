/*
 * Owns: the threads that execute copies and host functions, one engine per
 * device for each of upload, download and host functions, and one for mirrors.
 * Does not own: the order (sched.c), how bytes move (copy.c).
 * Lock: sc_sched_lock for the queues; none while executing.
 */
#include "driver/engine.h"

#include <sys/prctl.h>

#include "base/futex.h"
#include "driver/mirror.h"

static _Thread_local bool in_callback;

void sc_engine_init(struct sc_engine *engine)
{
    engine->queue = (struct sc_op_queue){0};
    engine->started = false;
    pthread_cond_init(&engine->wake, NULL);
}

bool sc_engine_in_callback(void)
{
    return in_callback;
}

static CUresult execute(struct sc_op *op)
{
    if (op->kind != SC_OP_HOST)
        return sc_copy_run(&op->copy);
    in_callback = true;
    if (op->host.function)
        op->host.function(op->host.data);
    else
        op->host.callback(op->host.handle, op->result, op->host.data);
    in_callback = false;
    return op->result;
}

static void work_on(struct sc_op *op)
{
    if (op->kind == SC_OP_COMPUTE) {
        sc_mirror_step(op);
        return;
    }
    CUresult result = execute(op);
    uint64_t end = sc_now_ns();
    pthread_mutex_lock(&sc_sched_lock);
    sc_op_complete(op, result, end);
    pthread_mutex_unlock(&sc_sched_lock);
}

static void *run(void *arg)
{
    struct sc_engine *engine = arg;
    /* paced copies sleep for fractions of a millisecond */
    prctl(PR_SET_TIMERSLACK, 1000);
    pthread_mutex_lock(&sc_sched_lock);
    for (;;) {
        struct sc_op *op = sc_op_queue_pop(&engine->queue);
        if (!op) {
            pthread_cond_wait(&engine->wake, &sc_sched_lock);
            continue;
        }
        pthread_mutex_unlock(&sc_sched_lock);
        work_on(op);
        pthread_mutex_lock(&sc_sched_lock);
    }
    return NULL;
}

bool sc_engine_start(struct sc_engine *engine, size_t stack_bytes)
{
    if (!engine->started)
        engine->started = sc_thread_start(run, engine, stack_bytes);
    return engine->started;
}

void sc_engine_push(struct sc_engine *engine, struct sc_op *op)
{
    /* host functions belong to the program and get its stack size */
    if (!sc_engine_start(engine, 0)) {
        sc_say("no thread left for host functions (ulimit -u?)");
        sc_op_complete(op, CUDA_ERROR_OPERATING_SYSTEM, sc_now_ns());
        return;
    }
    sc_op_queue_push(&engine->queue, op);
    pthread_cond_signal(&engine->wake);
}

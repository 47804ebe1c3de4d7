/*
 * Owns: contexts, the per-thread stack of current ones.
 * Does not own: streams, memory, modules (each frees its own on request).
 * Lock: start lock for making and ending; sched lock for the list.
 */
#include "driver/context.h"

#include <stdlib.h>

#include "driver/array.h"
#include "driver/capture.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/ipc.h"
#include "driver/latency.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/output.h"
#include "driver/sched.h"
#include "driver/stream.h"

#define STACK_DEPTH 64

/* What kernels get to end by themselves when their context is destroyed or the
 * program ends, how often those that entered the ring later are stopped too,
 * and how often an exit handler tries that. */
#define GRACE_NS    3000000000u
#define CANCEL_NS   20000000u
#define LAST_ROUNDS 50u

pthread_mutex_t sc_start_lock = PTHREAD_MUTEX_INITIALIZER;

static CUcontext all; /* sched lock */
static uint64_t last_id;

static _Atomic bool leaving; /* the program runs its exit handlers */

static _Thread_local CUcontext stack[STACK_DEPTH];
static _Thread_local int depth;

CUresult sc_context_new(CUcontext *out, struct sc_device *device,
                        unsigned flags, bool primary)
{
    SC_TRY(sc_device_start(device));
    CUcontext ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return CUDA_ERROR_OUT_OF_MEMORY;
    ctx->device = device;
    ctx->flags = flags;
    ctx->primary = primary;
    ctx->id = ++last_id;
    ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
    ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = SC_PRINT_LIMIT;
    ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    ctx->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    ctx->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    ctx->legacy = sc_stream_new(ctx, CU_STREAM_DEFAULT, 0, true);
    if (!ctx->legacy || !sc_handle_add(ctx, SC_HANDLE_CONTEXT)) {
        free(ctx->legacy);
        free(ctx);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&sc_sched_lock);
    ctx->next = all;
    all = ctx;
    pthread_mutex_unlock(&sc_sched_lock);
    *out = ctx;
    return CUDA_SUCCESS;
}

/* An operation that is done when all of the given streams are idle. */
static struct sc_op *barrier(CUcontext only, struct sc_device *device)
{
    struct sc_op *op = sc_op_new(SC_OP_MARK, device, NULL);
    if (!op)
        return NULL;
    op->refs++;
    pthread_mutex_lock(&sc_sched_lock);
    for (CUcontext ctx = all; ctx; ctx = ctx->next) {
        if (only ? ctx != only : ctx->device != device)
            continue;
        for (CUstream s = ctx->streams; s; s = s->next)
            sc_op_after(op, s->tail);
    }
    sc_op_submit_locked(op, NULL);
    pthread_mutex_unlock(&sc_sched_lock);
    return op;
}

/* Stop the kernels of a context, or of all on a device.  What does not end by
 * that, such as a wait for a value in memory, is refused when `all_work`. */
static void stop(CUcontext only, struct sc_device *device, bool all_work)
{
    pthread_mutex_lock(&sc_sched_lock);
    for (CUcontext ctx = all; ctx; ctx = ctx->next) {
        if (only ? ctx != only : ctx->device != device)
            continue;
        if (all_work && ctx->sticky == CUDA_SUCCESS)
            ctx->sticky = CUDA_ERROR_LAUNCH_TIMEOUT;
        sc_channel_cancel(device, ctx);
    }
    pthread_mutex_unlock(&sc_sched_lock);
}

/* The last wait: nobody will see what kernels that go on and on compute.
 * Return: whether the work is done; always, when `rounds` is 0 */
static bool wait_or_stop(struct sc_op *op, CUcontext only,
                         struct sc_device *device, unsigned rounds,
                         const char *event)
{
    if (sc_op_wait_for(op, GRACE_NS))
        return true;
    sc_say("device %d: %s and kernels still run after %u s: they are stopped",
           device->ordinal, event, (unsigned)(GRACE_NS / 1000000000u));
    for (unsigned round = 1;; round++) {
        stop(only, device, round > LAST_ROUNDS / 2);
        if (sc_op_wait_for(op, CANCEL_NS))
            return true;
        if (round == rounds)
            return false;
    }
}

static void leave(void)
{
    atomic_store(&leaving, true);
}

void sc_context_expect_exit(void)
{
    if (atexit(leave) != 0)
        sc_say("no memory for an exit handler");
}

void sc_context_drain(struct sc_device *device)
{
    static _Atomic bool given_up; /* a host function never returns */
    bool last = atomic_load(&leaving);
    if (last && atomic_load(&given_up))
        return;
    struct sc_op *op = barrier(NULL, device);
    if (!op)
        return;
    if (!last)
        sc_op_wait(op);
    else if (!wait_or_stop(op, NULL, device, LAST_ROUNDS, "the program ends"))
        atomic_store(&given_up, true);
    sc_op_drop(op);
    sc_output_drain(device);
}

CUresult sc_context_wait(CUcontext ctx)
{
    struct sc_op *op = barrier(ctx, ctx->device);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sc_op_wait(op);
    pthread_mutex_lock(&sc_sched_lock);
    CUresult result = ctx->sticky;
    for (CUstream s = ctx->streams; s; s = s->next) {
        if (result == CUDA_SUCCESS)
            result = s->error;
        s->error = CUDA_SUCCESS;
    }
    sc_op_drop_locked(op);
    pthread_mutex_unlock(&sc_sched_lock);
    sc_output_drain(ctx->device);
    sc_latency_waited();
    return result;
}

static void finish(CUcontext ctx)
{
    struct sc_op *op = barrier(ctx, ctx->device);
    if (!op)
        return;
    wait_or_stop(op, ctx, ctx->device, 0, "a context is destroyed");
    sc_op_drop(op);
    sc_output_drain(ctx->device);
}

void sc_context_mark_lost(struct sc_device *device)
{
    for (CUcontext ctx = all; ctx; ctx = ctx->next)
        if (ctx->device == device)
            ctx->sticky = CUDA_ERROR_DEVICE_UNAVAILABLE;
}

void sc_context_free(CUcontext ctx)
{
    sc_handle_remove(ctx);
    finish(ctx);
    for (CUstream s = ctx->streams; s; s = s->next)
        sc_capture_leave(s);
    sc_module_free_context(ctx);
    sc_texture_free_context(ctx);
    sc_array_free_context(ctx);
    sc_ipc_free_context(ctx);
    sc_alloc_free_context(ctx);
    sc_stream_forget(ctx);
    for (int peer = 0; peer < sc_device_count(); peer++)
        if (ctx->peers & 1u << peer)
            sc_memory_peer(ctx->device, sc_device_get(peer), false);
    pthread_mutex_lock(&sc_sched_lock);
    for (CUcontext *p = &all; *p; p = &(*p)->next)
        if (*p == ctx) {
            *p = ctx->next;
            break;
        }
    while (ctx->streams) {
        CUstream stream = ctx->streams;
        ctx->streams = stream->next;
        sc_handle_remove(stream);
        free(stream);
    }
    pthread_mutex_unlock(&sc_sched_lock);
    for (int i = 0; i < depth; i++)
        if (stack[i] == ctx)
            stack[i] = NULL;
    free(ctx);
}

CUcontext sc_context_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

CUresult sc_context_push(CUcontext ctx)
{
    if (depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = ctx;
    return CUDA_SUCCESS;
}

CUcontext sc_context_pop(void)
{
    return depth > 0 ? stack[--depth] : NULL;
}

CUresult sc_context_set(CUcontext ctx)
{
    if (!ctx) {
        sc_context_pop();
        return CUDA_SUCCESS;
    }
    if (depth == 0)
        return sc_context_push(ctx);
    stack[depth - 1] = ctx;
    return CUDA_SUCCESS;
}

CUresult sc_enter_context(CUcontext *ctx)
{
    SC_TRY(sc_enter());
    if (sc_engine_in_callback())
        return CUDA_ERROR_NOT_PERMITTED;
    CUcontext now = sc_context_current();
    if (!now)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!sc_handle_is(now, SC_HANDLE_CONTEXT))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *ctx = now;
    /* a fault nobody waited for shows in the next call */
    sc_channel_help(now->device);
    CUresult result = now->sticky;
    if (result != CUDA_SUCCESS)
        sc_output_drain(now->device); /* what failed may have said why */
    return result;
}

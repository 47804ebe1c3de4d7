/*
 * Owns: streams and the ordering rules between them.
 * Does not own: operations (sched.c).  Lock: sched lock.
 */
#include "driver/stream.h"

#include <signal.h>
#include <stdlib.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/handle.h"
#include "driver/latency.h"
#include "driver/output.h"

struct own_stream {
    uint64_t ctx_id;
    CUcontext ctx;
    CUstream stream;
    struct own_stream *next;
};

static uint64_t last_id;
static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static _Thread_local struct own_stream *own;
static _Thread_local bool null_is_own;

CUstream sc_stream_new(CUcontext ctx, unsigned flags, int priority, bool legacy)
{
    CUstream stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->ctx = ctx;
    stream->flags = flags;
    stream->priority = priority;
    stream->legacy = legacy;
    stream->refs = 1;
    if (!legacy && !sc_handle_add(stream, SC_HANDLE_STREAM)) {
        free(stream);
        return NULL;
    }
    pthread_mutex_lock(&sc_sched_lock);
    stream->id = ++last_id;
    stream->next = ctx->streams;
    ctx->streams = stream;
    pthread_mutex_unlock(&sc_sched_lock);
    return stream;
}

static void drop(CUstream stream)
{
    if (--stream->refs > 0)
        return;
    /* Until here it stayed in the list: waiting for the context includes the
     * work of streams that were destroyed meanwhile. */
    for (CUstream *p = &stream->ctx->streams; *p; p = &(*p)->next)
        if (*p == stream) {
            *p = stream->next;
            break;
        }
    free(stream);
}

void sc_stream_release(CUstream stream)
{
    sc_handle_remove(stream);
    sc_capture_leave(stream);
    pthread_mutex_lock(&sc_sched_lock);
    drop(stream);
    pthread_mutex_unlock(&sc_sched_lock);
}

bool sc_stream_per_thread(bool enable)
{
    bool before = null_is_own;
    null_is_own = enable;
    return before;
}

/* The thread is not in a call of the driver: a handler that came here could call
 * it, and wait for this thread. */
static void thread_ends(void *list)
{
    struct own_stream *entry = list;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (entry) {
        struct own_stream *next = entry->next;
        if (sc_handle_is(entry->ctx, SC_HANDLE_CONTEXT) &&
            entry->ctx->id == entry->ctx_id)
            sc_stream_release(entry->stream);
        free(entry);
        entry = next;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void make_key(void)
{
    pthread_key_create(&own_key, thread_ends);
}

static CUstream own_stream(CUcontext ctx)
{
    for (struct own_stream *e = own; e; e = e->next)
        if (e->ctx == ctx && e->ctx_id == ctx->id)
            return e->stream;
    struct own_stream *entry = malloc(sizeof *entry);
    CUstream stream = sc_stream_new(ctx, CU_STREAM_DEFAULT, 0, false);
    if (!entry || !stream) {
        free(entry);
        return NULL;
    }
    *entry = (struct own_stream){ctx->id, ctx, stream, own};
    own = entry;
    pthread_once(&own_once, make_key);
    pthread_setspecific(own_key, own);
    return stream;
}

void sc_stream_forget(CUcontext ctx)
{
    for (struct own_stream **p = &own; *p;) {
        struct own_stream *entry = *p;
        if (entry->ctx != ctx) {
            p = &entry->next;
            continue;
        }
        *p = entry->next;
        free(entry);
    }
    pthread_once(&own_once, make_key);
    pthread_setspecific(own_key, own);
}

CUresult sc_stream_resolve(CUstream handle, CUcontext *ctx, CUstream *stream)
{
    if (handle == CU_STREAM_PER_THREAD || (!handle && null_is_own))
        *stream = own_stream(*ctx);
    else if (!handle || handle == CU_STREAM_LEGACY)
        *stream = (*ctx)->legacy;
    else if (sc_handle_is(handle, SC_HANDLE_STREAM))
        *stream = handle;
    else
        return CUDA_ERROR_INVALID_HANDLE;
    if (!*stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *ctx = (*stream)->ctx;
    /* the NULL stream would wait for streams that only take notes */
    if ((*stream)->legacy && atomic_load(&(*ctx)->capturing) > 0)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return (*ctx)->sticky;
}

void sc_stream_order(CUstream stream, struct sc_op *op)
{
    op->stream = stream;
    stream->refs++;
    sc_op_after(op, stream->tail);
    if (stream->legacy) {
        for (CUstream s = stream->ctx->streams; s; s = s->next)
            if (!(s->flags & CU_STREAM_NON_BLOCKING) && s != stream)
                sc_op_after(op, s->tail);
    } else if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
        sc_op_after(op, stream->ctx->legacy->tail);
    }
    if (stream->tail)
        sc_op_drop_locked(stream->tail);
    stream->tail = op;
    op->refs++;
}

void sc_stream_op_done(CUstream stream, struct sc_op *op)
{
    if (stream->tail == op) {
        stream->tail = NULL;
        sc_op_drop_locked(op);
    }
    drop(stream);
}

CUresult sc_stream_wait(CUstream stream)
{
    pthread_mutex_lock(&sc_sched_lock);
    stream->refs++;
    struct sc_op *tail = stream->tail;
    if (tail)
        tail->refs++;
    pthread_mutex_unlock(&sc_sched_lock);
    if (tail)
        sc_op_wait(tail);
    sc_output_drain(stream->ctx->device);
    sc_latency_waited();
    pthread_mutex_lock(&sc_sched_lock);
    CUresult result = stream->ctx->sticky;
    if (result == CUDA_SUCCESS) {
        result = stream->error;
        stream->error = CUDA_SUCCESS;
    }
    if (tail)
        sc_op_drop_locked(tail);
    drop(stream);
    pthread_mutex_unlock(&sc_sched_lock);
    return result;
}

/*
 * Owns: events and their entry points.
 * Does not own: operations (sched.c).  Lock: sched lock for the fields.
 */
#include "driver/event.h"

#include <stdlib.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/entry.h"
#include "driver/handle.h"
#include "driver/latency.h"
#include "driver/output.h"
#include "driver/stream.h"

static CUresult check(CUevent event)
{
    SC_TRY(sc_enter());
    return sc_handle_is(event, SC_HANDLE_EVENT) ? CUDA_SUCCESS
                                                : CUDA_ERROR_INVALID_HANDLE;
}

SC_API cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if (!phEvent || (Flags & ~(known | CU_EVENT_INTERPROCESS)))
        return CUDA_ERROR_INVALID_VALUE;
    if (Flags & CU_EVENT_INTERPROCESS)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUevent event = calloc(1, sizeof *event);
    if (!event || !sc_handle_add(event, SC_HANDLE_EVENT)) {
        free(event);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->ctx = ctx;
    event->flags = Flags;
    *phEvent = event;
    return CUDA_SUCCESS;
}

SC_API cuEventDestroy(CUevent hEvent)
{
    SC_TRY(check(hEvent));
    pthread_mutex_lock(&sc_graph_lock); /* a graph may be recording it */
    sc_handle_remove(hEvent);
    if (hEvent->op)
        sc_op_drop(hEvent->op);
    free(hEvent->captured.list);
    free(hEvent);
    pthread_mutex_unlock(&sc_graph_lock);
    return CUDA_SUCCESS;
}

void sc_event_set(CUevent event, struct sc_op *op)
{
    op->refs++;
    if (event->op)
        sc_op_drop_locked(event->op);
    event->op = op;
    atomic_store(&event->capture, 0);
}

static CUresult record(CUevent event, CUstream handle, bool external)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(event));
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (event->ctx != ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    if (sc_captures(stream))
        return sc_capture_record(stream, event, external);
    struct sc_op *op = sc_op_new(SC_OP_MARK, ctx->device, ctx);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&sc_sched_lock);
    sc_event_set(event, op);
    sc_op_submit_locked(op, stream);
    pthread_mutex_unlock(&sc_sched_lock);
    return CUDA_SUCCESS;
}

SC_API cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return record(hEvent, hStream, false);
}

SC_API cuEventRecordWithFlags(CUevent hEvent, CUstream hStream,
                              unsigned int flags)
{
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    return record(hEvent, hStream, flags & CU_EVENT_RECORD_EXTERNAL);
}

SC_API cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(hEvent));
    if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_stream_resolve(hStream, &ctx, &stream));
    if (sc_captures(stream) || atomic_load(&hEvent->capture))
        return sc_capture_wait(stream, hEvent, Flags & CU_EVENT_WAIT_EXTERNAL);
    struct sc_op *op = sc_op_new(SC_OP_MARK, ctx->device, ctx);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&sc_sched_lock);
    sc_op_after(op, hEvent->op);
    sc_op_submit_locked(op, stream);
    pthread_mutex_unlock(&sc_sched_lock);
    return CUDA_SUCCESS;
}

/* Take a reference to the latest record; NULL when there is none. */
static struct sc_op *latest(CUevent event)
{
    pthread_mutex_lock(&sc_sched_lock);
    struct sc_op *op = event->op;
    if (op)
        op->refs++;
    pthread_mutex_unlock(&sc_sched_lock);
    return op;
}

static bool is_done(const struct sc_op *op)
{
    return (atomic_load(&op->state) & ~SC_OP_WAITED) == SC_OP_DONE;
}

SC_API cuEventQuery(CUevent hEvent)
{
    SC_TRY(check(hEvent));
    if (atomic_load(&hEvent->capture))
        return CUDA_ERROR_CAPTURED_EVENT;
    struct sc_op *op = latest(hEvent);
    if (!op)
        return CUDA_SUCCESS;
    if (!is_done(op))
        sc_channel_help(op->device);
    CUresult result = is_done(op) ? op->result : CUDA_ERROR_NOT_READY;
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        sc_output_drain(op->device);
    sc_op_drop(op);
    return result;
}

SC_API cuEventSynchronize(CUevent hEvent)
{
    SC_TRY(check(hEvent));
    if (atomic_load(&hEvent->capture))
        return CUDA_ERROR_CAPTURED_EVENT;
    struct sc_op *op = latest(hEvent);
    if (!op)
        return CUDA_SUCCESS;
    CUresult result = sc_op_wait(op);
    sc_output_drain(op->device);
    sc_latency_waited();
    sc_op_drop(op);
    return result;
}

static CUresult elapsed(float *milliseconds, const struct sc_op *start,
                        const struct sc_op *end)
{
    if (!start || !end)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!is_done(start) || !is_done(end))
        return CUDA_ERROR_NOT_READY;
    if (start->result != CUDA_SUCCESS)
        return start->result;
    if (end->result != CUDA_SUCCESS)
        return end->result;
    *milliseconds =
        (float)((double)((int64_t)(end->end_ns - start->end_ns)) / 1e6);
    return CUDA_SUCCESS;
}

SC_API cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    SC_TRY(check(hStart));
    SC_TRY(check(hEnd));
    if (!pMilliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    if ((hStart->flags | hEnd->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    struct sc_op *start = latest(hStart), *end = latest(hEnd);
    CUresult result = elapsed(pMilliseconds, start, end);
    if (start)
        sc_op_drop(start);
    if (end)
        sc_op_drop(end);
    return result;
}

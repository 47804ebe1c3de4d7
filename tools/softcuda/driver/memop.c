/*
 * Owns: waiting in a stream for a value in memory, writing one.
 * Does not own: order (sched.c): a wait is a mark that is held back by one
 * dependency more until its value is there.
 * Lock: sc_sched_lock for the list of waits.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"
#include "driver/move.h"
#include "driver/stream.h"

/* Between two looks; longer while nothing happens. */
#define SHORTEST_US 20u
#define LONGEST_US  500u

struct wait {
    struct wait *next;
    struct sc_op *op; /* holds a reference */
    CUdeviceptr address;
    uint64_t value;
    unsigned bytes, compare;
};

static struct wait *waits;
static bool started;

static bool read_value(const struct wait *w, uint64_t *value)
{
    struct sc_place place;
    struct sc_block block;
    *value = 0;
    if (sc_memory_lookup(w->address, &block) && block.program)
        return sc_move_host((uint64_t)(uintptr_t)value,
                            block.program + (w->address - block.address),
                            w->bytes);
    return sc_memory_place(w->address, &place) && place.bytes >= w->bytes &&
           sc_move_down((uint64_t)(uintptr_t)value, &place, w->bytes);
}

/* Is there nothing to wait for any more?  Memory that is gone and contexts
 * that ended or failed never bring the value. */
static bool is_met(const struct wait *w)
{
    uint64_t now;
    uint64_t mask = w->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    if (!sc_handle_is(w->op->ctx, SC_HANDLE_CONTEXT) ||
        w->op->ctx->sticky != CUDA_SUCCESS || w->op->device->dead ||
        !read_value(w, &now))
        return true;
    switch (w->compare) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return w->bytes == 4
                   ? (int32_t)((uint32_t)now - (uint32_t)w->value) >= 0
                   : (int64_t)(now - w->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == (w->value & mask);
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & w->value & mask) != 0;
    default:
        return (~(now | w->value) & mask) != 0;
    }
}

/* Take the waits whose turn has come out of the list: all that is left in
 * their way is what this file added. */
static struct wait *take_due(void)
{
    struct wait *due = NULL;
    for (struct wait **p = &waits; *p;) {
        struct wait *w = *p;
        if (w->op->unmet > 1) {
            p = &w->next;
            continue;
        }
        *p = w->next;
        w->next = due;
        due = w;
    }
    return due;
}

/* Look at the due ones without the lock. Return: whether one was met. */
static bool look(struct wait *due)
{
    bool any = false;
    while (due) {
        struct wait *w = due;
        due = w->next;
        bool met = is_met(w);
        pthread_mutex_lock(&sc_sched_lock);
        if (met) {
            w->op->unmet--;
            sc_op_submit_locked(w->op, NULL);
            sc_op_drop_locked(w->op);
            free(w);
        } else {
            w->next = waits;
            waits = w;
        }
        pthread_mutex_unlock(&sc_sched_lock);
        any |= met;
    }
    return any;
}

static void *run(void *arg)
{
    unsigned pause_us = SHORTEST_US;
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&sc_sched_lock);
        struct wait *due = take_due();
        if (!due && !waits) {
            started = false; /* the next wait starts another */
            pthread_mutex_unlock(&sc_sched_lock);
            return NULL;
        }
        pthread_mutex_unlock(&sc_sched_lock);
        pause_us = look(due)                   ? SHORTEST_US
                   : pause_us * 2 > LONGEST_US ? LONGEST_US
                                               : pause_us * 2;
        usleep(pause_us);
    }
}

static CUresult resolve(CUstream handle, CUdeviceptr address, unsigned bytes,
                        CUcontext *ctx, CUstream *stream)
{
    SC_TRY(sc_enter_context(ctx));
    SC_TRY(sc_stream_resolve(handle, ctx, stream));
    if (address % bytes || !sc_memory_in_window(address) ||
        !sc_memory_covers(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return sc_captures(*stream) ? sc_capture_refuse(*stream) : CUDA_SUCCESS;
}

static CUresult wait_value(CUstream handle, CUdeviceptr address, uint64_t value,
                           unsigned bytes, unsigned flags)
{
    CUcontext ctx;
    CUstream stream;
    if (flags & (unsigned)CU_STREAM_WAIT_VALUE_FLUSH)
        return CUDA_ERROR_NOT_SUPPORTED; /* as the attribute says */
    if (flags > CU_STREAM_WAIT_VALUE_NOR)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(resolve(handle, address, bytes, &ctx, &stream));
    struct wait *w = malloc(sizeof *w);
    struct sc_op *op = w ? sc_op_new(SC_OP_MARK, ctx->device, ctx) : NULL;
    if (!op) {
        free(w);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *w = (struct wait){.op = op,
                       .address = address,
                       .value = value,
                       .bytes = bytes,
                       .compare = flags};
    pthread_mutex_lock(&sc_sched_lock);
    bool ok = started || sc_thread_start(run, NULL, 0);
    if (ok) {
        started = true;
        op->refs++;
        op->unmet = 1;
        w->next = waits;
        waits = w;
        sc_op_submit_locked(op, stream);
    } else {
        sc_op_drop_locked(op);
        free(w);
    }
    pthread_mutex_unlock(&sc_sched_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

static CUresult write_value(CUstream handle, CUdeviceptr address,
                            uint64_t value, unsigned bytes, unsigned flags)
{
    CUcontext ctx;
    CUstream stream;
    struct sc_block block;
    if (flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(resolve(handle, address, bytes, &ctx, &stream));
    if (!sc_memory_lookup(address, &block))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_op *op = sc_op_new(
        SC_OP_COMPUTE, block.device ? block.device : ctx->device, ctx);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* fits into the operation itself */
    struct sc_command_fill *c = sc_op_command(op, SC_COMMAND_FILL, sizeof *c);
    c->address = address;
    c->width = 1;
    c->height = 1;
    c->element_bytes = bytes;
    c->value = (uint32_t)value;
    c->high = (uint32_t)(value >> 32);
    sc_op_submit(op, stream);
    return CUDA_SUCCESS;
}

SC_API cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                           unsigned int flags)
{
    return wait_value(stream, addr, value, 4, flags);
}

SC_API cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                           unsigned int flags)
{
    return wait_value(stream, addr, value, 8, flags);
}

SC_API cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                            unsigned int flags)
{
    return write_value(stream, addr, value, 4, flags);
}

SC_API cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                            unsigned int flags)
{
    return write_value(stream, addr, value, 8, flags);
}

static CUresult one(CUstream stream, const CUstreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return wait_value(stream, p->waitValue.address, p->waitValue.value, 4,
                          p->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return wait_value(stream, p->waitValue.address, p->waitValue.value64, 8,
                          p->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return write_value(stream, p->writeValue.address, p->writeValue.value,
                           4, p->writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return write_value(stream, p->writeValue.address, p->writeValue.value64,
                           8, p->writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
        return CUDA_SUCCESS; /* the stream's order is one */
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED; /* as the attribute says */
    }
    return CUDA_ERROR_INVALID_VALUE;
}

SC_API cuStreamBatchMemOp(CUstream stream, unsigned int count,
                          CUstreamBatchMemOpParams *paramArray,
                          unsigned int flags)
{
    SC_TRY(sc_enter());
    if ((count && !paramArray) || count > 256 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        SC_TRY(one(stream, &paramArray[i]));
    return CUDA_SUCCESS;
}

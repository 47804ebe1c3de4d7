/*
 * Streams: what an operation has to wait for.
 */
#ifndef SOFTCUDA_DRIVER_STREAM_H
#define SOFTCUDA_DRIVER_STREAM_H

#include "driver/graph.h"
#include "driver/sched.h"

struct sc_capture;

/* Attributes that are kept for the program. */
#define SC_STREAM_ATTRIBUTES 5

/** Under sc_sched_lock. */
struct CUstream_st {
    CUcontext ctx;
    CUstream next;      /* of the context */
    struct sc_op *tail; /* last operation not done, holds a reference */
    unsigned flags;
    int priority;
    uint64_t id;
    unsigned refs;  /* the handle and each operation not done */
    CUresult error; /* of an asynchronous copy, told at the next wait */
    bool legacy;
    CUstreamAttrValue attributes[SC_STREAM_ATTRIBUTES];

    /* graph lock; `capture` is read without it */
    _Atomic(struct sc_capture *) capture;
    struct sc_node_list after; /* nodes the next one captured goes behind */
    CUstream next_captured;    /* in the same capture */
};

/** Make a stream. Return: NULL when memory ran out. Thread: any. */
CUstream sc_stream_new(CUcontext ctx, unsigned flags, int priority,
                       bool legacy);

/** Give up the handle; pending work still runs. Thread: any. */
void sc_stream_release(CUstream stream);

/**
 * Find the stream a handle means for this call.
 *
 * @handle NULL and the two special values included
 * @ctx    current context; receives the stream's context
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_HANDLE, the sticky error of the
 *         stream's context
 * Thread: any
 */
CUresult sc_stream_resolve(CUstream handle, CUcontext *ctx, CUstream *stream);

/** Let NULL mean the per-thread stream in the calls this thread makes.
 *  Return: the former setting. */
bool sc_stream_per_thread(bool enable);

/** Forget the calling thread's own stream of a context that ends. */
void sc_stream_forget(CUcontext ctx);

/** Give an operation its place: behind the stream's last one, and behind or
 *  before the legacy stream's. Thread: holds sc_sched_lock. */
void sc_stream_order(CUstream stream, struct sc_op *op);

/** An operation of the stream is done. Thread: holds sc_sched_lock. */
void sc_stream_op_done(CUstream stream, struct sc_op *op);

/** Wait for all work submitted so far.
 *  Return: error of the stream or of its context. Thread: any. */
CUresult sc_stream_wait(CUstream stream);

#endif

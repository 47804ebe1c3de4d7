/*
 * Operations: the graph of asynchronous work and who executes what.
 *
 * Every asynchronous call becomes one operation.  It waits for its
 * predecessor in the stream, for what legacy-stream rules demand and for
 * events; when nothing is left to wait for it goes to its executor: a copy
 * engine, the device's command ring, the host function thread, or the thread
 * that called.  Lock: sc_sched_lock, rank 3, one for all devices because
 * events join them.
 */
#ifndef SOFTCUDA_DRIVER_SCHED_H
#define SOFTCUDA_DRIVER_SCHED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/protocol.h"
#include "driver/copy.h"
#include "driver/driver.h"

enum sc_op_kind {
    SC_OP_MARK,     /* nothing to do: event record, wait */
    SC_OP_UPLOAD,   /* copy engine, towards the device */
    SC_OP_DOWNLOAD, /* copy engine, towards the host or another device */
    SC_OP_COMPUTE,  /* a command for the device process */
    SC_OP_HOST      /* a function of the program */
};

/* Values of sc_op.state, which is a futex. */
#define SC_OP_PENDING 0u
#define SC_OP_READY   1u /* a by_caller operation may be executed now */
#define SC_OP_DONE    2u
#define SC_OP_WAITED  0x100u /* or'ed in by a sleeper */

struct sc_op_host {
    CUhostFn function;         /* or NULL: */
    CUstreamCallback callback; /* called with the status */
    CUstream handle;
    void *data;
};

/* Where a command stands that may touch a mirror (mirror.h). */
enum sc_mirror_stage { SC_MIRROR_NONE, SC_MIRROR_BEFORE, SC_MIRROR_AFTER };

struct sc_op_compute {
    struct sc_command *command; /* small, or malloc'ed */
    int file;                   /* to pass before the command, -1 none */
    struct sc_kernel_stats *stats;
    enum sc_mirror_stage mirror;
    struct sc_result answer;
    _Alignas(16) uint8_t small[208];
};

struct sc_op {
    enum sc_op_kind kind;
    bool by_caller; /* executed by the submitting thread */
    bool cancelled; /* its slot of sc_shared.cancel is set */
    struct sc_device *device;
    CUcontext ctx;   /* NULL for the driver's own commands */
    CUstream stream; /* until done */
    _Atomic uint32_t state;
    uint32_t unmet, refs;
    /* Device whose ring already holds all this waits for, or NULL: commands
     * of that device need not wait for it, the ring keeps the order. */
    struct sc_device *in_order;
    uint32_t sequence; /* of a command in the ring: results up to it */
    CUresult result;
    uint64_t end_ns;
    struct sc_op *next;
    struct sc_op **dependents;
    uint32_t dependent_count, dependent_capacity;
    struct sc_op *few[4];
    union {
        struct sc_copy copy;
        struct sc_op_host host;
        struct sc_op_compute compute;
    };
};

struct sc_op_queue {
    struct sc_op *first, *last;
};

extern pthread_mutex_t sc_sched_lock;

/** Append. Thread: holds sc_sched_lock. */
void sc_op_queue_push(struct sc_op_queue *queue, struct sc_op *op);

/** Take the first, NULL if empty. Thread: holds sc_sched_lock. */
struct sc_op *sc_op_queue_pop(struct sc_op_queue *queue);

/**
 * Make an operation.
 *
 * Return: the operation with one reference, which completion drops; NULL
 *         when memory ran out
 * Thread: any, sc_sched_lock not held
 */
struct sc_op *sc_op_new(enum sc_op_kind kind, struct sc_device *device,
                        CUcontext ctx);

/** Reserve room for a command of `bytes` in a compute operation; zeroed.
 *  Return: the command, NULL when memory ran out. */
void *sc_op_command(struct sc_op *op, enum sc_command_type type, size_t bytes);

/** Drop a reference. Thread: any, sc_sched_lock not held. */
void sc_op_drop(struct sc_op *op);

/** As sc_op_drop for callers that hold sc_sched_lock. */
void sc_op_drop_locked(struct sc_op *op);

/**
 * Put an operation behind the others of its stream and start it if nothing
 * is in its way.
 *
 * @stream NULL for the driver's own commands
 * Thread: any, sc_sched_lock not held
 */
void sc_op_submit(struct sc_op *op, CUstream stream);

/** As sc_op_submit, for callers that hold sc_sched_lock. */
void sc_op_submit_locked(struct sc_op *op, CUstream stream);

/** Does somebody act on the completion of this operation? */
bool sc_op_is_awaited(const struct sc_op *op);

/** Let `op` wait for `on` too (may be NULL or done). Before its submission;
 *  caller holds sc_sched_lock. */
void sc_op_after(struct sc_op *op, struct sc_op *on);

/**
 * An executor is through with an operation.
 *
 * @result as a call would return it; kernel faults stick to the context
 * @end_ns when it ended
 * Thread: holds sc_sched_lock
 */
void sc_op_complete(struct sc_op *op, CUresult result, uint64_t end_ns);

/**
 * Wait until an operation is done; the caller holds a reference.
 *
 * Return: its result
 * Thread: any, no lock held
 */
CUresult sc_op_wait(struct sc_op *op);

/** As sc_op_wait, but for `ns` at most. Return: whether it is done. */
bool sc_op_wait_for(struct sc_op *op, uint64_t ns);

/**
 * Submit an operation that the calling thread executes when its turn comes,
 * wait for that, execute it.  Drops the operation.
 *
 * @op an upload or download with by_caller set
 * Return: its result
 * Thread: any, no lock held
 */
CUresult sc_op_run(struct sc_op *op, CUstream stream);

/** Execute an upload or download on the calling thread when nothing is ahead of
 *  it, else leave it to its engine. Drops it. Thread: any, no lock held */
void sc_op_run_if_ready(struct sc_op *op, CUstream stream);

/** Submit and wait; drops the operation. Return: its result. */
CUresult sc_op_submit_wait(struct sc_op *op, CUstream stream);

#endif

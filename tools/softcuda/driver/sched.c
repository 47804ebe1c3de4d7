/*
 * Owns: the operation graph: dependencies, hand-over to executors, waiting.
 * Does not own: streams (stream.c), executors (engine.c, channel.c).
 * Lock: sc_sched_lock, rank 3.
 */
#include "driver/sched.h"

#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "driver/channel.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/engine.h"
#include "driver/mirror.h"
#include "driver/stream.h"

/* Two cores are the smallest machine: spin shorter than a context switch. */
#define SPIN_NS 12000u

#define FOR_EVER UINT64_MAX

pthread_mutex_t sc_sched_lock = PTHREAD_MUTEX_INITIALIZER;

static struct sc_op *pool; /* under sc_sched_lock */

void sc_op_queue_push(struct sc_op_queue *queue, struct sc_op *op)
{
    op->next = NULL;
    if (queue->last)
        queue->last->next = op;
    else
        queue->first = op;
    queue->last = op;
}

struct sc_op *sc_op_queue_pop(struct sc_op_queue *queue)
{
    struct sc_op *op = queue->first;
    if (op) {
        queue->first = op->next;
        if (!queue->first)
            queue->last = NULL;
        op->next = NULL;
    }
    return op;
}

struct sc_op *sc_op_new(enum sc_op_kind kind, struct sc_device *device,
                        CUcontext ctx)
{
    pthread_mutex_lock(&sc_sched_lock);
    struct sc_op *op = pool;
    if (op)
        pool = op->next;
    pthread_mutex_unlock(&sc_sched_lock);
    if (!op)
        op = malloc(sizeof *op);
    if (!op)
        return NULL;
    /* the bodies are large and written by whoever fills them */
    memset(op, 0, offsetof(struct sc_op, copy));
    op->kind = kind;
    op->device = device;
    op->ctx = ctx;
    op->refs = 1;
    op->dependents = op->few;
    op->dependent_capacity = sizeof op->few / sizeof *op->few;
    if (kind == SC_OP_COMPUTE) {
        op->compute.command = NULL;
        op->compute.file = -1;
        op->compute.stats = NULL;
        op->compute.mirror = SC_MIRROR_NONE;
    }
    return op;
}

void *sc_op_command(struct sc_op *op, enum sc_command_type type, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    struct sc_command *command = (void *)op->compute.small;
    if (bytes > sizeof op->compute.small)
        command = malloc(bytes);
    if (!command)
        return NULL;
    memset(command, 0, bytes);
    command->bytes = (uint32_t)bytes;
    command->type = type;
    command->context = op->ctx ? op->ctx->id : 0;
    op->compute.command = command;
    return command;
}

void sc_op_drop_locked(struct sc_op *op)
{
    if (--op->refs > 0)
        return;
    if (op->kind == SC_OP_COMPUTE && op->compute.command &&
        (void *)op->compute.command != op->compute.small)
        free(op->compute.command);
    if (op->dependents != op->few)
        free(op->dependents);
    op->next = pool;
    pool = op;
}

void sc_op_drop(struct sc_op *op)
{
    pthread_mutex_lock(&sc_sched_lock);
    sc_op_drop_locked(op);
    pthread_mutex_unlock(&sc_sched_lock);
}

static bool is_done(const struct sc_op *op)
{
    return (atomic_load_explicit(&op->state, memory_order_acquire) &
            ~SC_OP_WAITED) == SC_OP_DONE;
}

void sc_op_after(struct sc_op *op, struct sc_op *on)
{
    if (!on || on == op || is_done(on))
        return;
    if (op->kind == SC_OP_COMPUTE && on->in_order == op->device)
        return;
    if (op->kind == SC_OP_MARK && on->in_order &&
        (op->unmet == 0 || op->in_order == on->in_order))
        op->in_order = on->in_order;
    else
        op->in_order = NULL;
    if (on->dependent_count == on->dependent_capacity) {
        uint32_t capacity = on->dependent_capacity * 4;
        struct sc_op **grown = malloc(capacity * sizeof(*grown));
        if (!grown)
            abort(); /* the order promised to the program cannot be kept */
        memcpy(grown, on->dependents, on->dependent_count * sizeof(*grown));
        if (on->dependents != on->few)
            free(on->dependents);
        on->dependents = grown;
        on->dependent_capacity = capacity;
    }
    on->dependents[on->dependent_count++] = op;
    op->unmet++;
    sc_channel_want(on);
}

bool sc_op_is_awaited(const struct sc_op *op)
{
    return op->dependent_count > 0 ||
           (atomic_load_explicit(&op->state, memory_order_relaxed) &
            SC_OP_WAITED);
}

static void set_state(struct sc_op *op, uint32_t state)
{
    uint32_t old =
        atomic_exchange_explicit(&op->state, state, memory_order_acq_rel);
    if (old & SC_OP_WAITED)
        sc_futex_wake(&op->state);
}

static bool is_sticky(CUresult result)
{
    return (result >= CUDA_ERROR_ILLEGAL_ADDRESS &&
            result <= CUDA_ERROR_LAUNCH_TIMEOUT &&
            result != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) ||
           (result >= CUDA_ERROR_ASSERT && result <= CUDA_ERROR_LAUNCH_FAILED &&
            result != CUDA_ERROR_TOO_MANY_PEERS &&
            result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED &&
            result != CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) ||
           result == CUDA_ERROR_DEVICE_UNAVAILABLE;
}

/* Record the outcome; what became free to run is appended to `ready`. */
static void settle(struct sc_op *op, CUresult result, uint64_t end_ns,
                   struct sc_op_queue *ready)
{
    op->result = result;
    op->end_ns = end_ns;
    if (op->ctx && result != CUDA_SUCCESS) {
        if (is_sticky(result) && op->ctx->sticky == CUDA_SUCCESS)
            atomic_store(&op->ctx->sticky, result);
        else if (op->stream && !op->by_caller && !is_sticky(result))
            op->stream->error = result;
    }
    for (uint32_t i = 0; i < op->dependent_count; i++) {
        struct sc_op *next = op->dependents[i];
        if (next->end_ns < end_ns)
            next->end_ns = end_ns; /* the earliest moment it could happen */
        if (--next->unmet == 0)
            sc_op_queue_push(ready, next);
    }
    set_state(op, SC_OP_DONE);
    if (op->stream)
        sc_stream_op_done(op->stream, op);
    op->stream = NULL;
    sc_op_drop_locked(op);
}

/* Hand a ready operation to its executor, or settle it at once. */
static void dispatch(struct sc_op *op, struct sc_op_queue *ready)
{
    CUresult refused = CUDA_SUCCESS;
    if (op->device && op->device->dead)
        refused = CUDA_ERROR_DEVICE_UNAVAILABLE;
    if (op->ctx && op->ctx->sticky != CUDA_SUCCESS)
        refused = op->ctx->sticky;
    if (op->kind == SC_OP_HOST && (op->host.callback || !refused)) {
        op->result = refused; /* what the callback is told */
        sc_engine_push(&op->device->host_engine, op);
    } else if (refused || op->kind == SC_OP_MARK) {
        settle(op, refused, op->end_ns ? op->end_ns : sc_now_ns(), ready);
    } else if (op->kind == SC_OP_COMPUTE && sc_mirror_concerns(op)) {
        sc_mirror_begin(op);
    } else if (op->kind == SC_OP_COMPUTE) {
        sc_channel_push(op->device, op);
    } else if (op->by_caller) {
        set_state(op, SC_OP_READY);
    } else {
        sc_engine_push(op->kind == SC_OP_UPLOAD ? &op->device->upload_engine
                                                : &op->device->download_engine,
                       op);
    }
}

void sc_op_complete(struct sc_op *op, CUresult result, uint64_t end_ns)
{
    /* A queue instead of recursion: chains may be thousands long. */
    struct sc_op_queue ready = {0};
    settle(op, result, end_ns, &ready);
    while ((op = sc_op_queue_pop(&ready)))
        dispatch(op, &ready);
}

void sc_op_submit_locked(struct sc_op *op, CUstream stream)
{
    if (stream)
        sc_stream_order(stream, op);
    if (op->unmet > 0)
        return;
    struct sc_op_queue ready = {0};
    sc_op_queue_push(&ready, op);
    while ((op = sc_op_queue_pop(&ready)))
        dispatch(op, &ready);
}

void sc_op_submit(struct sc_op *op, CUstream stream)
{
    pthread_mutex_lock(&sc_sched_lock);
    sc_op_submit_locked(op, stream);
    pthread_mutex_unlock(&sc_sched_lock);
}

static bool is_beyond(const struct sc_op *op, uint32_t from)
{
    return (atomic_load_explicit(&op->state, memory_order_acquire) &
            ~SC_OP_WAITED) > from;
}

/* A spinner collects the device's results itself, which saves waking the
 * completion thread.  Return: whether the state got beyond `from`. */
static bool spin_beyond(struct sc_op *op, uint32_t from)
{
    static struct sc_spin spins;
    if (is_beyond(op, from))
        return true;
    if (sc_channel_is_beside(op->device) || !sc_spin_now(&spins))
        return false;
    bool quiet = sc_channel_quiet(op->device);
    uint64_t until = sc_now_ns() + SPIN_NS;
    bool done = false;
    for (unsigned spin = 1; !done; spin++) {
        sc_channel_help(op->device);
        sc_relax();
        done = is_beyond(op, from);
        if (spin % 32 == 0 && sc_now_ns() > until)
            break;
    }
    if (quiet)
        sc_channel_unquiet(op->device);
    sc_spin_told(&spins, done);
    return done;
}

/* Spin, then sleep until the state is beyond `from`, or the clock beyond
 * `until_ns`.  Return: whether the state is. */
static bool wait_beyond(struct sc_op *op, uint32_t from, uint64_t until_ns)
{
    if (spin_beyond(op, from))
        return true;
    for (;;) {
        uint32_t state = atomic_load_explicit(&op->state, memory_order_acquire);
        if ((state & ~SC_OP_WAITED) > from)
            return true;
        uint64_t now = until_ns == FOR_EVER ? 0 : sc_now_ns();
        if (now >= until_ns)
            return false;
        struct timespec left = {(time_t)((until_ns - now) / 1000000000u),
                                (long)((until_ns - now) % 1000000000u)};
        if (!(state & SC_OP_WAITED) &&
            !atomic_compare_exchange_strong(&op->state, &state,
                                            state | SC_OP_WAITED))
            continue;
        pthread_mutex_lock(&sc_sched_lock);
        sc_channel_want(op);
        pthread_mutex_unlock(&sc_sched_lock);
        sc_futex_wait(&op->state, state | SC_OP_WAITED,
                      until_ns == FOR_EVER ? NULL : &left);
    }
}

CUresult sc_op_wait(struct sc_op *op)
{
    wait_beyond(op, SC_OP_READY, FOR_EVER);
    return op->result;
}

bool sc_op_wait_for(struct sc_op *op, uint64_t ns)
{
    return wait_beyond(op, SC_OP_READY, sc_now_ns() + ns);
}

/* On the thread that submitted it, whose turn has come. */
static void execute(struct sc_op *op)
{
    CUresult result = sc_copy_run(&op->copy);
    pthread_mutex_lock(&sc_sched_lock);
    sc_op_complete(op, result, sc_now_ns());
    pthread_mutex_unlock(&sc_sched_lock);
}

CUresult sc_op_run(struct sc_op *op, CUstream stream)
{
    op->by_caller = true;
    op->refs++;
    sc_op_submit(op, stream);
    wait_beyond(op, SC_OP_PENDING, FOR_EVER);
    if (!is_done(op))
        execute(op);
    CUresult result = op->result;
    sc_op_drop(op);
    return result;
}

void sc_op_run_if_ready(struct sc_op *op, CUstream stream)
{
    op->refs++;
    pthread_mutex_lock(&sc_sched_lock);
    sc_stream_order(stream, op);
    op->by_caller = op->unmet == 0;
    sc_op_submit_locked(op, NULL);
    bool ready = op->by_caller && !is_done(op);
    op->by_caller = false; /* what fails is told at the stream's next wait */
    pthread_mutex_unlock(&sc_sched_lock);
    if (ready)
        execute(op);
    sc_op_drop(op);
}

CUresult sc_op_submit_wait(struct sc_op *op, CUstream stream)
{
    op->refs++;
    sc_op_submit(op, stream);
    CUresult result = sc_op_wait(op);
    sc_op_drop(op);
    return result;
}

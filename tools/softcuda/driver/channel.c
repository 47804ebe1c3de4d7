/*
 * Owns: the driver's side of the ring: writing commands, taking results.
 * Does not own: the process (process.c), the meaning of commands.
 * Lock: sc_sched_lock; head/done ordering as protocol.h says.
 */
#include "driver/channel.h"

#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/futex.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/mirror.h"
#include "driver/stats.h"
#include "base/kernel.h"

/* At most so many results are left uncollected. */
#define COLLECT_EVERY 64u

static CUresult result_of(uint32_t status)
{
    switch ((enum sc_exec_status)status) {
    case SC_EXEC_OK:
        return CUDA_SUCCESS;
    case SC_EXEC_INVALID_PTX:
        return CUDA_ERROR_INVALID_PTX;
    case SC_EXEC_UNSUPPORTED:
        return CUDA_ERROR_INVALID_PTX;
    case SC_EXEC_NO_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case SC_EXEC_BAD_LAUNCH:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case SC_EXEC_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SC_EXEC_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SC_EXEC_ILLEGAL_INSTRUCTION:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case SC_EXEC_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case SC_EXEC_TIMEOUT:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case SC_EXEC_ASSERT:
        return CUDA_ERROR_ASSERT;
    case SC_EXEC_STACK_OVERFLOW:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    }
    return CUDA_ERROR_UNKNOWN;
}

bool sc_channel_send_file(int socket, int fd)
{
    char byte = 0;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

/* Write one command if it fits.  A command never wraps: the rest of the ring
 * is padded instead, so the device can use parameters where they lie. */
static bool write_command(struct sc_channel *channel,
                          const struct sc_command *command)
{
    struct sc_shared *shared = channel->shared;
    uint32_t tail = atomic_load_explicit(&shared->tail, memory_order_acquire);
    uint32_t room = SC_RING_BYTES - (channel->head - tail);
    uint32_t at = channel->head % SC_RING_BYTES;
    uint32_t to_end = SC_RING_BYTES - at;
    uint32_t pad = to_end < command->bytes ? to_end : 0;
    if (room < pad + command->bytes)
        return false;
    if (pad) {
        struct sc_command skip = {.bytes = pad, .type = SC_COMMAND_PAD};
        memcpy(shared->ring + at, &skip, sizeof skip);
        at = 0;
    }
    memcpy(shared->ring + at, command, command->bytes);
    channel->head += pad + command->bytes;
    return true;
}

/* Choose the result to be woken for: the first somebody waits for.  Each
 * wake-up costs more than a short kernel, so most results are left lying.
 * What waits for room in the ring waits for half of what fills it. */
static void choose_wake(struct sc_channel *channel)
{
    uint32_t scanned = 0;
    uint32_t most = COLLECT_EVERY;
    if (channel->ready.first && channel->in_flight < 2 * COLLECT_EVERY)
        most = (channel->in_flight + 1) / 2;
    uint32_t wake = channel->reaped + most;
    for (struct sc_op *op = channel->flight.first; op; op = op->next) {
        if (sc_op_is_awaited(op) || ++scanned == most) {
            wake = op->sequence;
            break;
        }
    }
    atomic_store(&channel->shared->wake_at, wake);
}

static void set_cancel(struct sc_channel *channel, struct sc_op *op, bool on)
{
    _Atomic uint32_t *cancel =
        &channel->shared->cancel[(op->sequence - 1) % SC_RESULT_SLOTS];
    atomic_store(cancel, on);
    if (on)
        sc_futex_wake(cancel);
    op->cancelled = on;
}

void sc_channel_cancel(struct sc_device *device, CUcontext ctx)
{
    /* what is in flight keeps its slot: the lock keeps others off the ring */
    for (struct sc_op *op = device->channel.flight.first; op; op = op->next)
        if (op->ctx == ctx)
            set_cancel(&device->channel, op, true);
}

/* A new wake_at: its result may have been published before the device could
 * see that. */
static void wake_if_late(struct sc_shared *shared)
{
    if ((int32_t)(atomic_load(&shared->done) - atomic_load(&shared->wake_at)) >=
        0)
        sc_flag_wake(&shared->driver_sleeps);
}

void sc_channel_want(struct sc_op *op)
{
    if (op->kind != SC_OP_COMPUTE || op->sequence == 0 || !op->device)
        return;
    struct sc_shared *shared = op->device->channel.shared;
    if ((int32_t)(op->sequence - atomic_load(&shared->wake_at)) >= 0)
        return;
    atomic_store(&shared->wake_at, op->sequence);
    wake_if_late(shared);
}

/* Commands are left that had no room: some result in the ring must wake the
 * collector, which may sleep without a limit. */
static void want_room(struct sc_channel *channel)
{
    uint32_t last = channel->reaped + channel->in_flight;
    if ((int32_t)(atomic_load(&channel->shared->wake_at) - last) <= 0)
        return;
    choose_wake(channel);
    wake_if_late(channel->shared);
}

/* From when on a paced device can work on a command. */
static void note_written(struct sc_shared *shared, const struct sc_op *op)
{
    shared->written_ns[(op->sequence - 1) % SC_RESULT_SLOTS] = sc_now_ns();
}

void sc_channel_cut(struct sc_device *device, int number)
{
    struct sc_channel *channel = &device->channel;
    if (atomic_exchange(&channel->cut, true) || device->dead)
        return;
    sc_say("device %d: the program has closed descriptor %d, which was the "
           "device's; calls on this device return "
           "CUDA_ERROR_DEVICE_UNAVAILABLE from now on",
           device->ordinal, number);
    if (channel->shared) {
        atomic_store(&channel->shared->driver_sleeps, 0);
        sc_futex_wake(&channel->shared->driver_sleeps);
    }
}

/* Return: false: not now, there is no room; or never, the channel is cut. */
static bool send_file(struct sc_device *device, int file)
{
    int socket = sc_file_number(&device->channel.socket);
    if (socket < 0)
        sc_channel_cut(device, device->channel.socket.number);
    return socket >= 0 && sc_channel_send_file(socket, file);
}

/* Move ready commands into the ring while there is room. */
static void fill_ring(struct sc_device *device)
{
    struct sc_channel *channel = &device->channel;
    uint32_t before = channel->head;
    while (channel->ready.first && channel->in_flight < SC_RESULT_SLOTS) {
        struct sc_op *op = channel->ready.first;
        /* room first: a file must not be sent for a command that waits */
        if (SC_RING_BYTES -
                (channel->head - atomic_load(&channel->shared->tail)) <
            2 * op->compute.command->bytes)
            break;
        if (op->compute.file >= 0 && !send_file(device, op->compute.file))
            break;
        write_command(channel, op->compute.command);
        sc_op_queue_push(&channel->flight, sc_op_queue_pop(&channel->ready));
        op->sequence = channel->reaped + ++channel->in_flight;
        if (channel->shared->threads_per_second)
            note_written(channel->shared, op);
        if (sc_op_is_awaited(op))
            sc_channel_want(op);
    }
    if (channel->head == before)
        return;
    atomic_store_explicit(&channel->shared->driver_cpu, sched_getcpu(),
                          memory_order_relaxed);
    atomic_store(&channel->shared->head, channel->head);
    sc_flag_wake(&channel->shared->device_sleeps);
}

/* Move ready commands into the ring, and have the rest follow. */
static void pump(struct sc_device *device)
{
    fill_ring(device);
    if (device->channel.ready.first)
        want_room(&device->channel);
}

bool sc_channel_is_beside(const struct sc_device *device)
{
    return atomic_load_explicit(&device->channel.shared->device_cpu,
                                memory_order_relaxed) == sched_getcpu();
}

void sc_channel_push(struct sc_device *device, struct sc_op *op)
{
    op->in_order = device;
    sc_op_queue_push(&device->channel.ready, op);
    pump(device);
}

static void report_fault(struct sc_device *device, const struct sc_op *op)
{
    /* later launches of a lost context were skipped and say nothing new */
    if (op->compute.command->type != SC_COMMAND_LAUNCH || !op->ctx ||
        op->ctx->sticky != CUDA_SUCCESS)
        return;
    device->channel.shared
        ->fault_text[sizeof(device->channel.shared->fault_text) - 1] = '\0';
    sc_say("device %d: %s", device->ordinal,
           device->channel.shared->fault_text);
}

static void count_launch(struct sc_device *device, const struct sc_op *op)
{
    struct sc_shared *shared = device->channel.shared;
    char *why = shared->why[op->compute.answer.why % SC_WHY_SLOTS];
    why[sizeof shared->why[0] - 1] = '\0';
    sc_stats_kernel_ran(op->compute.stats, &op->compute.answer, why);
}

/* Take the results that are there; holds sc_sched_lock. */
static void reap(struct sc_device *device)
{
    struct sc_channel *channel = &device->channel;
    uint32_t reaped = channel->reaped;
    uint32_t done =
        atomic_load_explicit(&channel->shared->done, memory_order_acquire);
    while (reaped != done && channel->flight.first) {
        struct sc_op *op = sc_op_queue_pop(&channel->flight);
        op->compute.answer = channel->shared->results[reaped % SC_RESULT_SLOTS];
        atomic_store_explicit(&channel->reaped, ++reaped, memory_order_relaxed);
        channel->in_flight--;
        if (op->cancelled)
            set_cancel(channel, op, false);
        CUresult result = result_of(op->compute.answer.status);
        if (result != CUDA_SUCCESS)
            report_fault(device, op);
        if (op->compute.stats)
            count_launch(device, op);
        if (op->compute.mirror)
            sc_mirror_end(op, result);
        else
            sc_op_complete(op, result, op->compute.answer.end_ns);
    }
    if (channel->ready.first)
        pump(device);
    choose_wake(channel);
}

bool sc_channel_quiet(struct sc_device *device)
{
    struct sc_shared *shared = device->channel.shared;
    return shared && atomic_exchange(&shared->driver_sleeps, 0);
}

void sc_channel_unquiet(struct sc_device *device)
{
    struct sc_shared *shared = device->channel.shared;
    atomic_store(&shared->driver_sleeps, 1);
    wake_if_late(shared);
}

void sc_channel_help(struct sc_device *device)
{
    struct sc_channel *channel = &device->channel;
    if (!channel->shared ||
        atomic_load_explicit(&channel->shared->done, memory_order_relaxed) ==
            atomic_load_explicit(&channel->reaped, memory_order_relaxed))
        return;
    if (pthread_mutex_trylock(&sc_sched_lock) != 0)
        return;
    reap(device);
    pthread_mutex_unlock(&sc_sched_lock);
}

static void *collect(void *arg)
{
    struct sc_device *device = arg;
    struct sc_shared *shared = device->channel.shared;
    /* when results nobody waits for, errors among them, are seen at last */
    const struct timespec moment = {0, 2000000};
    for (;;) {
        pthread_mutex_lock(&sc_sched_lock);
        reap(device);
        if (atomic_load(&device->channel.cut) && !device->dead)
            sc_device_died(device);
        bool dead = device->dead;
        bool idle = device->channel.in_flight == 0;
        pthread_mutex_unlock(&sc_sched_lock);
        if (dead)
            return NULL;
        atomic_store(&shared->driver_sleeps, 1);
        uint32_t done = atomic_load(&shared->done);
        if ((int32_t)(done - atomic_load(&shared->wake_at)) < 0 &&
            !atomic_load(&device->channel.cut))
            sc_flag_sleep(&shared->driver_sleeps, idle ? NULL : &moment);
    }
}

bool sc_channel_start(struct sc_device *device)
{
    return sc_thread_start(collect, device, 128 << 10);
}

void sc_channel_fail(struct sc_device *device)
{
    struct sc_channel *channel = &device->channel;
    struct sc_op *op;
    reap(device);
    while ((op = sc_op_queue_pop(&channel->flight)))
        sc_op_complete(op, CUDA_ERROR_DEVICE_UNAVAILABLE, sc_now_ns());
    channel->in_flight = 0;
    while ((op = sc_op_queue_pop(&channel->ready)))
        sc_op_complete(op, CUDA_ERROR_DEVICE_UNAVAILABLE, sc_now_ns());
    atomic_store(&channel->shared->driver_sleeps, 0);
    sc_futex_wake(&channel->shared->driver_sleeps);
}

/*
 * Owns: command execution order, the module table, result publication.
 * Does not own: mappings (space.c), the PTX machine (exec/).
 * No lock: one thread serves; the shared counters are atomics.
 */
#include "device/serve.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/answer.h"
#include "device/count.h"
#include "device/fill.h"
#include "base/futex.h"
#include "device/output.h"
#include "device/pace.h"
#include "device/space.h"
#include "base/aside.h"
#include "exec/exec.h"

/* Generic addresses of .shared and .local; far below any mapping. */
#define SHARED_BASE (1ull << 40)
#define LOCAL_BASE  (SHARED_BASE + (1ull << 32))

/* Long enough to catch the next launch of a loop that synchronises, short
 * enough not to steal a core of a small machine. */
#define SPIN_NS 15000u

static struct sc_shared *channel;
static int files_socket;
static struct sc_module **modules;
static size_t module_count;

int sc_serve_receive_file(int socket)
{
    char byte;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    struct cmsghdr *part_head = CMSG_FIRSTHDR(&message);
    if (!part_head || part_head->cmsg_type != SCM_RIGHTS)
        return -1;
    int fd;
    memcpy(&fd, CMSG_DATA(part_head), sizeof fd);
    return fd;
}

static uint32_t spin_for_commands(uint32_t tail)
{
    uint64_t until = sc_now_ns() + SPIN_NS;
    for (unsigned spin = 1;; spin++) {
        uint32_t head =
            atomic_load_explicit(&channel->head, memory_order_acquire);
        if (head != tail || (spin % 64 == 0 && sc_now_ns() > until))
            return head;
        sc_relax();
    }
}

static uint32_t sleep_for_commands(uint32_t tail)
{
    uint32_t head;
    for (;;) {
        atomic_store(&channel->device_sleeps, 1);
        head = atomic_load(&channel->head);
        if (head != tail)
            break;
        sc_flag_sleep(&channel->device_sleeps, NULL);
    }
    atomic_store_explicit(&channel->device_sleeps, 0, memory_order_relaxed);
    return head;
}

static uint32_t wait_for_commands(uint32_t tail)
{
    static struct sc_spin spins;
    uint32_t head = atomic_load_explicit(&channel->head, memory_order_acquire);
    if (head != tail)
        return head;
    if (sc_spin_now(&spins)) {
        head = spin_for_commands(tail);
        sc_spin_told(&spins, head != tail);
    }
    if (head == tail)
        head = sleep_for_commands(tail);
    if (sc_aside(
            atomic_load_explicit(&channel->driver_cpu, memory_order_relaxed)))
        sc_spin_renew(&spins);
    return head;
}

static void publish(struct sc_result result)
{
    uint32_t done = atomic_load_explicit(&channel->done, memory_order_relaxed);
    channel->results[done % SC_RESULT_SLOTS] = result;
    atomic_store_explicit(&channel->device_cpu, sched_getcpu(),
                          memory_order_relaxed);
    atomic_store(&channel->done, done + 1);
    if ((int32_t)(done + 1 - atomic_load(&channel->wake_at)) >= 0)
        sc_flag_wake(&channel->driver_sleeps);
}

/* Contexts that ended in a fault; the numbers are never used again. */
static struct failed {
    struct failed *next;
    uint64_t context;
    uint32_t status;
} * failures;

static const struct failed *failure_of(uint64_t context)
{
    const struct failed *f = context ? failures : NULL;
    while (f && f->context != context)
        f = f->next;
    return f;
}

static void note_failure(uint64_t context, uint32_t status)
{
    struct failed *f = malloc(sizeof *f);
    if (!f)
        abort(); /* running on would show the program impossible results */
    *f = (struct failed){failures, context, status};
    failures = f;
}

static size_t module_slot(void)
{
    for (size_t i = 0; i < module_count; i++)
        if (!modules[i])
            return i;
    struct sc_module **grown =
        realloc(modules, (module_count + 16) * sizeof(*modules));
    if (!grown)
        return SIZE_MAX;
    modules = grown;
    memset(modules + module_count, 0, 16 * sizeof(*modules));
    module_count += 16;
    return module_count - 16;
}

static char *read_image(int fd, uint64_t bytes)
{
    char *text = malloc(bytes + 1);
    uint64_t done = 0;
    while (text && done < bytes) {
        ssize_t n = pread(fd, text + done, bytes - done, (off_t)done);
        if (n <= 0) {
            free(text);
            return NULL;
        }
        done += (uint64_t)n;
    }
    if (text)
        text[bytes] = '\0';
    return text;
}

static enum sc_exec_status load(const struct sc_command_load *command)
{
    int fd = sc_serve_receive_file(files_socket);
    if (fd < 0)
        return SC_EXEC_NO_MEMORY;
    struct sc_space space = {
        .window_base = channel->window_base,
        .window_bytes = channel->window_bytes,
        .shared_base = SHARED_BASE,
        .local_base = LOCAL_BASE,
        .alloc = sc_space_heap_alloc,
        .free = sc_space_heap_free,
        /* whole pages of the heap's file: the host maps the same ones */
        .alloc_managed = sc_space_heap_alloc,
        .sm = (int)channel->sm,
    };
    char log[4096] = "";
    size_t slot = module_slot();
    struct sc_module *module = NULL;
    enum sc_exec_status status = SC_EXEC_NO_MEMORY;
    char *image = read_image(fd, command->image_bytes);
    if (image && slot != SIZE_MAX)
        status = sc_module_load(&module, image, command->image_bytes, &space,
                                log, sizeof log);
    free(image);
    if (status == SC_EXEC_OK)
        modules[slot] = module;
    if (!sc_answer_write(fd, status, module, slot, log))
        status = SC_EXEC_NO_MEMORY;
    close(fd);
    return status;
}

static void unload(const struct sc_command_unload *command)
{
    if (command->module >= module_count)
        return;
    sc_module_unload(modules[command->module]);
    modules[command->module] = NULL;
}

/* Slot of a text that the driver may show; the last one when all are taken. */
static uint8_t why_slot(const char *why)
{
    uint8_t i = 1;
    if (!why)
        return 0;
    for (; i < SC_WHY_SLOTS - 1 && channel->why[i][0]; i++)
        if (strncmp(channel->why[i], why, sizeof channel->why[i] - 1) == 0)
            return i;
    snprintf(channel->why[i], sizeof channel->why[i], "%s", why);
    return i;
}

static void note_executor(const struct sc_launch_report *report,
                          struct sc_result *result)
{
    result->ran = (report->interpreted ? SC_RAN_INTERPRETED : 0) |
                  (report->native ? SC_RAN_NATIVE : 0);
    result->why = report->interpreted ? why_slot(report->why) : 0;
}

static enum sc_exec_status launch(const struct sc_command_launch *command,
                                  struct sc_result *result)
{
    if (command->module >= module_count || !modules[command->module])
        return SC_EXEC_BAD_LAUNCH;
    struct sc_launch_report report = {0};
    uint32_t slot = atomic_load_explicit(&channel->done, memory_order_relaxed) %
                    SC_RESULT_SLOTS;
    struct sc_launch launch = {
        .grid = {command->grid[0], command->grid[1], command->grid[2]},
        .block = {command->block[0], command->block[1], command->block[2]},
        .dynamic_shared_bytes = command->shared_bytes,
        .params = command->params,
        .param_bytes = command->param_bytes,
        .cancel = (const volatile int *)&channel->cancel[slot],
        .print = sc_output_print,
        .print_ctx = channel,
        .cooperative = command->cooperative != 0,
        .report = &report,
    };
    struct sc_exec_fault fault = {0};
    enum sc_exec_status status = sc_kernel_launch(
        modules[command->module], command->kernel, &launch, &fault);
    note_executor(&report, result);
    if (status != SC_EXEC_OK) {
        result->address = fault.address;
        result->line = fault.line;
        snprintf(channel->fault_text, sizeof channel->fault_text, "%s",
                 fault.text);
    }
    return status;
}

/* The kernel of a launch, where it is counted. */
static struct sc_count *begin_count(const struct sc_command *command)
{
    const struct sc_command_launch *c = (const void *)command;
    if (command->type != SC_COMMAND_LAUNCH ||
        !atomic_load_explicit(&channel->report, memory_order_relaxed) ||
        c->module >= module_count || !modules[c->module])
        return NULL;
    return sc_count_begin(
        sc_module_kernel(modules[c->module], c->kernel)->name);
}

static enum sc_exec_status execute(const struct sc_command *command,
                                   struct sc_result *result)
{
    const void *body = command;
    switch ((enum sc_command_type)command->type) {
    case SC_COMMAND_ADOPT: {
        const struct sc_command_adopt *c = body;
        int fd = sc_serve_receive_file(files_socket);
        if (fd < 0)
            return SC_EXEC_NO_MEMORY;
        sc_space_adopt(c->file, fd);
        return SC_EXEC_OK;
    }
    case SC_COMMAND_MAP: {
        const struct sc_command_map *c = body;
        bool ok =
            sc_space_map(c->address, c->bytes, c->file, c->offset, c->writable);
        return ok ? SC_EXEC_OK : SC_EXEC_NO_MEMORY;
    }
    case SC_COMMAND_UNMAP: {
        const struct sc_command_unmap *c = body;
        sc_space_unmap(c->address, c->bytes);
        return SC_EXEC_OK;
    }
    case SC_COMMAND_LOAD:
        return load(body);
    case SC_COMMAND_UNLOAD:
        unload(body);
        return SC_EXEC_OK;
    case SC_COMMAND_LAUNCH:
        return launch(body, result);
    case SC_COMMAND_FILL:
        sc_fill_run(body);
        return SC_EXEC_OK;
    case SC_COMMAND_COPY:
        sc_copy_run(body);
        return SC_EXEC_OK;
    case SC_COMMAND_LIMIT: {
        const struct sc_command_limit *c = body;
        return sc_exec_set_limit((enum sc_exec_limit)c->limit, c->bytes)
                   ? SC_EXEC_OK
                   : SC_EXEC_BAD_LAUNCH;
    }
    case SC_COMMAND_PAD:
        break;
    }
    return SC_EXEC_ILLEGAL_INSTRUCTION;
}

/* Execute a command, a launch at the device's pace. */
static enum sc_exec_status perform(const struct sc_command *command,
                                   struct sc_result *result)
{
    enum sc_exec_status status = execute(command, result);
    const struct sc_command_launch *c = (const void *)command;
    if (!channel->threads_per_second)
        return status;
    if (command->type != SC_COMMAND_LAUNCH || status != SC_EXEC_OK) {
        sc_pace_pass(channel, sc_now_ns() - result->begin_ns);
        return status;
    }
    if (sc_pace_keep(channel, c->grid, c->block))
        return SC_EXEC_OK;
    snprintf(channel->fault_text, sizeof channel->fault_text,
             "kernel '%.60s' was cancelled",
             sc_module_kernel(modules[c->module], c->kernel)->name);
    return SC_EXEC_TIMEOUT;
}

_Noreturn void sc_serve(struct sc_shared *shared, int socket)
{
    channel = shared;
    files_socket = socket;
    if (shared->threads_per_second)
        prctl(PR_SET_TIMERSLACK, 1000); /* sleeps end when they should */
    uint32_t tail = 0;
    for (;;) {
        wait_for_commands(tail);
        const struct sc_command *command =
            (const void *)(shared->ring + tail % SC_RING_BYTES);
        uint32_t bytes = command->bytes;
        if (command->type != SC_COMMAND_PAD) {
            struct sc_result result = {.begin_ns = sc_now_ns()};
            const struct failed *failed = failure_of(command->context);
            struct sc_count *count = failed ? NULL : begin_count(command);
            result.status = failed ? failed->status : perform(command, &result);
            if (!failed && command->context && result.status != SC_EXEC_OK &&
                result.status != SC_EXEC_BAD_LAUNCH)
                note_failure(command->context, result.status);
            result.end_ns = sc_now_ns();
            if (count)
                sc_count_end(count, &result, channel->why[result.why]);
            /* The room of the command must be free before its result shows:
             * the driver refills the ring when it sees results. */
            tail += bytes;
            atomic_store_explicit(&shared->tail, tail, memory_order_release);
            publish(result);
        } else {
            tail += bytes;
            atomic_store_explicit(&shared->tail, tail, memory_order_release);
        }
    }
}

/*
 * The ring of trace events: see base/trace.h. Its file: trace_file.c.
 */
#include "base/trace_parts.h"

#include "base/system.h"
#include "base/thread.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic bool adsm_trace_on;

static struct {
    struct adsm_trace_event *ring;
    size_t mask;
    const char *path;
    uint64_t began_ns;
    _Atomic uint64_t next;
} trace;
static __thread uint32_t trace_thread
    __attribute__((tls_model("initial-exec")));

static int trace_open(void)
{
    return open(trace.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/* What a program has that is ended before it writes its trace. Who reads from a
 * pipe would take that for its end. */
static void trace_leave_empty(void)
{
    struct stat about;
    if (stat(trace.path, &about) == 0 && !S_ISREG(about.st_mode))
        return;
    int fd = trace_open();
    if (fd >= 0)
        close(fd);
}

adsm_status_t adsm_trace_start(const char *path, size_t events, uint64_t began)
{
    if (trace.ring != NULL)
        return ADSM_E_INVALID;
    size_t slots = 16;
    while (slots < events)
        slots *= 2;
    void *map = adsm_system_mmap(NULL, slots * sizeof *trace.ring,
                                 PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return ADSM_E_NOMEM;
    trace.ring = map;
    trace.mask = slots - 1;
    trace.path = path;
    trace.began_ns = began;
    trace_leave_empty();
    atomic_store_explicit(&trace.next, 0, memory_order_relaxed);
    /* Release: whoever sees it on sees the ring (see adsm_trace_record). */
    atomic_store_explicit(&adsm_trace_on, true, memory_order_release);
    return ADSM_OK;
}

static uint32_t trace_thread_id(void)
{
    if (trace_thread == 0)
        trace_thread = (uint32_t)syscall(SYS_gettid);
    return trace_thread;
}

/* Relaxed: the stamp orders them. */
#define SET(member, value)                                                     \
    atomic_store_explicit(&event->member, (value), memory_order_relaxed)

static void trace_set_cause(struct adsm_trace_event *event,
                            const struct adsm_cause *cause)
{
    static const struct adsm_cause none = {.why = ADSM_WHYS};
    if (cause == NULL)
        cause = &none;
    SET(why, (int8_t)cause->why);
    SET(instruction, cause->instruction);
    SET(object, cause->object);
    SET(object_bytes, cause->object_bytes);
    SET(object_offset, cause->object_offset);
    SET(block_bytes, cause->block_bytes);
}

void adsm_trace_record(const struct adsm_trace_span *span)
{
    if (!atomic_load_explicit(&adsm_trace_on, memory_order_acquire))
        return;
    uint64_t number =
        atomic_fetch_add_explicit(&trace.next, 1, memory_order_relaxed);
    struct adsm_trace_event *event = &trace.ring[number & trace.mask];
    SET(stamp, 0);
    atomic_thread_fence(memory_order_release);
    SET(name, (uintptr_t)span->name);
    SET(start_ns, span->start_ns);
    SET(end_ns, span->end_ns);
    SET(bytes, span->bytes);
    SET(thread, trace_thread_id());
    SET(own, adsm_thread_is_own);
    SET(kind, (int8_t)span->kind);
    SET(way, (int8_t)span->way);
    SET(device, (int8_t)span->device);
    trace_set_cause(event, span->cause);
    /* Release: a reader that sees the stamp sees the members. */
    atomic_store_explicit(&event->stamp, number + 1, memory_order_release);
}

adsm_status_t adsm_trace_finish(void)
{
    /* The ring stays mapped: a thread may be in the middle of an event. */
    if (!atomic_exchange_explicit(&adsm_trace_on, false, memory_order_acquire))
        return ADSM_OK;
    struct adsm_trace_ring ring = {
        .event = trace.ring,
        .mask = trace.mask,
        .began_ns = trace.began_ns,
        .ended_ns = adsm_now_ns(),
        .next = atomic_load_explicit(&trace.next, memory_order_relaxed)};
    int fd = trace_open();
    if (fd < 0)
        return ADSM_E_SYSTEM;
    bool written = adsm_trace_write(&ring, fd);
    return close(fd) == 0 && written ? ADSM_OK : ADSM_E_SYSTEM;
}

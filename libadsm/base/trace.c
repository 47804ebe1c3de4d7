/*
 * Trace ring and Chrome trace file: see base/trace.h.
 */
#include "base/system.h"
#include "base/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * One event. `stamp` is the number of the event plus one, stored last; while
 * the members change it is 0. A reader that finds another number than the one
 * it looks for skips the event. All members are relaxed atomics because a slow
 * writer may be overtaken by a whole lap.
 */
struct trace_event {
    _Atomic uint64_t stamp;
    _Atomic uintptr_t name;
    _Atomic uint64_t start_ns, end_ns, bytes, thread;
    _Atomic int why; /* ADSM_WHYS: it has no cause */
    _Atomic uintptr_t instruction, object;
    _Atomic size_t object_bytes;
};

_Atomic bool adsm_trace_on;

static struct {
    struct trace_event *ring;
    size_t mask;
    const char *path;
    uint64_t start_ns;
    _Atomic uint64_t next;
} trace;
static __thread uint32_t trace_thread
    __attribute__((tls_model("initial-exec")));

adsm_status_t adsm_trace_start(const char *path, size_t events)
{
    if (trace.ring != NULL)
        return ADSM_E_INVALID;
    size_t slots = 16;
    while (slots < (events != 0 ? events : ADSM_TRACE_EVENTS))
        slots *= 2;
    void *map = adsm_system_mmap(NULL, slots * sizeof *trace.ring,
                                 PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return ADSM_E_NOMEM;
    trace.ring = map;
    trace.mask = slots - 1;
    trace.path = path;
    trace.start_ns = adsm_now_ns();
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

static void trace_set_cause(struct trace_event *event,
                            const struct adsm_cause *cause)
{
    static const struct adsm_cause none = {.why = ADSM_WHYS};
    if (cause == NULL)
        cause = &none;
    atomic_store_explicit(&event->why, (int)cause->why, memory_order_relaxed);
    atomic_store_explicit(&event->instruction, cause->instruction,
                          memory_order_relaxed);
    atomic_store_explicit(&event->object, cause->object, memory_order_relaxed);
    atomic_store_explicit(&event->object_bytes, cause->object_bytes,
                          memory_order_relaxed);
}

void adsm_trace_record(const char *name, uint64_t start_ns, uint64_t end_ns,
                       uint64_t bytes, const struct adsm_cause *cause)
{
    if (!atomic_load_explicit(&adsm_trace_on, memory_order_acquire))
        return;
    uint64_t number =
        atomic_fetch_add_explicit(&trace.next, 1, memory_order_relaxed);
    struct trace_event *event = &trace.ring[number & trace.mask];
    atomic_store_explicit(&event->stamp, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&event->name, (uintptr_t)name, memory_order_relaxed);
    atomic_store_explicit(&event->start_ns, start_ns, memory_order_relaxed);
    atomic_store_explicit(&event->end_ns, end_ns, memory_order_relaxed);
    atomic_store_explicit(&event->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&event->thread, trace_thread_id(),
                          memory_order_relaxed);
    trace_set_cause(event, cause);
    /* Release: a reader that sees the stamp sees the members. */
    atomic_store_explicit(&event->stamp, number + 1, memory_order_release);
}

static void trace_write_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static double trace_us(uint64_t ns)
{
    return (double)ns / 1000.0;
}

/* Addresses as text: a reader's numbers may be too short for them. */
static void trace_write_cause(FILE *out, const struct trace_event *event)
{
    int why = atomic_load_explicit(&event->why, memory_order_relaxed);
    uintptr_t object =
        atomic_load_explicit(&event->object, memory_order_relaxed);
    uintptr_t instruction =
        atomic_load_explicit(&event->instruction, memory_order_relaxed);
    if (why != ADSM_WHYS)
        fprintf(out, ",\"cause\":\"%s\"", adsm_cause_word((enum adsm_why)why));
    if (object != 0)
        fprintf(
            out, ",\"object\":\"%#" PRIxPTR "\",\"object_bytes\":%zu", object,
            atomic_load_explicit(&event->object_bytes, memory_order_relaxed));
    if (instruction != 0)
        fprintf(out, ",\"instruction\":\"%#" PRIxPTR "\"", instruction);
}

static void trace_write_event(FILE *out, const struct trace_event *event,
                              bool first)
{
    uint64_t start =
        atomic_load_explicit(&event->start_ns, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&event->end_ns, memory_order_relaxed);
    uint64_t origin = start < trace.start_ns ? start : trace.start_ns;
    fputs(first ? "\n{\"name\":" : ",\n{\"name\":", out);
    trace_write_string(out, (const char *)atomic_load_explicit(
                                &event->name, memory_order_relaxed));
    fprintf(out,
            ",\"ph\":\"X\",\"pid\":%d,\"tid\":%" PRIu64
            ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"bytes\":%" PRIu64,
            (int)getpid(),
            atomic_load_explicit(&event->thread, memory_order_relaxed),
            trace_us(start - origin), trace_us(end - start),
            atomic_load_explicit(&event->bytes, memory_order_relaxed));
    trace_write_cause(out, event);
    fputs("}}", out);
}

static void trace_write(FILE *out)
{
    uint64_t next = atomic_load_explicit(&trace.next, memory_order_relaxed);
    uint64_t slots = trace.mask + 1;
    uint64_t lost = next > slots ? next - slots : 0;
    bool first = true;
    fprintf(out,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":"
            "{\"events_overwritten\":%" PRIu64 "},\"traceEvents\":[",
            lost);
    for (uint64_t number = lost; number < next; number++) {
        const struct trace_event *event = &trace.ring[number & trace.mask];
        if (atomic_load_explicit(&event->stamp, memory_order_acquire) !=
            number + 1)
            continue;
        trace_write_event(out, event, first);
        first = false;
    }
    fputs("\n]}\n", out);
}

adsm_status_t adsm_trace_finish(void)
{
    /* The ring stays mapped: a thread may be in the middle of an event. */
    if (!atomic_exchange_explicit(&adsm_trace_on, false, memory_order_acquire))
        return ADSM_OK;
    FILE *out = fopen(trace.path, "we");
    if (out == NULL)
        return ADSM_E_SYSTEM;
    trace_write(out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return ADSM_E_SYSTEM;
    return ADSM_OK;
}

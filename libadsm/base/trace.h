/*
 * Trace events in a bounded ring, written as Chrome/Perfetto JSON at the end.
 *
 * Owns the ring. Does not decide what is an event; the format of the file is
 * trace_file.c's. No lock: a slot is taken by one atomic add and stamped when it
 * is complete; the oldest events are overwritten. Off costs one predictable
 * branch.
 *
 * Bytes that move are counted here as well, recorded or not: so those in a trace
 * that has lost no event are those of the counters.
 */
#ifndef ADSM_BASE_TRACE_H
#define ADSM_BASE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cause.h"
#include "base/clock.h"
#include "base/status.h"

/** What a thread does in a span; "cat" of its event. */
enum adsm_trace_kind {
    ADSM_TRACE_setup,    /* the runtime starts, a device is opened */
    ADSM_TRACE_signal,   /* an access that faulted is answered */
    ADSM_TRACE_transfer, /* bytes are sent, fetched or moved in devices */
    ADSM_TRACE_wait,     /* for work of a device */
    ADSM_TRACE_launch,   /* a kernel is called */
    ADSM_TRACE_memory,   /* an array comes or goes */
    ADSM_TRACE_io,       /* a call of the system or libc has shared memory */
    ADSM_TRACE_KINDS
};

enum adsm_way {
    ADSM_WAY_NONE,
    ADSM_WAY_UP,
    ADSM_WAY_DOWN,
    ADSM_WAY_DEVICE /* within one or between two */
};

struct adsm_trace_span {
    enum adsm_trace_kind kind;
    const char *name; /* a literal: the pointer is kept */
    uint64_t start_ns, end_ns;
    int device; /* its number; -1: none */
    enum adsm_way way;
    uint64_t bytes;                 /* that moved */
    const struct adsm_cause *cause; /* NULL: none */
};

extern _Atomic bool adsm_trace_on;

/**
 * Start recording. The file is made, empty: so who ends before it is written
 * leaves no older one.
 *
 * @path    file for adsm_trace_finish; the text must stay
 * @events  ring size, rounded up to a power of two
 * @began   when time begins, at most adsm_now_ns()
 * Return: ADSM_OK; ADSM_E_NOMEM; ADSM_E_INVALID (has been started before)
 * Thread: one
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_trace_start(const char *path, size_t events,
                                               uint64_t began);

/**
 * Stop recording and write the file; nothing when not recording.
 *
 * Return: ADSM_OK; ADSM_E_SYSTEM (file not written; errno says why)
 * Thread: one; events of other threads meanwhile may be left out
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_trace_finish(void);

/** Record a finished span, where there is a recording. Signal: any handler. */
void adsm_trace_record(const struct adsm_trace_span *span);

/** Signal: any handler */
static inline bool adsm_trace_is_on(void)
{
    /* Relaxed: missing the first events after the start does no harm. */
    return __builtin_expect(
        atomic_load_explicit(&adsm_trace_on, memory_order_relaxed), 0);
}

/**
 * Begin a span.
 *
 * Return: its start in nanoseconds; 0 when not recording
 * Thread: any
 * Signal: any handler
 */
static inline uint64_t adsm_trace_begin(void)
{
    return adsm_trace_is_on() ? adsm_now_ns() : 0;
}

/**
 * End a span that moves no bytes and record it.
 *
 * @name  a literal: the pointer is kept; @start_ns  from adsm_trace_begin
 * @device  its number; -1: none; @cause  why, and for what; NULL: none
 * Thread: the one that began it
 * Signal: any handler
 */
static inline void adsm_trace_end(enum adsm_trace_kind kind, const char *name,
                                  uint64_t start_ns, int device,
                                  const struct adsm_cause *cause)
{
    if (__builtin_expect(start_ns != 0, 0))
        adsm_trace_record(&(struct adsm_trace_span){.kind = kind,
                                                    .name = name,
                                                    .start_ns = start_ns,
                                                    .end_ns = adsm_now_ns(),
                                                    .device = device,
                                                    .cause = cause});
}

/**
 * Bytes were moved, or are under way: count them, and end the span.
 *
 * @bytes  0: none, as where it failed; the rest as above
 * Thread: the one that began it
 * Signal: any handler
 */
static inline void adsm_trace_moved(enum adsm_way way, const char *name,
                                    uint64_t start_ns, int device,
                                    uint64_t bytes,
                                    const struct adsm_cause *cause)
{
    if (way == ADSM_WAY_UP)
        adsm_cause_up(cause, bytes);
    else if (way == ADSM_WAY_DOWN)
        adsm_cause_down(cause, bytes);
    else
        adsm_cause_device(cause, bytes);
    if (__builtin_expect(start_ns != 0, 0))
        adsm_trace_record(&(struct adsm_trace_span){ADSM_TRACE_transfer, name,
                                                    start_ns, adsm_now_ns(),
                                                    device, way, bytes, cause});
}

#endif

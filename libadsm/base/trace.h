/*
 * Trace events in a bounded ring, written as Chrome/Perfetto JSON at the end.
 *
 * Owns the ring and the file format. Does not decide what is an event. No
 * lock: a slot is taken by one atomic add and stamped when it is complete; the
 * oldest events are overwritten. Off costs one predictable branch.
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

/** Events kept by adsm_trace_start(path, 0). */
#define ADSM_TRACE_EVENTS 65536

extern _Atomic bool adsm_trace_on;

/**
 * Start recording.
 *
 * @path    file for adsm_trace_finish; the text must stay
 * @events  ring size, rounded up to a power of two; 0 for ADSM_TRACE_EVENTS
 * Return: ADSM_OK; ADSM_E_NOMEM; ADSM_E_INVALID (has been started before)
 * Thread: one
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_trace_start(const char *path, size_t events);

/**
 * Stop recording and write the file; nothing when not recording.
 *
 * Return: ADSM_OK; ADSM_E_SYSTEM (file not written; errno says why)
 * Thread: one; events of other threads meanwhile may be left out
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_trace_finish(void);

/** Record a finished span; use adsm_trace_span_end. Signal: any handler. */
void adsm_trace_record(const char *name, uint64_t start_ns, uint64_t end_ns,
                       uint64_t bytes, const struct adsm_cause *cause);

/**
 * Begin a span.
 *
 * Return: its start in nanoseconds; 0 when not recording
 * Thread: any
 * Signal: any handler
 */
static inline uint64_t adsm_trace_span_begin(void)
{
    /* Relaxed: missing the first events after the start does no harm. */
    if (__builtin_expect(
            !atomic_load_explicit(&adsm_trace_on, memory_order_relaxed), 1))
        return 0;
    return adsm_now_ns();
}

/**
 * End a span and record it.
 *
 * @name   a literal: the pointer is kept; @start_ns  from span_begin
 * @bytes  moved in the span, 0 for none; @cause  why; NULL: for none
 * Thread: the one that began it
 * Signal: any handler
 */
static inline void adsm_trace_span_end(const char *name, uint64_t start_ns,
                                       uint64_t bytes,
                                       const struct adsm_cause *cause)
{
    if (__builtin_expect(start_ns != 0, 0))
        adsm_trace_record(name, start_ns, adsm_now_ns(), bytes, cause);
}

#endif

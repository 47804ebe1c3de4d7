/*
 * What trace.c and trace_file.c know of each other: the ring.
 */
#ifndef ADSM_BASE_TRACE_PARTS_H
#define ADSM_BASE_TRACE_PARTS_H

#include "base/trace.h"

/*
 * One event. `stamp` is the number of the event plus one, stored last; while
 * the members change it is 0. A reader that finds another number than the one
 * it looks for skips the event. All members are relaxed atomics because a slow
 * writer may be overtaken by a whole lap.
 */
struct adsm_trace_event {
    _Atomic uint64_t stamp;
    _Atomic uintptr_t name;
    _Atomic uint64_t start_ns, end_ns, bytes;
    _Atomic uint32_t thread;
    _Atomic int8_t kind, way, why; /* why: ADSM_WHYS: it has no cause */
    _Atomic int8_t device;
    _Atomic bool own; /* the thread is one of the runtime's */
    _Atomic uintptr_t instruction, object;
    _Atomic size_t object_bytes, object_offset, block_bytes;
};

struct adsm_trace_ring {
    struct adsm_trace_event *event;
    size_t mask;
    uint64_t began_ns, ended_ns;
    uint64_t next; /* events that there were */
};

/** Write a ring that nobody records in any more to a file that is open. Return:
 *  false: not all of it; errno says why. Thread: one. Signal: never */
bool adsm_trace_write(const struct adsm_trace_ring *ring, int fd);

#endif

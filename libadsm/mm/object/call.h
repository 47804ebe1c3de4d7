/*
 * Calls, as the memory manager is told of them: on which stream, and what they may
 * use of which objects.
 *
 * A description, made by who makes the call (libadsm/call, the interposed launches) and
 * taken by the boundary (mm/doors/boundary.h), which adds what it did.
 */
#ifndef ADSM_MM_CALL_H
#define ADSM_MM_CALL_H

#include "mm/object/use.h"

/** What a call does with the objects that it does not name. */
enum adsm_rest {
    ADSM_REST_USED,   /* it may read and write them */
    ADSM_REST_UNUSED, /* nothing */
    /* Nothing, of a call on a stream of the program's own, for which lanes
     * speak and not the fences of what it names. */
    ADSM_REST_UNTOUCHED,
    /* It may read them. What it names is where its pointers point: it may
     * write those objects, and those that begin shortly behind one (an array
     * that is passed less one element), whoever owns the addresses by then. */
    ADSM_REST_READ,
};

/** A call: made by one thread, from adsm_boundary_call to the other two. */
struct adsm_call {
    struct adsm_accel *accel;
    adsm_stream stream;
    bool per_thread; /* the stream is another one in another thread */
    enum adsm_rest rest;
    const void *kernel; /* as in mm/object/assign.h; NULL: any */
    const void *code;   /* the same for calls of one kernel; NULL: not known */
    const struct adsm_use *uses;
    size_t use_count;
    /* What it may touch at all of objects that come and go
     * (mm/object/movable.h); otherwise, unless the rest is unused, any of them.
     * */
    const struct adsm_use *reach;
    size_t reach_count;
    bool reach_known;
    uint32_t gates; /* set by adsm_boundary_call: those it has closed */
    uint64_t start; /* ... its span; base/trace.h */
    bool waits; /* ... and that it ends with its kernel: what it uses is open */
};

/** What the call may touch at all, where that is known: `*count` uses. Thread:
 *  any. Signal: any handler */
static inline bool adsm_call_touches(const struct adsm_call *call,
                                     const struct adsm_use **uses,
                                     size_t *count)
{
    bool named =
        call->rest == ADSM_REST_UNUSED || call->rest == ADSM_REST_UNTOUCHED;
    *uses = named ? call->uses : call->reach;
    *count = named ? call->use_count : call->reach_count;
    return named || call->reach_known;
}

#endif

/*
 * A copy that stands in for a range of the program's memory during a call.
 *
 * The copy ends at an inaccessible page where the range goes on to what is not
 * there. Small ones lie in memory that the caller brings. Lock: none.
 */
#ifndef INTERPOSE_CALLS_HOLD_H
#define INTERPOSE_CALLS_HOLD_H

#include "interpose/calls/copy.h"

enum { CALL_FEW_BYTES = 1536 };

/** Memory of one call for small copies. */
struct call_few {
    size_t used;
    _Alignas(16) char bytes[CALL_FEW_BYTES];
};

/** What the kernel does with a range. */
enum call_way {
    CALL_READS,  /* only that                                             */
    CALL_WRITES, /* and only that; the result says how much               */
    CALL_CHANGES /* what it has changed is found by comparing             */
};

struct call_hold {
    char *program, *work; /* work NULL: nothing is held                     */
    char *before;         /* what was there, where it is compared           */
    size_t bytes;         /* that are there                                 */
    bool writes;
    struct call_buffer buffer;
};

/**
 * Hold `bytes` at `program`. Plain memory, and what has no first byte, is left
 * to the kernel: work is NULL then.
 *
 * Return: ADSM_OK; why the runtime has no copy: nothing is held
 * Thread: any. Signal: never
 */
int call_hold(struct call_hold *hold, struct call_few *few, void *program,
              size_t bytes, enum call_way way);

/** The same for a text, which the kernel reads up to its byte 0; `most` bytes of
 *  it. */
int call_hold_name(struct call_hold *hold, struct call_few *few, void *program,
                   size_t most);

/**
 * Put back what the kernel wrote, and let go.
 *
 * @filled  bytes that it wrote, if not to be found by comparing
 * Return: ADSM_OK; why bytes did not arrive
 * Thread: that of the hold. Signal: never
 */
int call_release(struct call_hold *hold, size_t filled);

#endif

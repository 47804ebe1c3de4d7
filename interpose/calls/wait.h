/*
 * Receiving large data without a copy, from what can make the caller wait.
 *
 * Blocks are held while they are lent, so the call is told not to wait. Where
 * nothing is there, the thread waits as its own call would have, holding
 * nothing: at a socket by looking at the first byte, elsewhere by the call with
 * a buffer.
 */
#ifndef INTERPOSE_CALLS_WAIT_H
#define INTERPOSE_CALLS_WAIT_H

#include "interpose/calls/ranges.h"
#include "interpose/calls/shape.h"

/** What kind of file a call gets its data from. */
struct call_source {
    const struct call_part *waits; /* of the shape; NULL: it cannot wait */
    int file;
    int flags; /* of recv; 0 where the call has none */
    bool socket, pipe;
};

/** Look at it. Return: how to begin. Thread: any. Signal: any handler */
enum call_policy call_source_look(struct call_source *source,
                                  const struct call_shape *shape,
                                  const uintptr_t *words, size_t bytes);

/**
 * Issue the call so that it cannot wait.
 *
 * @bulk  its part with memory that is lent; @words  are as for `issue`
 * Return: as `issue`; EAGAIN: nothing was there, or it cannot be told so
 */
long call_source_try(const struct call_source *source,
                     const struct call_part *bulk, uintptr_t *words,
                     call_issue_fn *issue, void *context);

/**
 * Wait until data is there, as the call would.
 *
 * @policy  receives how to begin again
 * Return: false: the call has ended in errno
 * Thread: any; may be cancelled. Signal: never
 */
bool call_source_wait(const struct call_source *source,
                      enum call_policy *policy);

#endif

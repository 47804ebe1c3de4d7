/*
 * System calls on memory that may be shared, each described by its shape.
 *
 * A shape (shape.h) says what a call does with the memory its arguments point to.
 * Where that is shared, the call is issued with other pointers: structures are
 * copied to private memory, and what the kernel changed there is put back; lists
 * of ranges name shadows or buffers instead (pieces.h). So nothing is held while
 * a call waits, and results and errors are the kernel's own. A range that goes on
 * where no memory is gets a copy that ends at an inaccessible page: the kernel
 * finds the same bytes, and then the same error.
 *
 * Owns no state but the buffers (copy.h). No lock.
 */
#ifndef INTERPOSE_CALLS_CALL_H
#define INTERPOSE_CALLS_CALL_H

#include "interpose/calls/shape.h"

/**
 * Issue a call of which some memory is shared.
 *
 * @words    its arguments, CALL_WORDS of them; int arguments sign-extended
 * @issue    called again only where it was told not to wait (MSG_DONTWAIT) and
 *           would have, or may have missed bytes of a place of a file
 *           (in_place.h); @context  is handed to it
 * Return: what `issue` returned, a pointer into a copy exchanged for the
 *         program's; the failure of the shape where the runtime cannot get or
 *         put data (errno EIO, ENOMEM)
 * Thread: any; may be cancelled inside `issue`. Signal: never. Uses no malloc
 *         and no stdio
 */
long call_shared(const struct call_shape *shape, const uintptr_t *words,
                 call_issue_fn *issue, void *context);

/** Is all that the call uses plain memory? Signal: any handler. */
bool call_is_plain(const struct call_shape *shape, const uintptr_t *words);

#endif

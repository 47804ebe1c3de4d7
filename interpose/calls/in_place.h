/*
 * Reading from a place of a file into shared memory that is open.
 *
 * Such a call can be made again, so the kernel gets the program's own pointers
 * when their blocks are DIRTY, and no block is held. When one was closed
 * meanwhile, or fewer bytes came than were asked for, the call is made once
 * more, by the engine of call.h: the file has them at that place still. Not so
 * at the position of a file, which other threads may share, nor where reading
 * takes data away. No lock.
 */
#ifndef INTERPOSE_CALLS_IN_PLACE_H
#define INTERPOSE_CALLS_IN_PLACE_H

#include "interpose/calls/shape.h"

/**
 * Issue a call so, if it is one and its memory allows that.
 *
 * @result  receives what `issue` returned
 * Return: false: it is still to be issued; errno is kept then
 * Thread: any; may be cancelled inside `issue`. Signal: any handler
 */
bool call_in_place(const struct call_shape *shape, const uintptr_t *words,
                   call_issue_fn *issue, void *context, long *result);

#endif

/*
 * Arguments of calls that are lists of ranges: iovec, msghdr, mmsghdr.
 *
 * Lists are copied; the copy names shadows (to be read) or buffers (to be
 * written, since the call may wait) by way of pieces.h. What the kernel writes
 * into the headers goes back to the program's.
 */
#ifndef INTERPOSE_CALL_LIST_H
#define INTERPOSE_CALL_LIST_H

#include "interpose/call.h"
#include "interpose/call_hold.h"
#include "interpose/pieces.h"

/** One list of ranges. */
struct call_ranges {
    struct call_hold copy; /* of the program's list                         */
    struct pieces pieces;
    bool begun; /* pieces are held                                          */
};

/** One header, or one of a list of them. */
struct call_header {
    struct msghdr given;
    struct call_hold name, control;
    struct call_ranges ranges;
};

/** The list of one call; at most one is. */
struct call_list {
    const struct call_part *part; /* NULL: none */
    void *program;
    struct call_few few;
    union {
        struct call_ranges ranges; /* the iovec kinds */
        struct {
            struct msghdr work;
            struct call_header one;
        } header;
        struct {
            struct call_buffer memory;
            struct mmsghdr *work;
            struct call_header *each;
            int count;
        } headers;
    };
};

void call_list_start(struct call_list *list);

/** Exchange the argument `part->argument` of `given` in `words`. On failure
 *  call_list_end is still to be called. */
int call_list_begin(struct call_list *list, const struct call_part *part,
                    const uintptr_t *given, uintptr_t *words);

/** Put back; `result` as the call gave it, less than 0: it failed. */
int call_list_end(struct call_list *list, long result);

#endif

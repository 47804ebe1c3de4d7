/*
 * Arguments of calls that are lists of ranges: iovec, msghdr, mmsghdr.
 *
 * Lists are copied; the copy names shadows (to be read) or buffers (to be
 * written, since the call may wait) by way of pieces.h. What the kernel writes
 * into the headers goes back to the program's.
 */
#ifndef INTERPOSE_CALLS_LIST_H
#define INTERPOSE_CALLS_LIST_H

#include "interpose/calls/ranges.h"
#include "interpose/calls/shape.h"

/** One header, or one of a list of them. */
struct call_header {
    struct msghdr given;
    struct call_hold name, control;
    struct call_ranges ranges;
};

/** The list of one call; at most one is. */
struct call_list {
    const struct call_part *part; /* NULL: none */
    enum adsm_access access;
    void *program;
    struct call_few few;
    union {
        struct call_ranges ranges; /* the iovec kinds, and single ranges */
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

/** Is it a role of this file? */
bool call_list_is(enum call_role role);

/** Exchange the arguments of `part` in `words`. On failure call_list_end is
 *  still to be called. */
int call_list_begin(struct call_list *list, const struct call_part *part,
                    enum call_policy policy, uintptr_t *words);

/** Are blocks held, so that the call must not wait? */
bool call_list_is_lent(const struct call_list *list);

/** Put back; `result` as the call gave it, less than 0: it failed. */
int call_list_end(struct call_list *list, long result);

/** Is a list, and all that it names, plain? What is not there is the kernel's
 *  to say. Signal: any handler. */
bool call_list_is_plain(const struct iovec *list, uintptr_t count);

/** The same of one that may have more ranges than a call takes (IOV_MAX). */
bool call_any_list_is_plain(const struct iovec *list, uintptr_t count);
bool call_header_is_plain(const struct msghdr *header);
bool call_headers_is_plain(const struct mmsghdr *headers, uintptr_t count);

#endif

/*
 * Operations of io_uring that write shared memory, on a ring of ours.
 *
 * A program looks at the ends of its operations in memory, by itself. So what
 * arrives must be where it belongs before the kernel says so: such operations
 * run on a ring of the runtime's into plain memory, whose thread moves what
 * arrived and then has the kernel post the end to the program's ring
 * (IORING_OP_MSG_RING, Linux 5.18).
 */
#ifndef INTERPOSE_LIBC_RELAY_H
#define INTERPOSE_LIBC_RELAY_H

#include "interpose/libc/flight.h"

#include <linux/io_uring.h>

/** An operation on its way. */
struct relay_op {
    struct relay_op *next;
    int ring; /* descriptor of the program's                                 */
    uint64_t user_data;
    bool quiet;  /* no word of it if it succeeds (CQE_SKIP_SUCCESS)        */
    bool orphan; /* the program's ring is gone                             */
    bool moving;
    int result;
    struct flights *ranges; /* NULL: none, it is about another operation     */
};

/** Why operations cannot be relayed here; NULL: they can. Starts the ring and
 *  its thread. Thread: any. Signal: never */
const char *relay_obstacle(void);

/** An operation on `count` ranges of memory; NULL: none. Thread: any.
 *  Signal: never. Undone by relay_free as long as it is not sent. */
struct relay_op *relay_make(int count);
void relay_free(struct relay_op *op);

/**
 * Send an operation.
 *
 * @sqe  as the program made it, but for its memory; @ring  the program's
 * Return: ADSM_OK; ADSM_E_SYSTEM: it is still the caller's
 * Thread: any. Signal: never
 */
int relay_send(struct relay_op *op, const struct io_uring_sqe *sqe, int ring);

/** Cancel what `sqe` says, if it is relayed: an operation by its user_data.
 *  Return: true: the ring will hear of it from here */
bool relay_cancel(const struct io_uring_sqe *sqe, int ring);

/** The program gives up a ring: nothing arrives in its memory any more. */
void relay_forget(int ring);

#endif

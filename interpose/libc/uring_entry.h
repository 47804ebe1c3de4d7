/*
 * Entries of a submission queue, changed before the kernel sees them.
 *
 * What an operation reads, it gets at the shadow. What writes memory, or reads
 * more than one allocation, is relayed (relay.h): in the program's queue stays
 * an entry that does nothing and says nothing. Where neither is possible the
 * operation fails by itself, with EINVAL and one message.
 */
#ifndef INTERPOSE_LIBC_URING_ENTRY_H
#define INTERPOSE_LIBC_URING_ENTRY_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/** The program's. */
struct uring_ring {
    int fd;
    unsigned flags; /* IORING_SETUP_...                                      */
};

/** Is there anything to do about an entry? Signal: any handler */
bool uring_needs_look(const struct io_uring_sqe *sqe);

/**
 * Look at an entry that the kernel has not been told of. One that has been
 * looked at is left as it is.
 *
 * @linked  the entry before it names it as its successor
 * Thread: any, one for an entry. Signal: never
 */
void uring_look_at(struct io_uring_sqe *sqe, const struct uring_ring *ring,
                   bool linked);

/**
 * Buffers to be registered. The kernel would pin pages that it cannot have: it
 * gets empty ranges in the place of shared ones, and operations on these become
 * ordinary ones.
 *
 * @own  receives what is to be freed
 * Return: the list to hand out; `iov` where nothing in it is shared
 */
const struct iovec *uring_without_shared(const struct iovec *iov,
                                         unsigned count, struct iovec **own);

#endif

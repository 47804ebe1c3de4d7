/*
 * Entries of submission queues; see uring_entry.h.
 */
#include "interpose/libc/uring_entry.h"
#include "interpose/calls/call.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/list.h"
#include "interpose/hook.h"
#include "interpose/libc/relay.h"
#include "base/log.h"
#include "base/status.h"
#include "init.h"

#include <stdlib.h>
#include <string.h>

/* ---- what an entry has to do with memory ---------------------------------- */

enum shape {
    SHAPE_NONE,
    SHAPE_BUFFER,
    SHAPE_VECTOR,
    SHAPE_MESSAGE,
    SHAPE_OTHER
};

struct about {
    unsigned char shape;
    bool stores; /* to memory */
};

static const struct about abouts[] = {
    [IORING_OP_READ] = {SHAPE_BUFFER, true},
    [IORING_OP_READ_FIXED] = {SHAPE_BUFFER, true},
    [IORING_OP_RECV] = {SHAPE_BUFFER, true},
    [IORING_OP_WRITE] = {SHAPE_BUFFER, false},
    [IORING_OP_WRITE_FIXED] = {SHAPE_BUFFER, false},
    [IORING_OP_SEND] = {SHAPE_BUFFER, false},
    [IORING_OP_READV] = {SHAPE_VECTOR, true},
    [IORING_OP_WRITEV] = {SHAPE_VECTOR, false},
    [IORING_OP_SENDMSG] = {SHAPE_MESSAGE, false},
    [IORING_OP_RECVMSG] = {SHAPE_MESSAGE, true},
    [IORING_OP_SENDMSG_ZC] = {SHAPE_MESSAGE, false},
    /* Refused when one of their two addresses is shared. */
    [IORING_OP_SEND_ZC] = {SHAPE_OTHER, false},
    [IORING_OP_TIMEOUT] = {SHAPE_OTHER, false},
    [IORING_OP_LINK_TIMEOUT] = {SHAPE_OTHER, false},
    [IORING_OP_ACCEPT] = {SHAPE_OTHER, true},
    [IORING_OP_CONNECT] = {SHAPE_OTHER, false},
    [IORING_OP_OPENAT] = {SHAPE_OTHER, false},
    [IORING_OP_OPENAT2] = {SHAPE_OTHER, false},
    [IORING_OP_STATX] = {SHAPE_OTHER, true},
    [IORING_OP_FILES_UPDATE] = {SHAPE_OTHER, true},
    [IORING_OP_EPOLL_CTL] = {SHAPE_OTHER, false},
    [IORING_OP_PROVIDE_BUFFERS] = {SHAPE_OTHER, true},
    [IORING_OP_RENAMEAT] = {SHAPE_OTHER, false},
    [IORING_OP_UNLINKAT] = {SHAPE_OTHER, false},
    [IORING_OP_MKDIRAT] = {SHAPE_OTHER, false},
    [IORING_OP_SYMLINKAT] = {SHAPE_OTHER, false},
    [IORING_OP_LINKAT] = {SHAPE_OTHER, false},
    [IORING_OP_FSETXATTR] = {SHAPE_OTHER, false},
    [IORING_OP_SETXATTR] = {SHAPE_OTHER, false},
    [IORING_OP_FGETXATTR] = {SHAPE_OTHER, true},
    [IORING_OP_GETXATTR] = {SHAPE_OTHER, true},
};

static struct about about_of(const struct io_uring_sqe *sqe)
{
    size_t known = sizeof abouts / sizeof *abouts;
    if (sqe->opcode >= known || sqe->flags & IOSQE_BUFFER_SELECT)
        return (struct about){SHAPE_NONE, false};
    return abouts[sqe->opcode];
}

static void *address_of(uint64_t field)
{
    return (void *)(uintptr_t)field;
}

static bool is_plain(const struct io_uring_sqe *sqe, enum shape shape)
{
    switch (shape) {
    case SHAPE_BUFFER:
        return hook_is_plain(address_of(sqe->addr), sqe->len);
    case SHAPE_VECTOR:
        return call_list_is_plain(address_of(sqe->addr), sqe->len);
    case SHAPE_MESSAGE:
        return call_header_is_plain(address_of(sqe->addr));
    case SHAPE_OTHER:
        return hook_is_plain(address_of(sqe->addr), 1) &&
               hook_is_plain(address_of(sqe->addr2), 1);
    default:
        return true;
    }
}

/* ---- what becomes of it ------------------------------------------------------ */

/* It fails when the kernel comes to it, as a link of a chain too: nothing can
 * be spliced from a ring. (A read from one would wait for its next end.) */
static void refuse(struct io_uring_sqe *sqe, const struct uring_ring *ring,
                   const char *why)
{
    static const struct io_uring_sqe nothing = {.opcode = IORING_OP_SPLICE,
                                                .off = UINT64_MAX,
                                                .splice_off_in = UINT64_MAX,
                                                .len = 1};
    const struct io_uring_sqe before = *sqe;
    adsm_log_once(ADSM_LOG_ERROR,
                  "io_uring: operation %d on shared memory is refused: %s",
                  sqe->opcode, why);
    *sqe = nothing;
    sqe->flags =
        before.flags & (uint8_t) ~(IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT);
    sqe->fd = sqe->splice_fd_in = ring->fd;
    sqe->user_data = before.user_data;
    sqe->personality = before.personality;
}

/* In its place: an entry that does nothing and says nothing. */
static void empty(struct io_uring_sqe *sqe)
{
    uint64_t user_data = sqe->user_data;
    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = IORING_OP_NOP;
    sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
    sqe->user_data = user_data;
}

/* Registered buffers in shared memory are not known to the kernel. */
static void make_ordinary(struct io_uring_sqe *sqe)
{
    if (sqe->opcode == IORING_OP_READ_FIXED)
        sqe->opcode = IORING_OP_READ;
    else if (sqe->opcode == IORING_OP_WRITE_FIXED)
        sqe->opcode = IORING_OP_WRITE;
    else
        return;
    sqe->buf_index = 0;
}

/* Why it cannot be relayed, or NULL. */
static const char *obstacle(const struct io_uring_sqe *sqe,
                            const struct uring_ring *ring, bool linked)
{
    if (linked ||
        sqe->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK | IOSQE_IO_DRAIN))
        return "it is linked to others or waits for them";
    if (sqe->flags & IOSQE_FIXED_FILE)
        return "its file is a registered one";
    if (sqe->personality || ring->flags & IORING_SETUP_IOPOLL)
        return "its ring polls, or it has a personality";
    return relay_obstacle();
}

static void relay_it(struct relay_op *op, struct io_uring_sqe *sqe,
                     const struct uring_ring *ring, bool vector)
{
    struct io_uring_sqe own = *sqe;
    own.addr =
        vector ? (uintptr_t)op->ranges->iov : (uintptr_t)op->ranges->each[0].at;
    if (relay_send(op, &own, ring->fd) != ADSM_OK) {
        relay_free(op);
        refuse(sqe, ring, "the kernel does not take it");
        return;
    }
    empty(sqe);
}

static void take(struct io_uring_sqe *sqe, const struct uring_ring *ring,
                 struct about about, bool linked)
{
    bool vector = about.shape == SHAPE_VECTOR;
    struct iovec one = {address_of(sqe->addr), sqe->len};
    const struct iovec *iov = vector ? address_of(sqe->addr) : &one;
    const char *why = NULL;
    struct relay_op *op = relay_make(vector ? (int)sqe->len : 1);
    int status = op ? ADSM_OK : ADSM_E_NOMEM;
    if (!status)
        status = flights_begin(op->ranges, iov,
                               about.stores ? ADSM_WRITE : ADSM_READ);
    if (status)
        why = adsm_status_text(status);
    else
        make_ordinary(sqe);
    if (!status && !vector && !about.stores && !op->ranges->each[0].map) {
        sqe->addr = (uintptr_t)op->ranges->each[0].at; /* the shadow */
        relay_free(op);
    } else if (!why && !(why = obstacle(sqe, ring, linked))) {
        relay_it(op, sqe, ring, vector);
    } else {
        if (op)
            relay_free(op);
        refuse(sqe, ring, why);
    }
}

bool uring_needs_look(const struct io_uring_sqe *sqe)
{
    return sqe->opcode == IORING_OP_ASYNC_CANCEL ||
           !is_plain(sqe, about_of(sqe).shape);
}

void uring_look_at(struct io_uring_sqe *sqe, const struct uring_ring *ring,
                   bool linked)
{
    struct about about = about_of(sqe);
    if (sqe->opcode == IORING_OP_ASYNC_CANCEL && !sqe->cancel_flags) {
        if (relay_cancel(sqe, ring->fd))
            empty(sqe);
    } else if (is_plain(sqe, about.shape)) {
        return;
    } else if (ring->flags & (IORING_SETUP_SQE128 | IORING_SETUP_CQE32)) {
        refuse(sqe, ring, "its ring has large entries");
    } else if (about.shape >= SHAPE_MESSAGE) {
        refuse(sqe, ring, "this kind is not supported");
    } else {
        take(sqe, ring, about, linked);
    }
}

/* ---- registered buffers --------------------------------------------------- */

const struct iovec *uring_without_shared(const struct iovec *iov,
                                         unsigned count, struct iovec **own)
{
    size_t bytes = count * sizeof *iov, got;
    *own = NULL;
    if (!adsm_is_up() || call_any_list_is_plain(iov, count))
        return iov;
    *own = malloc(bytes);
    if (!*own || call_get(*own, iov, bytes, &got) != ADSM_OK || got < bytes)
        return iov;
    for (unsigned i = 0; i < count; i++)
        if (!hook_is_plain((*own)[i].iov_base, (*own)[i].iov_len))
            (*own)[i] = (struct iovec){NULL, 0};
    return *own;
}

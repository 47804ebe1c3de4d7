/*
 * io_uring on memory that may be shared, for programs that use liburing's
 * shared library: the entries of the submission queue are looked at before the
 * kernel is (uring_entry.h). Rings of raw system calls: uring_ring.c.
 */
#include "interpose/hook.h"
#include "interpose/libc/relay.h"
#include "interpose/libc/uring_entry.h"
#include "interpose/libc/uring_ring.h"
#include "init.h"
#include "os/real.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>

/* The beginning of liburing's structures, as they are since 0.1. */
struct sq_view {
    unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *kdropped,
        *array;
    struct io_uring_sqe *sqes;
    unsigned sqe_head, sqe_tail;
    size_t ring_bytes;
    void *ring;
    unsigned pad[4];
};

struct cq_view {
    unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *koverflow;
    struct io_uring_cqe *cqes;
    size_t ring_bytes;
    void *ring;
    unsigned pad[4];
};

struct ring_view {
    struct sq_view sq;
    struct cq_view cq;
    unsigned flags;
    int fd;
};

/* The entries that the kernel has not been told of. */
static void look_through(struct io_uring *of)
{
    const struct ring_view *ring = (const void *)of;
    unsigned shift = ring->flags & IORING_SETUP_SQE128 ? 1 : 0;
    const struct uring_ring about = {ring->fd, ring->flags};
    bool linked = false;
    if (!adsm_is_up() || hook_passes())
        return;
    uring_ring_forget(ring->fd);
    for (unsigned i = ring->sq.sqe_head; i != ring->sq.sqe_tail; i++) {
        struct io_uring_sqe *sqe =
            &ring->sq.sqes[(i & *ring->sq.kring_mask) << shift];
        bool links = sqe->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK);
        uring_look_at(sqe, &about, linked);
        linked = links;
    }
}

/* ---- liburing's functions ------------------------------------------------------ */

/* The library may be one that only a plugin has loaded. */
static void find_library(void)
{
    void *library =
        adsm_real()->dlopen("liburing.so.2", RTLD_LAZY | RTLD_NOLOAD);
#define FIND(name)                                                             \
    if (!hook_real.name)                                                       \
    *(void **)&hook_real.name = adsm_real()->dlsym(library, #name)
    FIND(io_uring_submit);
    FIND(io_uring_submit_and_wait);
    FIND(io_uring_submit_and_wait_timeout);
    FIND(io_uring_submit_and_get_events);
    FIND(io_uring_queue_exit);
    FIND(io_uring_register_buffers);
    FIND(io_uring_register_buffers_tags);
    FIND(io_uring_register_buffers_update_tag);
#undef FIND
}

#define REAL(name)                                                             \
    (hook_likely(HOOK_REAL(name) != NULL) ? hook_real.name                     \
                                          : (find_library(), hook_real.name))

int io_uring_submit(struct io_uring *ring)
{
    look_through(ring);
    return REAL(io_uring_submit)(ring);
}

int io_uring_submit_and_wait(struct io_uring *ring, unsigned count)
{
    look_through(ring);
    return REAL(io_uring_submit_and_wait)(ring, count);
}

int io_uring_submit_and_wait_timeout(struct io_uring *ring,
                                     struct io_uring_cqe **end, unsigned count,
                                     struct __kernel_timespec *patience,
                                     sigset_t *mask)
{
    look_through(ring);
    return REAL(io_uring_submit_and_wait_timeout)(ring, end, count, patience,
                                                  mask);
}

int io_uring_submit_and_get_events(struct io_uring *ring)
{
    look_through(ring);
    return REAL(io_uring_submit_and_get_events)(ring);
}

void io_uring_queue_exit(struct io_uring *ring)
{
    if (adsm_is_up())
        relay_forget(((const struct ring_view *)(const void *)ring)->fd);
    REAL(io_uring_queue_exit)(ring);
}

int io_uring_register_buffers(struct io_uring *ring, const struct iovec *iov,
                              unsigned count)
{
    struct iovec *own;
    const struct iovec *given = uring_without_shared(iov, count, &own);
    int result = REAL(io_uring_register_buffers)(ring, given, count);
    free(own);
    return result;
}

int io_uring_register_buffers_tags(struct io_uring *ring,
                                   const struct iovec *iov,
                                   const uint64_t *tags, unsigned count)
{
    struct iovec *own;
    const struct iovec *given = uring_without_shared(iov, count, &own);
    int result = REAL(io_uring_register_buffers_tags)(ring, given, tags, count);
    free(own);
    return result;
}

int io_uring_register_buffers_update_tag(struct io_uring *ring, unsigned first,
                                         const struct iovec *iov,
                                         const uint64_t *tags, unsigned count)
{
    struct iovec *own;
    const struct iovec *given = uring_without_shared(iov, count, &own);
    int result = REAL(io_uring_register_buffers_update_tag)(ring, first, given,
                                                            tags, count);
    free(own);
    return result;
}

/*
 * The functions of liburing that uring.c calls, by raw system calls: libc's
 * syscall, or (BY_INSTRUCTION) instructions of the program's own. Of the library
 * only the header's functions are used.
 */
#ifndef RAW_URING_H
#define RAW_URING_H

#include <errno.h>
#include <liburing.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef BY_INSTRUCTION
static inline long raw_call(long number, long a, long b, long c, long d, long e,
                            long f)
{
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e,
                      r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#else
static inline long raw_call(long number, long a, long b, long c, long d, long e,
                            long f)
{
    long result = syscall(number, a, b, c, d, e, f);
    return result < 0 ? -errno : result;
}
#endif

static void *raw_map(size_t bytes, int file, long offset)
{
#ifdef BY_INSTRUCTION
    long at = raw_call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_POPULATE, file, offset);
    return at < 0 && at > -4096 ? NULL : (void *)at;
#else
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, file, offset);
    return at == MAP_FAILED ? NULL : at;
#endif
}

static inline int raw_init(unsigned entries, struct io_uring *ring,
                           unsigned flags)
{
    struct io_uring_params about = {.flags = flags};
    memset(ring, 0, sizeof *ring);
    ring->ring_fd =
        (int)raw_call(SYS_io_uring_setup, entries, (long)&about, 0, 0, 0, 0);
    if (ring->ring_fd < 0 || !(about.features & IORING_FEAT_SINGLE_MMAP))
        return -1;
    size_t sq = about.sq_off.array + about.sq_entries * sizeof(unsigned);
    size_t cq = about.cq_off.cqes + about.cq_entries * sizeof(*ring->cq.cqes);
    ring->sq.ring_sz = sq > cq ? sq : cq;
    char *at = raw_map(ring->sq.ring_sz, ring->ring_fd, IORING_OFF_SQ_RING);
    ring->sq.sqes = raw_map(about.sq_entries * sizeof *ring->sq.sqes,
                            ring->ring_fd, IORING_OFF_SQES);
    if (!at || !ring->sq.sqes)
        return -1;
    ring->sq.ring_ptr = ring->cq.ring_ptr = at;
    ring->sq.khead = (unsigned *)(at + about.sq_off.head);
    ring->sq.ktail = (unsigned *)(at + about.sq_off.tail);
    ring->sq.kring_mask = (unsigned *)(at + about.sq_off.ring_mask);
    ring->sq.ring_mask = *ring->sq.kring_mask;
    ring->sq.array = (unsigned *)(at + about.sq_off.array);
    ring->cq.khead = (unsigned *)(at + about.cq_off.head);
    ring->cq.ktail = (unsigned *)(at + about.cq_off.tail);
    ring->cq.kring_mask = (unsigned *)(at + about.cq_off.ring_mask);
    ring->cq.ring_mask = *ring->cq.kring_mask;
    ring->cq.cqes = (void *)(at + about.cq_off.cqes);
    ring->sq.ring_entries = about.sq_entries;
    return 0;
}

static inline void raw_exit(struct io_uring *ring)
{
    size_t sqes = ring->sq.ring_entries * sizeof *ring->sq.sqes;
#ifdef BY_INSTRUCTION
    raw_call(SYS_munmap, (long)ring->sq.sqes, (long)sqes, 0, 0, 0, 0);
    raw_call(SYS_munmap, (long)ring->sq.ring_ptr, (long)ring->sq.ring_sz, 0, 0,
             0, 0);
#else
    munmap(ring->sq.sqes, sqes);
    munmap(ring->sq.ring_ptr, ring->sq.ring_sz);
#endif
    close(ring->ring_fd);
}

static struct io_uring_sqe *raw_entry(struct io_uring *ring)
{
    unsigned head = __atomic_load_n(ring->sq.khead, __ATOMIC_ACQUIRE);
    if (ring->sq.sqe_tail - head == ring->sq.ring_entries)
        return NULL;
    return &ring->sq.sqes[ring->sq.sqe_tail++ & ring->sq.ring_mask];
}

static inline int raw_enter(struct io_uring *ring, unsigned count)
{
    unsigned tail = *ring->sq.ktail, ready = ring->sq.sqe_tail - tail;
    for (; tail != ring->sq.sqe_tail; tail++)
        ring->sq.array[tail & ring->sq.ring_mask] = tail & ring->sq.ring_mask;
    __atomic_store_n(ring->sq.ktail, tail, __ATOMIC_RELEASE);
    return (int)raw_call(SYS_io_uring_enter, ring->ring_fd, ready, count,
                         IORING_ENTER_GETEVENTS, 0, 8);
}

static inline int raw_wait(struct io_uring *ring, struct io_uring_cqe **end)
{
    while (io_uring_cq_ready(ring) == 0) {
        int failed = raw_enter(ring, 1);
        if (failed < 0 && failed != -EINTR)
            return failed;
    }
    *end = &ring->cq.cqes[*ring->cq.khead & ring->cq.ring_mask];
    return 0;
}

static inline int raw_register(struct io_uring *ring, const struct iovec *iov,
                               unsigned count)
{
    return (int)raw_call(SYS_io_uring_register, ring->ring_fd,
                         IORING_REGISTER_BUFFERS, (long)iov, count, 0, 0);
}

static inline int raw_unregister(struct io_uring *ring)
{
    return (int)raw_call(SYS_io_uring_register, ring->ring_fd,
                         IORING_UNREGISTER_BUFFERS, 0, 0, 0, 0);
}

#define io_uring_queue_init         raw_init
#define io_uring_queue_exit         raw_exit
#define io_uring_get_sqe            raw_entry
#define io_uring_submit(ring)       raw_enter(ring, 0)
#define io_uring_submit_and_wait    raw_enter
#define io_uring_get_events(ring)   raw_enter(ring, 0)
#define io_uring_wait_cqe           raw_wait
#define io_uring_register_buffers   raw_register
#define io_uring_unregister_buffers raw_unregister

#endif

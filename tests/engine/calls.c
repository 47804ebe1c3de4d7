/*
 * The system calls of calls.def: what they are made on, and how. No function
 * of libc that does the same is used, and where the call is one of several
 * steps (aio, io_uring), all of them are here.
 */
#include "engine/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/suite.h"

#define call(...) result(syscall(__VA_ARGS__))

static char name[64], link_name[80];
static const struct timespec moment = {0, 1000};
static const uint64_t nobody;
static const int one = 1;
static const struct sockaddr_un address = {.sun_family = AF_UNIX};
static int file, direct, root, pipe_ends[2], stream[2], datagram[2];
static struct pollfd polled = {.events = POLLIN};
static uint8_t pattern[FILE_BYTES], other[LONG];
static int word;

static long result(long value)
{
    return value < 0 ? -errno : value;
}

static void drain(int fd)
{
    static char bin[FILE_BYTES];
    while (syscall(SYS_read, fd, bin, sizeof bin) > 0)
        continue;
}

/* Both ends of a pipe or socket do not wait, which empties them. */
static int pipe_out(void)
{
    drain(pipe_ends[0]);
    return pipe_ends[1];
}

static int pipe_in(void)
{
    drain(pipe_ends[0]);
    ck_assert_int_eq(syscall(SYS_write, pipe_ends[1], pattern, LONG), LONG);
    return pipe_ends[0];
}

static int stream_out(void)
{
    drain(stream[0]);
    return stream[1];
}

static int stream_in(void)
{
    drain(stream[0]);
    ck_assert_int_eq(syscall(SYS_write, stream[1], pattern, LONG), LONG);
    return stream[0];
}

static int datagram_in(void)
{
    drain(datagram[0]);
    ck_assert_int_eq(syscall(SYS_write, datagram[1], pattern, 9000), 9000);
    return datagram[0];
}

static void rewound(void)
{
    syscall(SYS_lseek, file, 3, SEEK_SET);
}

static long opened(long fd)
{
    if (fd >= 0)
        syscall(SYS_close, (int)fd);
    return fd < 0 ? fd : 0;
}

static long made_two(long made, const uint8_t *m)
{
    int fds[2];
    memcpy(fds, m, sizeof fds);
    if (made == 0 && (opened(fds[0]) < 0 || opened(fds[1]) < 0))
        return -EBADF;
    return made;
}

static long bound(uint8_t *m)
{
    int fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    long bound = call(SYS_bind, fd, m, sizeof(sa_family_t));
    opened(fd);
    return bound;
}

/* Two parts of the memory, not in its order. */
static struct iovec *two(uint8_t *m)
{
    static struct iovec parts[2];
    parts[0] = (struct iovec){m + LONG / 2, LONG / 2};
    parts[1] = (struct iovec){m, LONG / 2};
    return parts;
}

static struct iovec *there(uint8_t *plain)
{
    static struct iovec all;
    all = (struct iovec){plain, LONG / 2};
    return &all;
}

static struct msghdr *message(uint8_t *m)
{
    static struct msghdr header;
    header = (struct msghdr){.msg_iov = two(m), .msg_iovlen = 2};
    return &header;
}

static struct mmsghdr *messages(uint8_t *m)
{
    static struct mmsghdr several;
    several = (struct mmsghdr){.msg_hdr = *message(m)};
    return &several;
}

/* Direct I/O wants whole pages. */
static uint8_t *page_of(uint8_t *m)
{
    return (uint8_t *)((uintptr_t)m & ~(uintptr_t)(PAGE - 1));
}

static long aio_read(uint8_t *m)
{
    aio_context_t context = 0;
    struct iocb block = {.aio_lio_opcode = IOCB_CMD_PREAD,
                         .aio_fildes = (uint32_t)direct,
                         .aio_buf = (uintptr_t)page_of(m),
                         .aio_nbytes = 2 * PAGE},
                *blocks[] = {&block};
    struct io_event event = {0};
    long made = call(SYS_io_setup, 1, &context);
    if (made == 0 && (made = call(SYS_io_submit, context, 1, blocks)) == 1)
        made = call(SYS_io_getevents, context, 1, 1, &event, NULL);
    syscall(SYS_io_destroy, context);
    return made == 1 ? (long)event.res : made;
}

/* One entry through a ring that is made for it. */
static long ring_with(const struct io_uring_sqe *entry, unsigned setup)
{
    struct io_uring_params params = {.flags = setup};
    long fd = call(SYS_io_uring_setup, 1, &params);
    if (fd < 0)
        return fd == -ENOSYS || fd == -EPERM ? 0 : fd; /* none here */
    size_t bytes =
        params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd,
                      IORING_OFF_SQ_RING);
    struct io_uring_sqe *entries =
        mmap(NULL, sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd,
             IORING_OFF_SQES);
    ck_assert(ring != MAP_FAILED && entries != MAP_FAILED);
    *entries = *entry;
    ((uint32_t *)(ring + params.sq_off.array))[0] = 0;
    atomic_store((_Atomic uint32_t *)(ring + params.sq_off.tail), 1);
    long made = call(SYS_io_uring_enter, (int)fd, 1, 1,
                     IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP, NULL, 0);
    if (made == 1)
        made = ((struct io_uring_cqe *)(ring + params.cq_off.cqes))->res;
    munmap(ring, bytes);
    munmap(entries, sizeof *entries);
    opened(fd);
    return made;
}

static long ring_read_as(uint8_t *m, uint8_t flags, unsigned setup)
{
    struct io_uring_sqe entry = {.opcode = IORING_OP_READ,
                                 .flags = flags,
                                 .fd = file,
                                 .addr = (uintptr_t)m,
                                 .len = LONG,
                                 .off = 11};
    return ring_with(&entry, setup);
}

static long ring_read(uint8_t *m)
{
    return ring_read_as(m, 0, 0);
}

static long ring_read_async(uint8_t *m)
{
    return ring_read_as(m, IOSQE_ASYNC, 0);
}

/* The kernel takes entries from the queue when it likes to. */
static long ring_read_polled(uint8_t *m)
{
    return ring_read_as(m, 0, IORING_SETUP_SQPOLL);
}

/* One function for each row: their arguments are of any type. */
#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)
#define X(name, kind, content, bytes, ...)                                     \
    static long CAT(call_, __LINE__)(uint8_t * m)                              \
    {                                                                          \
        return __VA_ARGS__;                                                    \
    }
#include "engine/calls.def"
#undef X

const struct system_call system_calls[] = {
#define X(name, kind, content, bytes, ...)                                     \
    {name, kind, content, bytes, CAT(call_, __LINE__)},
#include "engine/calls.def"
#undef X
};

const size_t system_calls_count = sizeof system_calls / sizeof *system_calls;

/* Without a name in any folder; the link leads to it all the same. */
static void make_file(void)
{
    char path[] = "./adsm-calls-XXXXXX";
    file = mkostemp(path, O_CLOEXEC);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(pwrite(file, pattern, FILE_BYTES, 0), FILE_BYTES);
    fsync(file);
    direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (direct < 0) /* a file system without it */
        direct = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    strcpy(link_name, name);
}

void calls_start(void)
{
    for (size_t i = 0; i < FILE_BYTES; i++)
        pattern[i] = (uint8_t)(i * 13 + 5);
    memset(other, 0x3c, sizeof other);
    make_file();
    root = open("/", O_RDONLY | O_CLOEXEC);
    polled.fd = file;
    ck_assert_int_eq(pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK), 0);
    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, stream), 0);
    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, datagram), 0);
}

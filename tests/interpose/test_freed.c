/*
 * Shared memory that another thread frees while a call waits for what is to
 * arrive there: the call fails as on memory that is unmapped meanwhile.
 */
#include "said.h"

#include "victims/victim.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

enum { BYTES = 1 << 20, SMALL = 100, LARGE = 300 << 10, ROUNDS = 300 };

static CUcontext context;
static uint8_t *memory;
static int ends[2], packets[2], queue, waiter;

static const char text[LARGE];

static void fed_pipe(void)
{
    ck_assert_int_eq(write(ends[1], text, SMALL), SMALL);
}

static void fed_socket(void)
{
    ck_assert_int_eq(send(packets[1], text, SMALL, 0), SMALL);
}

static void fed_queue(void)
{
    struct {
        long kind;
        char text[SMALL];
    } message = {.kind = 1};
    ck_assert_int_eq(msgsnd(queue, &message, SMALL, 0), 0);
}

static void set_up(void)
{
    begin();
    must(cuCtxGetCurrent(&context));
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets), 0);
    queue = msgget(IPC_PRIVATE, 0600);
    waiter = (int)syscall(SYS_gettid);
}

/* Not for the runtime, which may take its time before the call. */
static bool waits_in_call(void)
{
    char path[64];
    long number = SYS_futex;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", waiter);
    FILE *stream = fopen(path, "r");
    if (stream && fscanf(stream, "%ld", &number) != 1)
        number = SYS_futex;
    if (stream)
        fclose(stream);
    return number != SYS_futex;
}

/* Once the first thread sleeps, and goes on doing so: take its memory away, and
 * then wake it up. */
static void *frees_and_feeds(void *feeds)
{
    must(cuCtxSetCurrent(context));
    for (int seen = 0; seen < 10; usleep(1000))
        seen = victim_sleeps(waiter) && waits_in_call() ? seen + 1 : 0;
    must(cuMemFree((CUdeviceptr)memory));
    /* Or others may get its addresses for a moment. */
    void *kept = mmap(memory, BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ((void (*)(void))feeds)();
    return kept;
}

/* Others may have got its addresses. */
static bool is_gone(const uint8_t *at)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)at, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1;
}

/* What was sent may be there still, where that was found before it was taken. */
static void drain(void)
{
    char drained[SMALL];
    for (int left; ioctl(ends[0], FIONREAD, &left) == 0 && left > 0;)
        ck_assert_int_gt(read(ends[0], drained, SMALL), 0);
    while (recv(packets[0], drained, SMALL, MSG_DONTWAIT) >= 0)
        ;
}

/* `call` works with `memory`, as `begins` leaves it; it ends by EFAULT. */
#define FAILS(begins, call, feeds)                                             \
    do {                                                                       \
        pthread_t thread_;                                                     \
        drain();                                                               \
        memory = device_bytes(BYTES, 7);                                       \
        begins;                                                                \
        pthread_create(&thread_, NULL, frees_and_feeds, (void *)(feeds));      \
        errno = 0;                                                             \
        long result_ = (long)(call);                                           \
        int error_ = errno;                                                    \
        void *kept_;                                                           \
        pthread_join(thread_, &kept_);                                         \
        ck_assert_msg((result_ == -1 && error_ == EFAULT) || !is_gone(memory), \
                      "%s gave %ld, %s", #call, result_, strerror(error_));    \
        if (kept_ == memory)                                                   \
            munmap(kept_, BYTES);                                              \
    } while (0)

START_TEST(reads_fail)
{
    set_up();
    struct iovec list[] = {{NULL, 10}, {NULL, 200}};
    FAILS(, read(ends[0], memory + 5, SMALL), fed_pipe);
    FAILS(, read(ends[0], memory, LARGE), fed_pipe);
    FAILS(, syscall(SYS_read, ends[0], memory + 5, SMALL), fed_pipe);
    FAILS(list[0].iov_base = memory;
          list[1].iov_base = memory + 9000, readv(ends[0], list, 2), fed_pipe);
}
END_TEST

START_TEST(messages_fail)
{
    set_up();
    char plain[SMALL];
    struct iovec list = {NULL, SMALL};
    struct msghdr header = {.msg_iov = &list, .msg_iovlen = 1, .msg_flags = 7};
    struct mmsghdr headers = {.msg_hdr = header};
    struct msghdr *own;
    struct mmsghdr *owns;
    FAILS(, recv(packets[0], memory, SMALL, 0), fed_socket);
    FAILS(, recv(packets[0], memory, LARGE, 0), fed_socket);
    FAILS(list.iov_base = memory, recvmsg(packets[0], &header, 0), fed_socket);
    FAILS(list.iov_base = memory, recvmmsg(packets[0], &headers, 1, 0, NULL),
          fed_socket);
    list.iov_base = plain;
    /* The header itself, into which the kernel writes flags and lengths. */
    FAILS(own = (void *)memory;
          *own = header, recvmsg(packets[0], own, 0), fed_socket);
    FAILS(owns = (void *)memory;
          *owns = headers, recvmmsg(packets[0], owns, 1, 0, NULL), fed_socket);
    FAILS(, msgrcv(queue, memory, SMALL, 0, 0), fed_queue);
}
END_TEST

START_TEST(structures_fail)
{
    set_up();
    struct pollfd *list;
    fd_set *set;
    int watch = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    ck_assert_int_eq(epoll_ctl(watch, EPOLL_CTL_ADD, ends[0], &event), 0);
    FAILS(list = (void *)memory;
          *list = ((struct pollfd){.fd = ends[0], .events = POLLIN}),
          poll(list, 1, -1), fed_pipe);
    FAILS(, epoll_wait(watch, (struct epoll_event *)memory, 4, -1), fed_pipe);
    FAILS(set = (void *)memory; FD_ZERO(set); FD_SET(ends[0], set);
          FD_SET(packets[0], set),
          select(packets[0] + 1, set, NULL, NULL, NULL), fed_pipe);
}
END_TEST

static int child_waits;

static void fed_child(void)
{
    ck_assert_int_eq(write(child_waits, "x", 1), 1);
}

START_TEST(a_child_that_ended_is_told_by_an_error)
{
    int wakes[2];
    char byte;
    ck_assert_int_eq(pipe(wakes), 0);
    child_waits = wakes[1];
    pid_t child = fork();
    if (child == 0)
        _exit(read(wakes[0], &byte, 1) == 1 ? 7 : 8);
    set_up();
    FAILS(, waitpid(child, (int *)memory, 0), fed_child);
}
END_TEST

START_TEST(streams_fail)
{
    set_up();
    FILE *stream = fdopen(ends[0], "r");
    setvbuf(stream, NULL, _IONBF, 0);
    pthread_t thread;
    memory = device_bytes(BYTES, 7);
    pthread_create(&thread, NULL, frees_and_feeds, (void *)fed_pipe);
    errno = 0;
    size_t got = fread(memory, 1, SMALL, stream);
    ck_assert((got == 0 && errno == EFAULT) || !is_gone(memory));
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(operations_fail)
{
    set_up();
    memory = device_bytes(BYTES, 7);
    struct aiocb block = {.aio_fildes = ends[0],
                          .aio_buf = memory + 5,
                          .aio_nbytes = SMALL,
                          .aio_sigevent = {.sigev_notify = SIGEV_NONE}};
    ck_assert_int_eq(aio_read(&block), 0);
    must(cuMemFree((CUdeviceptr)memory));
    fed_pipe();
    const struct aiocb *list[] = {&block};
    ck_assert_int_eq(aio_suspend(list, 1, NULL), 0);
    ck_assert(aio_error(&block) == EFAULT || !is_gone(memory));
    (void)aio_return(&block);
}
END_TEST

/* Its event is read when its memory is gone. */
START_TEST(events_of_the_kernel_say_so)
{
    aio_context_t kernel = 0;
    struct io_event event = {0};
    set_up();
    memory = device_bytes(BYTES, 7);
    int file = fileno(tmpfile());
    ck_assert_int_eq(write(file, text, SMALL), SMALL);
    struct iocb block = {.aio_fildes = (uint32_t)file,
                         .aio_lio_opcode = IOCB_CMD_PREAD,
                         .aio_buf = (uintptr_t)memory,
                         .aio_nbytes = SMALL};
    struct iocb *list[] = {&block};
    ck_assert_int_eq(syscall(SYS_io_setup, 4, &kernel), 0);
    ck_assert_int_eq(syscall(SYS_io_submit, kernel, 1, list), 1);
    must(cuMemFree((CUdeviceptr)memory));
    ck_assert_int_eq(syscall(SYS_io_getevents, kernel, 1, 1, &event, NULL), 1);
    ck_assert(event.res == -EFAULT || !is_gone(memory));
    ck_assert_uint_eq(event.obj, (uintptr_t)&block);
}
END_TEST

/* ---- at any moment ---------------------------------------------------------- */

static _Atomic(uint8_t *) offered;
static _Atomic int over;

static void *frees_at_any_moment(void *unused)
{
    must(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *at = device_bytes(BYTES, 7);
        atomic_store(&offered, at);
        usleep((useconds_t)(i % 7) * 50);
        must(cuMemFree((CUdeviceptr)at));
    }
    atomic_store(&over, 1);
    return unused;
}

/* What is not there any more is EFAULT, or a part of what was asked for. */
static void is_fair(long result, long most)
{
    ck_assert_msg((result >= 0 && result <= most) ||
                      (result == -1 && errno == EFAULT),
                  "%ld, %s", result, strerror(errno));
}

START_TEST(at_any_moment)
{
    static char drained[LARGE];
    set_up();
    pthread_t thread;
    int file = fileno(tmpfile());
    ck_assert_int_eq(write(file, text, sizeof text), sizeof text);
    ck_assert_int_eq(fcntl(ends[0], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    pthread_create(&thread, NULL, frees_at_any_moment, NULL);
    for (long i = 0; !atomic_load(&over); i++) {
        uint8_t *at = atomic_load(&offered);
        if (!at)
            continue;
        is_fair(pread(file, at + 3, sizeof text, 0), sizeof text);
        is_fair(pwrite(file, at + 3, sizeof text, 0), sizeof text);
        ck_assert_int_eq(write(ends[1], text, LARGE), LARGE);
        is_fair(read(ends[0], at, i % 2 ? SMALL : LARGE), LARGE);
        is_fair(uname((void *)at), 0);
        ck_assert_int_eq(access((char *)at, F_OK), -1);
        for (int left; ioctl(ends[0], FIONREAD, &left) == 0 && left > 0;)
            ck_assert_int_gt(read(ends[0], drained, LARGE), 0);
    }
    pthread_join(thread, NULL);
}
END_TEST

SUITE_MAIN("freed", 120, reads_fail, messages_fail, structures_fail,
           a_child_that_ended_is_told_by_an_error, streams_fail,
           operations_fail, events_of_the_kernel_say_so, at_any_moment)

/*
 * The engine's descriptor, where programs close what they have not opened.
 *
 * A thread that shares no descriptors with the others has the file too, and
 * does nothing but keep it: without an open file the ranges would become
 * ordinary memory, and old bytes be read without a word. Who finds the
 * descriptor gone takes it from there again (Linux 6.9).
 *
 * Lock: of what is kept, rank POOL.
 */
#include "os/fault_uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"

/* Of Linux 6.9: a process descriptor of one thread. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

enum { STACK_BYTES = 64 << 10 };

static struct {
    struct adsm_lock lock;
    _Atomic int fd;       /* changed under the lock             */
    int original;         /* its number in the keeper           */
    _Atomic pid_t thread; /* 0: not there yet; -1: there is none */
} kept = {.lock = ADSM_LOCK_INIT(ADSM_RANK_POOL), .fd = -1};

int adsm_uffd_fd(void)
{
    return atomic_load_explicit(&kept.fd, memory_order_relaxed);
}

static void *keep(void *unused)
{
    unsigned fd = (unsigned)kept.original;
    pid_t self = -1;
    prctl(PR_SET_NAME, "adsm-fault-keep", 0, 0, 0);
    if (unshare(CLONE_FILES) == 0) {
        /* Of the others' files it must keep none open. */
        if (fd > 0)
            syscall(SYS_close_range, 0, fd - 1, 0);
        syscall(SYS_close_range, fd + 1, ~0u, 0);
        self = gettid();
    }
    atomic_store(&kept.thread, self);
    syscall(SYS_futex, &kept.thread, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    while (self > 0)
        syscall(SYS_futex, &kept.thread, FUTEX_WAIT_PRIVATE, self, NULL, NULL,
                0);
    return unused;
}

void adsm_uffd_keep(int fd)
{
    kept.original = fd;
    atomic_store(&kept.fd, fd);
    atomic_store(&kept.thread, 0);
    if (adsm_thread_start(keep, STACK_BYTES, false) != ADSM_OK)
        return;
    /* Nobody may come to close it before. */
    while (atomic_load(&kept.thread) == 0)
        syscall(SYS_futex, &kept.thread, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* The file from the keeper; -1: it cannot be had. */
static int keep_fetch(void)
{
    pid_t thread = atomic_load(&kept.thread);
    int from =
        thread > 0 ? (int)syscall(SYS_pidfd_open, thread, PIDFD_THREAD) : -1;
    int got =
        from >= 0 ? (int)syscall(SYS_pidfd_getfd, from, kept.original, 0) : -1;
    if (from >= 0)
        syscall(SYS_close, from);
    return got >= 0 ? adsm_uffd_hide(got) : -1;
}

int adsm_uffd_again(int lost)
{
    int saved_errno = errno;
    adsm_lock_acquire(&kept.lock);
    int fd = adsm_uffd_fd();
    if (fd == lost) {
        fd = keep_fetch();
        if (fd >= 0)
            atomic_store(&kept.fd, fd);
    }
    adsm_lock_release(&kept.lock);
    if (fd < 0)
        adsm_log_signal_address(
            ADSM_LOG_ERROR,
            "the program has closed a file descriptor of libadsm: accesses to "
            "shared memory are not seen any more. Descriptor",
            (unsigned long)lost);
    errno = saved_errno;
    return fd;
}

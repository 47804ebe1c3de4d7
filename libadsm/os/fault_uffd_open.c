/*
 * userfaultfd: a descriptor, its calls, and whether this machine has what the
 * engine needs of it.
 *
 * A descriptor for user mode only is what unprivileged processes get. It is not
 * told of accesses that the kernel makes in system calls, for which this engine
 * is there, so it is not asked for.
 */
#include "os/fault_uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "base/thread.h"
#include "os/fault_engine.h"
#include "os/vm.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

/* Above what programs count on and close by number. */
enum { LEAST_FD = 1024 };

static const uint64_t uffd_features =
    UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_MISSING_SHMEM |
    UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
    UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EXACT_ADDRESS;

static const char *uffd_why(int failed_errno)
{
    switch (failed_errno) {
    case EPERM:
    case EACCES:
        return "not permitted: needs CAP_SYS_PTRACE, "
               "vm.unprivileged_userfaultfd=1 or access to /dev/userfaultfd";
    case ENOSYS:
        return "this kernel has no userfaultfd, or a filter refuses it";
    case EMFILE:
    case ENFILE:
        return "no file descriptor is left (ulimit -n)";
    case EINVAL:
        return "needs Linux 6.4: this kernel's userfaultfd cannot do it";
    default:
        return "the kernel refuses userfaultfd";
    }
}

/* Return: the descriptor; -1 with errno of the system call. */
static int uffd_new(void)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    int failed_errno = errno;
    if (fd >= 0)
        return fd;
    int device = (int)syscall(SYS_openat, AT_FDCWD, "/dev/userfaultfd",
                              O_RDWR | O_CLOEXEC);
    if (device >= 0) {
        fd = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
        syscall(SYS_close, device);
    }
    errno = failed_errno;
    return fd;
}

/* Where several threads share a table of descriptors, it grows only after all
 * processors have been through the scheduler: 10 ms. Before main there is one. */
__attribute__((constructor)) static void uffd_make_room(void)
{
    const char *engine = getenv("ADSM_FAULT_ENGINE");
    if (engine == NULL || strcmp(engine, adsm_fault_sigsegv.name) == 0)
        return;
    int fd = (int)syscall(SYS_eventfd2, 0, O_CLOEXEC);
    if (fd >= 0)
        syscall(SYS_close, adsm_uffd_hide(fd));
}

int adsm_uffd_hide(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);
    if (high < 0)
        return fd;
    syscall(SYS_close, fd);
    return high;
}

int adsm_uffd_open(const char **why)
{
    int fd = uffd_new();
    struct uffdio_api api = {.api = UFFD_API, .features = uffd_features};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) {
        *why = uffd_why(errno);
        if (fd >= 0)
            syscall(SYS_close, fd);
        return -1;
    }
    *why = NULL;
    return adsm_uffd_hide(fd);
}

/* A call of the descriptor, once more where the engine's has been closed. */
static int uffd_call(int fd, unsigned long request, void *range)
{
    int rc = ioctl(fd, request, range);
    while (rc != 0 && (errno == EBADF || errno == ENOTTY)) {
        fd = fd == adsm_uffd_fd() ? adsm_uffd_again(fd) : adsm_uffd_fd();
        if (fd < 0)
            break;
        rc = ioctl(fd, request, range);
    }
    return rc;
}

int adsm_uffd_protect(int fd, uintptr_t addr, size_t bytes)
{
    struct uffdio_writeprotect range = {.range = {addr, bytes},
                                        .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int rc;
    do {
        rc = uffd_call(fd, UFFDIO_WRITEPROTECT, &range);
    } while (rc != 0 && errno == EAGAIN);
    return rc;
}

int adsm_uffd_register(int fd, uintptr_t addr, size_t bytes)
{
    struct uffdio_register range = {.range = {addr, bytes},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING |
                                            UFFDIO_REGISTER_MODE_MINOR |
                                            UFFDIO_REGISTER_MODE_WP};
    return uffd_call(fd, UFFDIO_REGISTER, &range);
}

int adsm_uffd_continue(int fd, uintptr_t addr, size_t *bytes, uint64_t mode)
{
    size_t done = 0;
    int failed_errno = 0;
    while (done < *bytes && (failed_errno == 0 || failed_errno == EAGAIN)) {
        struct uffdio_continue range = {.range = {addr + done, *bytes - done},
                                        .mode = mode};
        failed_errno = uffd_call(fd, UFFDIO_CONTINUE, &range) == 0 ? 0 : errno;
        if (range.mapped > 0)
            done += (size_t)range.mapped;
    }
    *bytes = done;
    return failed_errno;
}

int adsm_uffd_drop(uintptr_t addr, size_t bytes)
{
    /* Programs may have locked all their memory. */
    return adsm_system_madvise((void *)addr, bytes, MADV_DONTNEED_LOCKED);
}

void adsm_uffd_wake(int fd, uintptr_t addr, size_t bytes)
{
    struct uffdio_range range = {addr, bytes};
    uffd_call(fd, UFFDIO_WAKE, &range);
}

/* ---- the trial ------------------------------------------------------------ */

/* Used by one trial and its thread. */
static struct {
    int fd;
    uintptr_t page;
    size_t bytes;
    _Atomic int failed; /* errno of what the thread did                     */
    _Atomic uint32_t stop, ended;
    bool done;
    const char *why; /* it failed, once done */
} trial = {.fd = -1};

static bool trial_answer(const struct uffd_msg *msg)
{
    bool writes = msg->arg.pagefault.flags &
                  (UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP);
    size_t bytes = trial.bytes;
    int failed_errno = 0;
    if (writes && adsm_uffd_drop(trial.page, bytes) != 0)
        failed_errno = errno;
    if (failed_errno == 0)
        failed_errno = adsm_uffd_continue(trial.fd, trial.page, &bytes,
                                          writes ? 0 : UFFDIO_CONTINUE_MODE_WP);
    if (failed_errno == 0)
        return true;
    struct uffdio_range range = {trial.page, trial.bytes};
    atomic_store(&trial.failed, failed_errno);
    ioctl(trial.fd, UFFDIO_UNREGISTER, &range); /* wakes who waits */
    return false;
}

static void *trial_run(void *unused)
{
    enum { SLICE_MS = 5, TRIALS = 2 };
    struct pollfd told = {.fd = trial.fd, .events = POLLIN};
    struct timespec slice = {0, SLICE_MS * 1000000L};
    int answers = 0;
    while (answers < TRIALS && !atomic_load(&trial.stop)) {
        struct uffd_msg msg;
        struct timespec left = slice;
        if (syscall(SYS_ppoll, &told, 1, &left, NULL, 0) == 1 &&
            syscall(SYS_read, trial.fd, &msg, sizeof msg) == sizeof msg)
            answers = trial_answer(&msg) ? answers + 1 : TRIALS;
    }
    atomic_store(&trial.ended, 1);
    syscall(SYS_futex, &trial.ended, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

/* The kernel reads the page, which is not there, and then writes it, which it
 * must not without being asked. */
static const char *trial_accesses(const int *ends)
{
    volatile char *page = (volatile char *)trial.page;
    static const char *const unseen =
        "accesses of the kernel are not seen by this userfaultfd";
    const char *why = NULL;
    if (syscall(SYS_write, ends[1], page, 1) != 1 ||
        syscall(SYS_read, ends[0], page, 1) != 1)
        why = unseen;
    if (atomic_load(&trial.failed) != 0)
        why = uffd_why(atomic_load(&trial.failed));
    return why;
}

static const char *trial_with_pipe(void)
{
    int ends[2];
    if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0)
        return uffd_why(errno);
    const char *why = "no thread can be started";
    atomic_store(&trial.stop, 0);
    atomic_store(&trial.ended, 0);
    atomic_store(&trial.failed, 0);
    if (adsm_thread_start(trial_run, 0, false) == ADSM_OK) {
        why = trial_accesses(ends);
        atomic_store(&trial.stop, 1);
        while (!atomic_load(&trial.ended))
            syscall(SYS_futex, &trial.ended, FUTEX_WAIT_PRIVATE, 0, NULL, NULL,
                    0);
    }
    syscall(SYS_close, ends[0]);
    syscall(SYS_close, ends[1]);
    return why;
}

static const char *trial_with_page(void)
{
    trial.bytes = adsm_vm_page_bytes();
    int memory = memfd_create("adsm-try", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)trial.bytes) != 0 ||
        syscall(SYS_pwrite64, memory, "x", 1, 0) != 1) {
        const char *why = uffd_why(errno);
        if (memory >= 0)
            syscall(SYS_close, memory);
        return why;
    }
    void *map = adsm_system_mmap(NULL, trial.bytes, PROT_READ | PROT_WRITE,
                                 MAP_SHARED, memory, 0);
    trial.page = (uintptr_t)map;
    const char *why;
    if (map == MAP_FAILED ||
        adsm_system_madvise(map, trial.bytes, MADV_DONTFORK) != 0 ||
        adsm_uffd_drop(trial.page, trial.bytes) != 0 ||
        adsm_uffd_register(trial.fd, trial.page, trial.bytes) != 0)
        why = uffd_why(errno);
    else
        why = trial_with_pipe();
    if (map != MAP_FAILED)
        adsm_system_munmap(map, trial.bytes);
    syscall(SYS_close, memory);
    return why;
}

const char *adsm_uffd_refused(void)
{
    if (trial.done)
        return trial.why;
    int saved_errno = errno;
    trial.fd = adsm_uffd_open(&trial.why);
    if (trial.fd >= 0) {
        trial.why = trial_with_page();
        syscall(SYS_close, trial.fd);
    }
    trial.done = true;
    errno = saved_errno;
    return trial.why;
}

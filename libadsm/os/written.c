/* Written pages by userfaultfd and PAGEMAP_SCAN; see written.h. */
#include "os/written.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "os/fault_uffd.h"
#include "os/vm.h"

/* Linux 6.7, which the headers may not know. */
enum {
    FOR_USERS = 1, /* UFFD_USER_MODE_ONLY: what unprivileged processes get */
    FEATURES = UFFD_FEATURE_WP_HUGETLBFS_SHMEM | 1 << 13 /* WP_UNPOPULATED */ |
               1 << 15 /* WP_ASYNC */,
    SCAN_FORGETS = 1, /* PM_SCAN_WP_MATCHING                           */
    SCAN_KNOWS = 2,   /* PM_SCAN_CHECK_WPASYNC: fail where it does not */
    WRITTEN = 2,      /* PAGE_IS_WRITTEN                               */
};

struct scan {
    uint64_t size, flags, start, end, walk_end;
    uint64_t vec, vec_len, max_pages;
    uint64_t inverted, mask, any_of, answer;
};
#define PAGEMAP_SCAN_CALL _IOWR('f', 16, struct scan)

static struct {
    _Atomic int watcher; /* userfaultfd        */
    _Atomic int pagemap; /* /proc/self/pagemap */
    _Atomic bool on;
    bool tried;
    const char *why; /* not, once tried */
} written = {.watcher = -1, .pagemap = -1};

static int open_watcher(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURES};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | FOR_USERS);
    if (fd < 0)
        return -1;
    if (ioctl(fd, UFFDIO_API, &api) == 0)
        return adsm_uffd_hide(fd);
    syscall(SYS_close, fd);
    errno = EINVAL;
    return -1;
}

static int open_pagemap(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap",
                          O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -1 : adsm_uffd_hide(fd);
}

bool adsm_written_init(void)
{
    if (atomic_load(&written.watcher) < 0)
        atomic_store(&written.watcher, open_watcher());
    if (atomic_load(&written.pagemap) < 0)
        atomic_store(&written.pagemap, open_pagemap());
    atomic_store(&written.on, atomic_load(&written.watcher) >= 0 &&
                                  atomic_load(&written.pagemap) >= 0);
    return atomic_load(&written.on);
}

void adsm_written_fini(void)
{
    atomic_store(&written.on, false);
}

bool adsm_written_is_on(void)
{
    /* Relaxed: what was made before is looked at with other orderings. */
    return atomic_load_explicit(&written.on, memory_order_relaxed);
}

/* ---- ranges --------------------------------------------------------------- */

static void unwatch(int fd, uintptr_t addr, size_t bytes)
{
    struct uffdio_range range = {addr, bytes};
    (void)ioctl(fd, UFFDIO_UNREGISTER, &range);
}

static bool arm(int fd, uintptr_t addr, size_t bytes)
{
    struct uffdio_writeprotect range = {.range = {addr, bytes},
                                        .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int rc;
    do {
        rc = ioctl(fd, UFFDIO_WRITEPROTECT, &range);
    } while (rc != 0 && errno == EAGAIN);
    return rc == 0;
}

static bool watch(int fd, uintptr_t addr, size_t bytes)
{
    struct uffdio_register range = {.range = {addr, bytes},
                                    .mode = UFFDIO_REGISTER_MODE_WP};
    if (ioctl(fd, UFFDIO_REGISTER, &range) != 0)
        return false;
    if (arm(fd, addr, bytes))
        return true;
    unwatch(fd, addr, bytes);
    return false;
}

bool adsm_written_watch(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    bool watched = watch(atomic_load(&written.watcher), addr, bytes);
    errno = saved_errno;
    return watched;
}

void adsm_written_unwatch(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    unwatch(atomic_load(&written.watcher), addr, bytes);
    errno = saved_errno;
}

/* That one alone is asked for: together with others the kernel answers no for
 * pages that have lost their entry, which may have been written before. */
static int find(int fd, uintptr_t *from, uintptr_t end, bool again,
                struct adsm_written_run *runs, int room)
{
    struct scan scan = {.size = sizeof scan,
                        .flags = SCAN_KNOWS | (again ? SCAN_FORGETS : 0),
                        .start = *from,
                        .end = end,
                        .vec = (uintptr_t)runs,
                        .vec_len = (uint64_t)room,
                        .mask = WRITTEN,
                        .answer = WRITTEN};
    int count = ioctl(fd, PAGEMAP_SCAN_CALL, &scan);
    if (count >= 0)
        *from = (uintptr_t)scan.walk_end;
    return count;
}

/* The descriptor `lost` is gone, or another's now. */
static int reopen_pagemap(int lost)
{
    int fd = open_pagemap();
    if (fd >= 0 &&
        !atomic_compare_exchange_strong(&written.pagemap, &lost, fd)) {
        syscall(SYS_close, fd);
        fd = lost;
    }
    return fd;
}

int adsm_written_find(uintptr_t *from, uintptr_t end, bool again,
                      struct adsm_written_run *runs, int room)
{
    int saved_errno = errno;
    int fd = atomic_load(&written.pagemap);
    int count = find(fd, from, end, again, runs, room);
    if (count < 0 && (errno == EBADF || errno == ENOTTY)) {
        fd = reopen_pagemap(fd);
        count = fd < 0 ? -1 : find(fd, from, end, again, runs, room);
    }
    errno = saved_errno;
    return count < 0 ? -1 : count;
}

static bool note(uintptr_t addr, size_t bytes)
{
    enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE */
    int rc;
    do {
        rc = adsm_system_madvise((void *)addr, bytes, POPULATE_WRITE);
    } while (rc != 0 && (errno == EAGAIN || errno == EINTR));
    return rc == 0;
}

bool adsm_written_note(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    bool noted = note(addr, bytes);
    errno = saved_errno;
    return noted;
}

/* ---- the trial ------------------------------------------------------------ */

static const char *reason(int failed_errno)
{
    switch (failed_errno) {
    case EPERM:
    case EACCES:
        return "not permitted: a filter refuses userfaultfd, or the process "
               "may not be looked into (PR_SET_DUMPABLE)";
    case ENOSYS:
        return "this kernel has no userfaultfd, or a filter refuses it";
    case EMFILE:
    case ENFILE:
        return "no file descriptor is left (ulimit -n)";
    default:
        return "needs Linux 6.7, whose kernel tells which pages were written";
    }
}

enum { TRIAL_PAGES = 4 };

/* Is the answer for the range just page `page` of it? */
static bool finds(int map, uintptr_t at, size_t bytes, size_t page)
{
    struct adsm_written_run run[2];
    size_t one = adsm_vm_page_bytes();
    uintptr_t from = at;
    return find(map, &from, at + bytes, true, run, 2) == 1 &&
           from == at + bytes && run[0].begin == at + page * one &&
           run[0].end == run[0].begin + one;
}

/* One store is found, once, and one more whose page has lost its entry since,
 * as it does when memory is short. */
static const char *try_range(int fd, int map, uintptr_t at, size_t bytes)
{
    size_t one = adsm_vm_page_bytes();
    volatile char *memory = (volatile char *)at;
    errno = EINVAL;
    if (!watch(fd, at, bytes))
        return reason(errno);
    memory[one] = 1;
    errno = EINVAL;
    if (!finds(map, at, bytes, 1))
        return reason(errno);
    memory[2 * one] = 1;
    (void)adsm_system_madvise((void *)(at + 2 * one), one, MADV_DONTNEED);
    return finds(map, at, bytes, 2)
               ? NULL
               : "this kernel forgets that pages were written when it takes "
                 "them away for a while";
}

static const char *try_memory(int fd, int map)
{
    size_t bytes = TRIAL_PAGES * adsm_vm_page_bytes();
    int memory = memfd_create("adsm-try", MFD_CLOEXEC);
    uintptr_t at = adsm_vm_reserve(bytes, 0, 0);
    const char *why = reason(EMFILE);
    if (memory >= 0 && at != 0 && ftruncate(memory, (off_t)bytes) == 0 &&
        adsm_vm_map_file(at, bytes, memory, 0, ADSM_PROT_READ_WRITE) == ADSM_OK)
        why = try_range(fd, map, at, bytes);
    if (at != 0)
        adsm_vm_release(at, bytes);
    if (memory >= 0)
        syscall(SYS_close, memory);
    return why;
}

const char *adsm_written_refused(void)
{
    if (written.tried)
        return written.why;
    int saved_errno = errno;
    int fd = open_watcher();
    written.why = fd < 0 ? reason(errno) : NULL;
    int map = written.why ? -1 : open_pagemap();
    if (!written.why)
        written.why = map < 0 ? reason(errno) : try_memory(fd, map);
    if (map >= 0)
        syscall(SYS_close, map);
    if (fd >= 0)
        syscall(SYS_close, fd);
    written.tried = true;
    errno = saved_errno;
    return written.why;
}

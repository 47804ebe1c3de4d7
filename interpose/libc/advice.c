/*
 * Advice about memory that may be shared, and questions.
 *
 * Advice about how memory will be used is heard and not followed: the runtime
 * sees what is used, and flags of the kernel's on a part of an object would
 * cost mappings. What asks for an effect has it or fails: with the error of the
 * kernel where memory like this, a mapping of a file, cannot have it; with
 * EPERM, as sealed memory, where it would take data away.
 */
#include "interpose/calls/copy.h"
#include "interpose/calls/hooks.h"
#include "interpose/calls/list.h"
#include "interpose/libc/pieces.h"
#include "interpose/libc/vm.h"
#include "base/status.h"
#include "os/look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of kernels newer than the headers. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_GUARD_REMOVE
#define MADV_GUARD_REMOVE 103
#endif

enum { PAGE_LEAST_BYTES = 4096 };

/* Fetch what only the device has, and read a byte of each page: what came
 * before may be closed. */
static int bring(void *address, size_t bytes, int unused)
{
    char *at = address;
    const volatile char *end = at + bytes;
    (void)unused;
    int status = ADSM_OK;
    hook_enter();
    while (bytes > 0 && status == ADSM_OK) {
        struct adsm_loan loan;
        status = adsm_loan_begin(at, bytes, ADSM_READ, &loan);
        if (status == ADSM_OK)
            status = adsm_loan_end(&loan, 0);
        at += loan.bytes;
        bytes -= loan.bytes;
    }
    hook_leave();
    if (status != ADSM_OK) {
        errno = pieces_errno(status);
        return -1;
    }
    for (const volatile char *page = address; page < end;
         page += PAGE_LEAST_BYTES)
        (void)*page;
    return 0;
}

/* The accesses themselves, which keep what is there. */
static int open_for_writing(void *address, size_t bytes, int unused)
{
    char *first = address;
    (void)unused;
    for (char *at = first; at < first + bytes; at += PAGE_LEAST_BYTES)
        __atomic_fetch_or(at, 0, __ATOMIC_RELAXED);
    return 0;
}

static int heard(void *address, size_t bytes, int unused)
{
    (void)address;
    (void)bytes;
    (void)unused;
    return 0;
}

static int not_for_files(void *address, size_t bytes, int unused)
{
    (void)address;
    (void)bytes;
    (void)unused;
    errno = EINVAL;
    return -1;
}

static int refused(void *address, size_t bytes, int unused)
{
    (void)bytes;
    (void)unused;
    return VM_REFUSE("madvise that would take data from shared memory is "
                     "refused, at",
                     address, EPERM);
}

/* What a shared stretch gets for an advice. */
static vm_stretch_fn *answer_to(int advice)
{
    switch (advice) {
    case MADV_POPULATE_READ:
        return bring;
    case MADV_POPULATE_WRITE:
        return open_for_writing;
    case MADV_FREE:       /* of anonymous memory only         */
    case MADV_WIPEONFORK: /* of private memory only           */
    case MADV_DOFORK:     /* children cannot have it          */
    case MADV_COLLAPSE:   /* protections change page by page  */
        return not_for_files;
    /* Of a mapping of a file DONTNEED forgets where pages are, not what is in
     * them. The others change nothing that can be seen, or ask for what is the
     * case: DONTFORK, KEEPONFORK. */
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_DONTNEED:
    case MADV_DONTNEED_LOCKED:
    case MADV_DONTFORK:
    case MADV_KEEPONFORK:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_COLD:
    case MADV_PAGEOUT:
    case MADV_GUARD_REMOVE:
        return heard;
    default: /* REMOVE, HWPOISON, GUARD_INSTALL, and what is yet to come */
        return refused;
    }
}

static int advise_plain(void *address, size_t bytes, int advice)
{
    return HOOK_REAL(madvise)(address, bytes, advice);
}

static int advise(void *address, size_t bytes, int advice)
{
    /* Of no bytes: what the kernel refuses of its own. */
    if (advise_plain(address, 0, advice) != 0)
        return -1;
    int result = vm_each(true, address, bytes, answer_to(advice), 0);
    return result != 0 ? result
                       : vm_each(false, address, bytes, advise_plain, advice);
}

int madvise(void *address, size_t bytes, int advice)
{
    if (vm_concerns(address, bytes))
        return advise(address, bytes, advice);
    return HOOK_REAL(madvise)(address, bytes, advice);
}

/* ---- lists of ranges ---------------------------------------------------------- */

enum { SELF = -10000, SELF_GROUP = -20000 }; /* PIDFD_SELF, Linux 6.14 */

/* Does a descriptor stand for this process? Addresses in another are its own. */
static bool is_own(int process)
{
    char path[64], text[512];
    if (process == SELF || process == SELF_GROUP)
        return true;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", process);
    int saved = errno, file = HOOK_REAL(open)(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : HOOK_REAL(read)(file, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    const char *line = strstr(text, "Pid:");
    if (file >= 0)
        close(file);
    errno = saved;
    return line && strtol(line + 4, NULL, 10) == getpid();
}

/* Of a process its own ranges, one after the other: how far it comes. */
static ssize_t advise_each(const struct iovec *list, size_t count, int advice)
{
    ssize_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct iovec range;
        bool there = adsm_look(&range, &list[i], sizeof range);
        if (!there)
            errno = EFAULT;
        if (!there || madvise(range.iov_base, range.iov_len, advice) != 0)
            return total ? total : -1;
        total += (ssize_t)range.iov_len;
    }
    return total;
}

ssize_t process_madvise(int process, const struct iovec *list, size_t count,
                        int advice, unsigned flags)
{
    size_t bytes = call_bytes(count, sizeof *list);
    if (call_list_is_plain(list, count))
        return HOOK_REAL(process_madvise)(process, list, count, advice, flags);
    if (count > IOV_MAX || call_reach(list, bytes) < bytes || !is_own(process))
        return call_process_madvise(process, list, count, advice, flags);
    /* Of no ranges: what the kernel refuses of its own. */
    if (HOOK_REAL(process_madvise)(process, list, 0, advice, flags) != 0)
        return -1;
    return advise_each(list, count, advice);
}

/* The names of POSIX have the numbers of Linux; libc does nothing for DONTNEED,
 * which must not take data away there. */
_Static_assert(POSIX_MADV_WILLNEED == MADV_WILLNEED &&
                   POSIX_MADV_DONTNEED == MADV_DONTNEED,
               "one advice, two numbers");

int posix_madvise(void *address, size_t bytes, int advice)
{
    if (!vm_concerns(address, bytes) || advice == POSIX_MADV_DONTNEED)
        return HOOK_REAL(posix_madvise)(address, bytes, advice);
    int saved = errno;
    int failed = advise(address, bytes, advice) == 0 ? 0 : errno;
    errno = saved;
    return failed;
}

static int sync_plain(void *address, size_t bytes, int flags)
{
    return HOOK_REAL(msync)(address, bytes, flags);
}

/* There is no file that anybody else could read. */
int msync(void *address, size_t bytes, int flags)
{
    if (!vm_concerns(address, bytes))
        return HOOK_REAL(msync)(address, bytes, flags);
    if (sync_plain(address, 0, flags) != 0)
        return -1;
    return vm_each(false, address, bytes, sync_plain, flags);
}

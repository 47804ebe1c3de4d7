/*
 * read, write and their relatives on memory that may be shared.
 *
 * The kernel refuses protected pages (EFAULT), and asking again is not safe:
 * a datagram would be gone. So the kernel is handed the shadow address, in one
 * system call that keeps the whole contract of the original: its return value,
 * errno, EOF, short counts and atomicity are the kernel's own.
 */
#include "interpose/call.h"
#include "interpose/pieces.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a device that makes its readers wait gives at most at once. */
enum { DEVICE_MOST_BYTES = 4 << 20 };

/* One call: which of the functions below issues it, and its arguments. */
struct io_call {
    ssize_t (*issue)(const struct io_call *, const struct iovec *, int);
    enum adsm_access access;
    int fd;
    off64_t offset;
    int flags;
};

/* A single buffer goes to the call that the program made, not to its vector
 * form: some devices treat the two differently. */

static ssize_t issue_read(const struct io_call *c, const struct iovec *iov,
                          int count)
{
    return count == 1 ? HOOK_REAL(read)(c->fd, iov->iov_base, iov->iov_len)
                      : HOOK_REAL(readv)(c->fd, iov, count);
}

static ssize_t issue_write(const struct io_call *c, const struct iovec *iov,
                           int count)
{
    return count == 1 ? HOOK_REAL(write)(c->fd, iov->iov_base, iov->iov_len)
                      : HOOK_REAL(writev)(c->fd, iov, count);
}

static ssize_t issue_pread(const struct io_call *c, const struct iovec *iov,
                           int count)
{
    return count == 1 ? HOOK_REAL(pread64)(c->fd, iov->iov_base, iov->iov_len,
                                           c->offset)
                      : HOOK_REAL(preadv64)(c->fd, iov, count, c->offset);
}

static ssize_t issue_pwrite(const struct io_call *c, const struct iovec *iov,
                            int count)
{
    return count == 1 ? HOOK_REAL(pwrite64)(c->fd, iov->iov_base, iov->iov_len,
                                            c->offset)
                      : HOOK_REAL(pwritev64)(c->fd, iov, count, c->offset);
}

static ssize_t issue_readv(const struct io_call *c, const struct iovec *iov,
                           int count)
{
    return HOOK_REAL(readv)(c->fd, iov, count);
}

static ssize_t issue_writev(const struct io_call *c, const struct iovec *iov,
                            int count)
{
    return HOOK_REAL(writev)(c->fd, iov, count);
}

static ssize_t issue_preadv(const struct io_call *c, const struct iovec *iov,
                            int count)
{
    return HOOK_REAL(preadv64)(c->fd, iov, count, c->offset);
}

static ssize_t issue_pwritev(const struct io_call *c, const struct iovec *iov,
                             int count)
{
    return HOOK_REAL(pwritev64)(c->fd, iov, count, c->offset);
}

static ssize_t issue_preadv2(const struct io_call *c, const struct iovec *iov,
                             int count)
{
    return HOOK_REAL(preadv64v2)(c->fd, iov, count, c->offset, c->flags);
}

static ssize_t issue_pwritev2(const struct io_call *c, const struct iovec *iov,
                              int count)
{
    return HOOK_REAL(pwritev64v2)(c->fd, iov, count, c->offset, c->flags);
}

/* Can a read of `bytes` from this file wait for somebody else? A pipe or a
 * socket at any length; a terminal or the like never gives much at once. */
static bool may_wait(int fd, size_t bytes)
{
    struct stat about;
    int saved = errno;
    bool waits = false;
    if (fstat(fd, &about) == 0)
        waits = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) ||
                (!S_ISREG(about.st_mode) && !S_ISBLK(about.st_mode) &&
                 bytes <= DEVICE_MOST_BYTES);
    errno = saved;
    return waits;
}

static ssize_t io_fail(int status)
{
    hook_failed("a read or write", status);
    errno = pieces_errno(status);
    return -1;
}

/* The thread was cancelled where it waited in the kernel. */
static void give_up(void *list)
{
    pieces_end(list, 0);
}

static __attribute__((noinline)) ssize_t
io_shared(const struct io_call *call, const struct iovec *iov, int count)
{
    struct pieces list;
    size_t total = 0;
    if (pieces_refused(iov, count))
        return call->issue(call, iov, count);
    for (int i = 0; i < count; i++)
        total += iov[i].iov_len;
    bool bounce = call->access == ADSM_WRITE && may_wait(call->fd, total);
    int status = pieces_begin(&list, iov, count, call->access, bounce);
    if (status)
        return io_fail(status);
    ssize_t done;
    pthread_cleanup_push(give_up, &list);
    done = call->issue(call, list.iov, list.count);
    pthread_cleanup_pop(0);
    status = pieces_end(&list, done > 0 ? (size_t)done : 0);
    return status ? io_fail(status) : done;
}

#define IO_ONE(issuer, access_kind, file, at, buffer, bytes)                   \
    io_shared(                                                                 \
        &(struct io_call){                                                     \
            .issue = issuer, .access = access_kind, .fd = file, .offset = at}, \
        &(struct iovec){(void *)(buffer), bytes}, 1)

ssize_t read(int fd, void *buffer, size_t bytes)
{
    if (hook_likely(hook_is_plain(buffer, bytes)))
        return HOOK_REAL(read)(fd, buffer, bytes);
    return IO_ONE(issue_read, ADSM_WRITE, fd, 0, buffer, bytes);
}

ssize_t write(int fd, const void *buffer, size_t bytes)
{
    if (hook_likely(hook_is_plain(buffer, bytes)))
        return HOOK_REAL(write)(fd, buffer, bytes);
    return IO_ONE(issue_write, ADSM_READ, fd, 0, buffer, bytes);
}

ssize_t pread64(int fd, void *buffer, size_t bytes, off64_t offset)
{
    if (hook_likely(hook_is_plain(buffer, bytes)))
        return HOOK_REAL(pread64)(fd, buffer, bytes, offset);
    return IO_ONE(issue_pread, ADSM_WRITE, fd, offset, buffer, bytes);
}

ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off64_t offset)
{
    if (hook_likely(hook_is_plain(buffer, bytes)))
        return HOOK_REAL(pwrite64)(fd, buffer, bytes, offset);
    return IO_ONE(issue_pwrite, ADSM_READ, fd, offset, buffer, bytes);
}

/* On 64-bit systems off_t is off64_t and the two names are one function. */
_Static_assert(sizeof(off_t) == sizeof(off64_t), "64-bit only");

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    return pread64(fd, buffer, bytes, offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    return pwrite64(fd, buffer, bytes, offset);
}

ssize_t readv(int fd, const struct iovec *iov, int count)
{
    if (hook_likely(call_list_is_plain(iov, (uintptr_t)count)))
        return HOOK_REAL(readv)(fd, iov, count);
    return io_shared(
        &(struct io_call){.issue = issue_readv, .access = ADSM_WRITE, .fd = fd},
        iov, count);
}

ssize_t writev(int fd, const struct iovec *iov, int count)
{
    if (hook_likely(call_list_is_plain(iov, (uintptr_t)count)))
        return HOOK_REAL(writev)(fd, iov, count);
    return io_shared(
        &(struct io_call){.issue = issue_writev, .access = ADSM_READ, .fd = fd},
        iov, count);
}

ssize_t preadv64(int fd, const struct iovec *iov, int count, off64_t offset)
{
    if (hook_likely(call_list_is_plain(iov, (uintptr_t)count)))
        return HOOK_REAL(preadv64)(fd, iov, count, offset);
    return io_shared(&(struct io_call){.issue = issue_preadv,
                                       .access = ADSM_WRITE,
                                       .fd = fd,
                                       .offset = offset},
                     iov, count);
}

ssize_t pwritev64(int fd, const struct iovec *iov, int count, off64_t offset)
{
    if (hook_likely(call_list_is_plain(iov, (uintptr_t)count)))
        return HOOK_REAL(pwritev64)(fd, iov, count, offset);
    return io_shared(&(struct io_call){.issue = issue_pwritev,
                                       .access = ADSM_READ,
                                       .fd = fd,
                                       .offset = offset},
                     iov, count);
}

ssize_t preadv(int fd, const struct iovec *iov, int count, off_t offset)
{
    return preadv64(fd, iov, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t offset)
{
    return pwritev64(fd, iov, count, offset);
}

ssize_t preadv64v2(int fd, const struct iovec *iov, int count, off64_t offset,
                   int flags)
{
    if (hook_likely(call_list_is_plain(iov, (uintptr_t)count)))
        return HOOK_REAL(preadv64v2)(fd, iov, count, offset, flags);
    return io_shared(&(struct io_call){.issue = issue_preadv2,
                                       .access = ADSM_WRITE,
                                       .fd = fd,
                                       .offset = offset,
                                       .flags = flags},
                     iov, count);
}

ssize_t pwritev64v2(int fd, const struct iovec *iov, int count, off64_t offset,
                    int flags)
{
    if (hook_likely(call_list_is_plain(iov, (uintptr_t)count)))
        return HOOK_REAL(pwritev64v2)(fd, iov, count, offset, flags);
    return io_shared(&(struct io_call){.issue = issue_pwritev2,
                                       .access = ADSM_READ,
                                       .fd = fd,
                                       .offset = offset,
                                       .flags = flags},
                     iov, count);
}

ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t offset,
                int flags)
{
    return preadv64v2(fd, iov, count, offset, flags);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int count, off_t offset,
                 int flags)
{
    return pwritev64v2(fd, iov, count, offset, flags);
}

/* The checked forms: what does not fit is the real function's to report. */

ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__read_chk)(fd, buffer, bytes, room);
    return read(fd, buffer, bytes);
}

ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset,
                    size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__pread_chk)(fd, buffer, bytes, offset, room);
    return pread64(fd, buffer, bytes, offset);
}

ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset,
                      size_t room)
{
    if (hook_unlikely(bytes > room))
        return HOOK_REAL(__pread64_chk)(fd, buffer, bytes, offset, room);
    return pread64(fd, buffer, bytes, offset);
}

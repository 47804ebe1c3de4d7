/*
 * Output without signals: see base/output.h. No lock, no state: both signals
 * come to the thread that writes.
 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t output_signals =
    (UINT64_C(1) << (SIGPIPE - 1)) | (UINT64_C(1) << (SIGXFSZ - 1));

struct adsm_output adsm_output_begin(void)
{
    struct adsm_output before = {0};
    int saved_errno = errno;
    syscall(SYS_rt_sigpending, &before.pending, sizeof before.pending);
    before.pending &= output_signals;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &output_signals, &before.mask,
            sizeof before.mask);
    errno = saved_errno;
    return before;
}

void adsm_output_end(struct adsm_output before)
{
    static const struct timespec now = {0, 0};
    uint64_t ours = output_signals & ~before.pending;
    int saved_errno = errno;
    while (ours &&
           syscall(SYS_rt_sigtimedwait, &ours, NULL, &now, sizeof ours) > 0)
        continue;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before.mask, NULL,
            sizeof before.mask);
    errno = saved_errno;
}

adsm_status_t adsm_output_append(const char *path, const char *line,
                                 size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return ADSM_E_SYSTEM;
    ssize_t n = syscall(SYS_write, fd, line, bytes);
    int saved_errno = n < 0 ? errno : ENOSPC;
    if (close(fd) != 0 && n >= 0)
        n = -1;
    if (n != (ssize_t)bytes) {
        errno = saved_errno;
        return ADSM_E_SYSTEM;
    }
    return ADSM_OK;
}

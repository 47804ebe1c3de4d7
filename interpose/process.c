/*
 * Copies between processes of which one side, or both, is this one: the other
 * side's list names memory of this process as well then.
 */
#include "interpose/calls/hooks.h"
#include "interpose/calls/list.h"
#include "interpose/calls/ranges.h"

#include <errno.h>
#include <unistd.h>

typedef ssize_t copy_fn(pid_t, const struct iovec *, unsigned long,
                        const struct iovec *, unsigned long, unsigned long);

/* As a call whose words are those of the two functions. */
struct copy {
    copy_fn *with_shared; /* as the list of hooks describes it */
    const struct iovec *local;
    unsigned long locals, flags;
    pid_t process;
};

static long issue(void *context, const uintptr_t *w)
{
    const struct copy *copy = context;
    return copy->with_shared(copy->process, copy->local, copy->locals,
                             (const struct iovec *)w[0], w[1], copy->flags);
}

static ssize_t copy_remote(const struct copy *copy,
                           const struct call_shape *shape,
                           const struct iovec *remote, unsigned long remotes)
{
    const uintptr_t words[CALL_WORDS] = {(uintptr_t)remote, remotes};
    if (copy->process != getpid() || call_list_is_plain(remote, remotes))
        return copy->with_shared(copy->process, copy->local, copy->locals,
                                 remote, remotes, copy->flags);
    return call_shared(shape, words, issue, (void *)copy);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *local,
                         unsigned long locals, const struct iovec *remote,
                         unsigned long remotes, unsigned long flags)
{
    static const struct call_shape other = {.name = "process_vm_readv",
                                            .parts = {{CALL_LIST_IN, 0, 1, 1}}};
    return copy_remote(
        &(struct copy){call_process_vm_readv, local, locals, flags, process},
        &other, remote, remotes);
}

ssize_t process_vm_writev(pid_t process, const struct iovec *local,
                          unsigned long locals, const struct iovec *remote,
                          unsigned long remotes, unsigned long flags)
{
    static const struct call_shape other = {
        .name = "process_vm_writev", .parts = {{CALL_LIST_OUT, 0, 1, 1}}};
    return copy_remote(
        &(struct copy){call_process_vm_writev, local, locals, flags, process},
        &other, remote, remotes);
}

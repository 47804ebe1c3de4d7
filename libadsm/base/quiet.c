/* Quiet stretches: see base/quiet.h. */
#include "base/quiet.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/system.h"

static __thread struct {
    uint32_t depth;            /* locks held, stretches, handlers entered */
    uint64_t saved;            /* the thread's mask before the first      */
    struct adsm_cancel cancel; /* and how it could be cancelled           */
} quiet __attribute__((tls_model("initial-exec")));

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Synchronous signals must arrive: a blocked SIGSEGV ends the process. */
static const uint64_t asynchronous =
    ~(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) |
      BIT(SIGSYS) | BIT(SIGABRT));

void adsm_quiet_enter(void)
{
    if (quiet.depth == 0) {
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &asynchronous, &quiet.saved,
                sizeof asynchronous);
        quiet.cancel = adsm_cancel_hold();
    }
    quiet.depth++;
}

void adsm_quiet_leave(void)
{
    /* A handler that comes with the mask has a stretch of its own. */
    struct adsm_cancel cancel = quiet.cancel;
    if (--quiet.depth != 0)
        return;
    /* What the program has unblocked meanwhile, where it forks, stays so. */
    uint64_t blocked = asynchronous & ~quiet.saved;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &blocked, NULL, sizeof blocked);
    adsm_cancel_release(cancel);
}

bool adsm_quiet_is_on(void)
{
    return quiet.depth != 0;
}

uint64_t adsm_quiet_takes(void)
{
    uint64_t blocked = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    return asynchronous & ~blocked;
}

void adsm_quiet_enter_handler(void)
{
    quiet.depth++;
}

void adsm_quiet_leave_handler(void)
{
    quiet.depth--;
}

void adsm_quiet_interrupted(uint64_t blocked)
{
    if (quiet.depth == 0)
        quiet.saved = blocked;
}

uint64_t adsm_quiet_wait_begin(void)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM};
    uint64_t opened = 0;
    int saved_errno = errno;
    for (size_t i = 0; quiet.depth && i < sizeof ending / sizeof *ending; i++) {
        struct adsm_system_action action;
        if (!(quiet.saved & BIT(ending[i])) &&
            adsm_system_sigaction(ending[i], NULL, &action) == 0 &&
            !action.handler)
            opened |= BIT(ending[i]);
    }
    if (opened)
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &opened, NULL, sizeof opened);
    errno = saved_errno;
    return opened;
}

void adsm_quiet_wait_end(uint64_t opened)
{
    if (opened)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &opened, NULL, sizeof opened);
}

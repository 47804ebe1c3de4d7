/*
 * SIGSEGV stays deliverable and ours while the program believes it is its own.
 *
 * Once a fault engine is installed, what the program installs for SIGSEGV is
 * kept by os/fault, which hands it every foreign fault. SIGSEGV is never
 * blocked, from the first call on: threads inherit masks, and a blocked
 * SIGSEGV on a shared page would end the process. A thread that asks sees the
 * mask it set.
 */
#include "interpose/hook.h"
#include "os/fault.h"

#include <errno.h>
#include <pthread.h>

/* The program thinks that this thread has SIGSEGV blocked. */
static _Thread_local bool segv_masked
    __attribute__((tls_model("initial-exec")));

/* The engine installs itself with calls of its own: they are not the
 * program's. */
static bool is_ours(int signal_number)
{
    return signal_number == SIGSEGV && !hook_depth && adsm_fault_is_installed();
}

int sigaction(int number, const struct sigaction *action,
              struct sigaction *before)
{
    if (is_ours(number))
        return adsm_fault_app_action(action, before);
    if (!action || number == SIGSEGV || hook_depth ||
        sigismember(&action->sa_mask, SIGSEGV) != 1)
        return HOOK_REAL(sigaction)(number, action, before);
    struct sigaction open = *action;
    sigdelset(&open.sa_mask, SIGSEGV);
    return HOOK_REAL(sigaction)(number, &open, before);
}

/* signal(SIGSEGV, handler) with these flags, as the program's action. */
static sighandler_t install(sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return adsm_fault_app_action(&action, &before) == 0 ? before.sa_handler
                                                        : SIG_ERR;
}

sighandler_t signal(int number, sighandler_t handler)
{
    return is_ours(number) ? install(handler, SA_RESTART)
                           : HOOK_REAL(signal)(number, handler);
}

sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return is_ours(number) ? install(handler, SA_RESETHAND | SA_NODEFER)
                           : HOOK_REAL(sysv_signal)(number, handler);
}

sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return sysv_signal(number, handler);
}

/* What the kernel is told for `set`. */
static const sigset_t *without_segv(const sigset_t *set, sigset_t *open)
{
    if (!set || sigismember(set, SIGSEGV) != 1)
        return set;
    *open = *set;
    sigdelset(open, SIGSEGV);
    return open;
}

/* After the kernel took the mask: what the program believes. */
static void believe(int how, bool named, bool set_given, sigset_t *before)
{
    if (before && segv_masked)
        sigaddset(before, SIGSEGV);
    if (!set_given)
        return;
    if (how == SIG_SETMASK)
        segv_masked = named;
    else if (named)
        segv_masked = how == SIG_BLOCK;
}

typedef int mask_fn(int, const sigset_t *, sigset_t *);

static int mask(mask_fn *real, int how, const sigset_t *set, sigset_t *before)
{
    sigset_t open;
    if (hook_depth)
        return real(how, set, before);
    bool named = set && sigismember(set, SIGSEGV) == 1;
    /* Unblocking is passed on as it is: it may have been blocked earlier. */
    const sigset_t *given = how == SIG_UNBLOCK ? set : without_segv(set, &open);
    bool set_given = set != NULL;
    int result = real(how, given, before);
    if (result == 0)
        believe(how, named, set_given, before);
    return result;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    return mask(HOOK_REAL(sigprocmask), how, set, before);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return mask(HOOK_REAL(pthread_sigmask), how, set, before);
}

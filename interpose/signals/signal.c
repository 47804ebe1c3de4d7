/*
 * What the program does when signals arrive: its handlers, one table.
 *
 * The kernel calls `deliver` for every signal that has a handler, and that the
 * program's: so it runs with SIGSEGV open whatever its mask says, what it does to
 * the mask it returns to is seen (mask.h), and it runs when its thread holds
 * nothing that others wait for (keep.h). The rest of an action, with
 * its mask, is the kernel's to keep. For SIGSEGV the place of the kernel is
 * taken by os/fault, which hands over every foreign fault.
 *
 * Until the runtime is in use nothing here does anything.
 */
#include "base/quiet.h"
#include "base/slices.h"
#include "base/system.h"
#include "interpose/signals/keep.h"
#include "interpose/signals/mask.h"
#include "os/action.h"
#include "os/fault.h"

#include <errno.h>

typedef void handler_fn(int, siginfo_t *, void *);

/* The program's handler of each signal for which `deliver` is installed. */
static handler_fn *_Atomic handlers[NSIG];

/* Signals that have one. Those of SA_RESETHAND stay in it. */
static _Atomic uint64_t handled;

/* SIGSEGV is blocked while its handler runs. */
static _Atomic bool segv_blocks;

/* Signals whose handler has not asked for information (SA_SIGINFO), which
 * `deliver` needs. */
static _Atomic uint64_t uninformed;

/* Signals whose system calls signal() does not restart (siginterrupt). */
static _Atomic uint64_t interrupting;

#define BIT(number) (UINT64_C(1) << ((number)-1))

static void deliver(int number, siginfo_t *info, void *context);

/* With SA_RESETHAND the kernel has the default action again, and the signal is
 * still to come. */
static void have_again(int number)
{
    struct adsm_system_action now;
    if (adsm_system_sigaction(number, NULL, &now) != 0 || now.handler ||
        !(now.flags & SA_RESETHAND))
        return;
    now.handler = deliver;
    adsm_system_sigaction(number, &now, NULL);
}

/* In a quiet stretch. */
static __attribute__((noinline)) void keep(int number, const siginfo_t *info,
                                           ucontext_t *context)
{
    int saved = errno;
    have_again(number);
    errno = saved;
    keep_signal(number, info, context);
}

static void deliver(int number, siginfo_t *info, void *context)
{
    struct mask_frame frame;
    if (hook_unlikely(adsm_quiet_keeps(number))) {
        keep(number, info, context);
        return;
    }
    if (keep_is_ordered(number) && !keep_exchange(number, info))
        return;
    handler_fn *handler = atomic_load(&handlers[number]);
    mask_handler_begin(&frame, context,
                       number == SIGSEGV && atomic_load(&segv_blocks));
    handler(number, info, context);
    mask_handler_end(&frame, context);
}

static bool has_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

typedef int action_fn(int, const struct sigaction *, struct sigaction *);

static int segv_action(int number, const struct sigaction *action,
                       struct sigaction *before)
{
    (void)number;
    if (action)
        atomic_store(&segv_blocks,
                     !(action->sa_flags & SA_NODEFER) ||
                         *mask_word(&action->sa_mask) & MASK_SEGV);
    return adsm_fault_app_action(action, before);
}

/* Who takes the place of the kernel; `others` for most signals. */
static action_fn *kernel_for(int number, action_fn *others)
{
    return number == SIGSEGV                  ? segv_action
           : number == SIGSYS && trap_is_on() ? trap_action
                                              : others;
}

/* What the program has there, made of what the kernel has. */
static void tell(struct sigaction *before, handler_fn *handler,
                 bool was_uninformed)
{
    if (before->sa_sigaction == deliver)
        before->sa_sigaction = handler;
    if (was_uninformed)
        before->sa_flags &= ~SA_SIGINFO;
}

static void note_bit(_Atomic uint64_t *set, int number, bool is_in)
{
    if (is_in)
        atomic_fetch_or(set, BIT(number));
    else
        atomic_fetch_and(set, ~BIT(number));
}

/* sigaction with `deliver` in the place of handlers; `before` says what the
 * program had there. */
static int swap(action_fn *kernel, int number, const struct sigaction *action,
                struct sigaction *before)
{
    struct sigaction next, old;
    handler_fn *previous = atomic_load(&handlers[number]);
    bool was_uninformed = atomic_load(&uninformed) & BIT(number);
    bool handles = action && has_handler(action);
    if (action)
        next = *action;
    if (handles) {
        atomic_store(&handlers[number], action->sa_sigaction);
        next.sa_sigaction = deliver;
        next.sa_flags |= SA_SIGINFO;
    }
    int result = kernel(number, action ? &next : NULL, &old);
    if (result != 0) {
        atomic_store(&handlers[number], previous);
        return result;
    }
    if (action) {
        note_bit(&handled, number, handles);
        note_bit(&uninformed, number,
                 handles && !(action->sa_flags & SA_SIGINFO));
        if (action->sa_handler == SIG_IGN)
            keep_discard(number);
    }
    tell(&old, previous, was_uninformed);
    if (before)
        *before = old;
    return result;
}

static bool is_a_signal(int number)
{
    return number > 0 && number < NSIG;
}

/* Take over an action that was set past us. */
static void adopt(int number)
{
    action_fn *kernel = kernel_for(number, HOOK_REAL(sigaction));
    struct sigaction now;
    if ((number == SIGSEGV && adsm_fault_is_displaced(&now)) ||
        (kernel(number, NULL, &now) == 0 && has_handler(&now) &&
         now.sa_sigaction != deliver))
        swap(kernel, number, &now, NULL);
}

void signal_adopt_actions(void)
{
    for (int number = 1; number < NSIG; number++)
        adopt(number);
    adsm_slices_know(&handled);
}

int sigaction(int number, const struct sigaction *action,
              struct sigaction *before)
{
    if (mask_is_seen() && is_a_signal(number))
        return swap(kernel_for(number, HOOK_REAL(sigaction)), number, action,
                    before);
    int result = HOOK_REAL(sigaction)(number, action, before);
    if (result == 0 && action && mask_is_seen()) /* it came into use */
        adopt(number);
    return result;
}

int signal_by_number(int number, const struct sigaction *action,
                     struct sigaction *before)
{
    /* Two are libc's own, for which it has no function. */
    if (!is_a_signal(number) || (number >= __SIGRTMIN && number < SIGRTMIN))
        return adsm_action(number, action, before);
    return swap(kernel_for(number, adsm_action), number, action, before);
}

int __sigaction(int number, const struct sigaction *action,
                struct sigaction *before)
{
    return sigaction(number, action, before);
}

/* The older ways, each with its flags and its mask. */
static sighandler_t install(int number, sighandler_t handler, int flags,
                            bool blocks_itself)
{
    struct sigaction action, before;
    if (handler == SIG_ERR || !is_a_signal(number)) {
        errno = EINVAL;
        return SIG_ERR;
    }
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (blocks_itself)
        sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler
                                                    : SIG_ERR;
}

sighandler_t signal(int number, sighandler_t handler)
{
    bool interrupts =
        is_a_signal(number) && atomic_load(&interrupting) & BIT(number);
    return install(number, handler, interrupts ? 0 : SA_RESTART, true);
}

sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return install(number, handler, SA_RESETHAND | SA_NODEFER, false);
}

sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return sysv_signal(number, handler);
}

int siginterrupt(int number, int interrupts)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    if (interrupts) {
        atomic_fetch_or(&interrupting, BIT(number));
        action.sa_flags &= ~SA_RESTART;
    } else {
        atomic_fetch_and(&interrupting, ~BIT(number));
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

int sigignore(int number)
{
    return install(number, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

/* sigset of System V: an action, and the signal open; or the signal held.
 * What it was before: the action, or that it was held. */
sighandler_t sigset(int number, sighandler_t handler)
{
    sigset_t set, before;
    struct sigaction action;
    sigemptyset(&set);
    if (handler == SIG_ERR || sigaddset(&set, number) < 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sighandler_t old = SIG_ERR;
    if (handler != SIG_HOLD)
        old = install(number, handler, 0, false);
    else if (sigaction(number, NULL, &action) == 0)
        old = action.sa_handler;
    if (old == SIG_ERR ||
        sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set,
                    &before) < 0)
        return SIG_ERR;
    return sigismember(&before, number) == 1 ? SIG_HOLD : old;
}

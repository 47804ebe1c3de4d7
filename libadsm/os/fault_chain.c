/*
 * The application's own SIGSEGV action, and handing signals to it.
 *
 * Owns that action. What the kernel does on delivery is done here instead: the
 * mask, SA_RESETHAND, the default action. The kernel itself does
 * SA_ONSTACK and SA_RESTART, because the engine's kernel action takes these
 * flags over. One thing differs on purpose: SIGSEGV is never blocked, since a
 * handler of the application may touch shared memory too.
 *
 * Lock: chain_lock, rank SIGNAL, with every signal blocked, because sigaction
 * may be called in a handler.
 */
#include "os/fault_engine.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "os/action.h"
#include "os/look.h"

/* The kernel's signal set: one bit per signal, without the rest of sigset_t. */
typedef uint64_t kernel_set;
#define KERNEL_BIT(signal) (UINT64_C(1) << ((signal)-1))

static struct {
    struct adsm_lock lock;
    struct sigaction action; /* lock */
} chain = {.lock = ADSM_LOCK_INIT(ADSM_RANK_SIGNAL)};

static kernel_set chain_mask_swap(kernel_set mask)
{
    kernel_set old = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof mask);
    return old;
}

static kernel_set chain_set_of(const sigset_t *set)
{
    kernel_set mask;
    memcpy(&mask, set, sizeof mask);
    return mask;
}

static bool chain_has_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* An ignored signal must not interrupt system calls. */
static int chain_flags_for(const struct sigaction *action)
{
    if (!chain_has_handler(action))
        return SA_RESTART;
    return action->sa_flags & (SA_ONSTACK | SA_RESTART);
}

adsm_status_t adsm_fault_chain_init(void)
{
    if (adsm_action(SIGSEGV, NULL, &chain.action) != 0)
        return ADSM_E_SYSTEM;
    return ADSM_OK;
}

void adsm_fault_chain_fini(void)
{
    adsm_action(SIGSEGV, &chain.action, NULL);
}

int adsm_fault_chain_flags(void)
{
    return chain_flags_for(&chain.action);
}

int adsm_fault_app_action(const struct sigaction *act, struct sigaction *old)
{
    if (!adsm_fault_keeps_action())
        return adsm_action(SIGSEGV, act, old);
    /* Copied outside the lock: either may lie in protected memory. */
    struct sigaction next, previous;
    if (act != NULL)
        next = *act;
    int saved_errno = errno;
    kernel_set mask = chain_mask_swap(~(kernel_set)0);
    adsm_lock_acquire(&chain.lock);
    previous = chain.action;
    if (act != NULL) {
        chain.action = next;
        adsm_fault_engine()->set_flags(chain_flags_for(&next));
    }
    adsm_lock_release(&chain.lock);
    chain_mask_swap(mask);
    errno = saved_errno;
    if (old != NULL)
        *old = previous;
    return 0;
}

bool adsm_fault_is_displaced(struct sigaction *by)
{
    return adsm_fault_keeps_action() && adsm_action(SIGSEGV, NULL, by) == 0 &&
           by->sa_sigaction != adsm_fault_engine()->entry;
}

/* The action for this delivery; as the kernel, SA_RESETHAND is carried out
 * before the handler runs and leaves flags and mask alone. */
static struct sigaction chain_take_action(void)
{
    kernel_set mask = chain_mask_swap(~(kernel_set)0);
    adsm_lock_acquire(&chain.lock);
    struct sigaction action = chain.action;
    if (chain_has_handler(&action) && (action.sa_flags & SA_RESETHAND))
        chain.action.sa_handler = SIG_DFL;
    adsm_lock_release(&chain.lock);
    chain_mask_swap(mask);
    return action;
}

/* Not to be put in place: it has to be there for debuggers. */
__attribute__((noinline)) void adsm_fault_ends(void)
{
    __asm__ volatile("");
}

/*
 * Die as without us: the default action, and the same signal once more for
 * this thread. It is blocked here and arrives when the handler returns, so
 * that the core dump shows the faulting instruction with its registers.
 */
static void chain_default(siginfo_t *info, ucontext_t *context)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    adsm_fault_ends();
    adsm_action(SIGSEGV, &action, NULL);
    sigdelset(&context->uc_sigmask, SIGSEGV);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV,
            info);
}

void adsm_fault_chain(int signal, siginfo_t *info, ucontext_t *context)
{
    int saved_errno = errno;
    bool is_sent = info->si_code <= 0; /* by kill() and the like: no fault */
    kernel_set mask = chain_set_of(&context->uc_sigmask);
    if (!is_sent && adsm_look_recover(context))
        return;
    if (is_sent && adsm_fault_is_kept(info, mask))
        return;
    struct sigaction action = {.sa_handler = SIG_DFL};
    if (is_sent || !adsm_fault_is_blocked(mask))
        action = chain_take_action();
    if (!chain_has_handler(&action)) {
        if (!(is_sent && action.sa_handler == SIG_IGN))
            chain_default(info, context);
        errno = saved_errno;
        return;
    }
    chain_mask_swap((mask | chain_set_of(&action.sa_mask)) &
                    ~KERNEL_BIT(SIGSEGV));
    errno = saved_errno;
    /* One without SA_SIGINFO gets them as well, as from the kernel. */
    action.sa_sigaction(signal, info, context);
}

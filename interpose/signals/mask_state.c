/*
 * The belief of a thread, what it keeps, and the moment when that begins.
 *
 * A SIGSEGV sent to the process is kept once, one sent to a thread once for
 * that thread, as pending signals are.
 */
#include "interpose/signals/mask.h"
#include "interpose/signals/keep.h"
#include "os/fault.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct mask_thread mask_thread;
_Atomic bool mask_active;

enum { EMPTY, BUSY, FULL };

struct kept {
    _Atomic int state;
    siginfo_t info;
};

static struct kept kept_process;
static _Thread_local struct kept kept_thread
    __attribute__((tls_model("initial-exec")));

uint64_t mask_kernel(int how, const uint64_t *set)
{
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, how, set, &before, sizeof before);
    return before;
}

static bool kept_move(struct kept *kept, int from, int to)
{
    return atomic_compare_exchange_strong(&kept->state, &from, to);
}

bool mask_blocks(uint64_t mask)
{
    mask_see(mask);
    return mask_is_active() && mask_thread.blocked;
}

bool mask_keep(const siginfo_t *sent, uint64_t mask)
{
    if (!mask_blocks(mask))
        return false;
    struct kept *kept =
        sent->si_code == SI_TKILL ? &kept_thread : &kept_process;
    if (kept_move(kept, EMPTY, BUSY)) {
        kept->info = *sent;
        atomic_store(&kept->state, FULL);
    }
    return true;
}

static bool kept_take(struct kept *kept, siginfo_t *info)
{
    if (!kept_move(kept, FULL, BUSY))
        return false;
    *info = kept->info;
    atomic_store(&kept->state, EMPTY);
    return true;
}

bool mask_take_kept(siginfo_t *info)
{
    return kept_take(&kept_thread, info) || kept_take(&kept_process, info);
}

bool mask_has_kept(void)
{
    return atomic_load(&kept_thread.state) == FULL ||
           atomic_load(&kept_process.state) == FULL;
}

void mask_believe(bool blocked)
{
    siginfo_t info;
    mask_thread.blocked = blocked;
    if (blocked || hook_likely(!mask_has_kept()) || !mask_take_kept(&info))
        return;
    int saved = errno;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV,
            &info);
    errno = saved;
}

void mask_adopt(void)
{
    const uint64_t opened = mask_opened();
    uint64_t blocked = mask_kernel(SIG_BLOCK, NULL);
    mask_know(blocked);
    if (!(blocked & opened))
        return;
    /* First: one that is pending arrives at once, and is kept. */
    if (blocked & MASK_SEGV)
        mask_thread.blocked = true;
    mask_kernel(SIG_UNBLOCK, &opened);
}

void mask_handler_begin(struct mask_frame *frame, ucontext_t *context,
                        bool blocked)
{
    const uint64_t opened = mask_opened();
    struct mask_thread *self = &mask_thread;
    if (!self->waits)
        mask_see(*mask_word(&context->uc_sigmask));
    bool outer = self->waits ? self->after : self->blocked;
    uint64_t now = mask_kernel(SIG_UNBLOCK, &opened);
    mask_know(now);
    if (now & MASK_SEGV)
        blocked = true;
    if (outer)
        *mask_word(&context->uc_sigmask) |= MASK_SEGV;
    *frame = (struct mask_frame){self->waits, self->depth};
    self->blocked = blocked || self->blocked;
    self->waits = false;
    self->depth = hook_depth;
}

void mask_handler_end(const struct mask_frame *frame, ucontext_t *context)
{
    struct mask_thread *self = &mask_thread;
    bool outer = *mask_word(&context->uc_sigmask) & MASK_SEGV;
    *mask_word(&context->uc_sigmask) &= ~mask_opened();
    mask_know(*mask_word(&context->uc_sigmask));
    self->depth = frame->depth;
    self->waits = frame->waits;
    if (self->waits)
        self->after = outer;
    else
        mask_believe(outer);
}

static void begin(void)
{
    atomic_store(&mask_active, true);
    trap_start();
    signal_adopt_actions();
    mask_adopt();
    mask_open_others();
    keep_start();
}

__attribute__((constructor)) void mask_start(void)
{
    static const struct adsm_fault_program program = {begin, mask_keep,
                                                      mask_blocks};
    adsm_fault_set_program(&program);
}

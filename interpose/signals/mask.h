/*
 * Which threads of the program have SIGSEGV blocked, as the program sees it.
 *
 * Owns that belief, one per thread, and SIGSEGVs sent to threads that have it
 * blocked. The kernel never has the signal blocked once the runtime is in use:
 * a blocked fault on a shared page would end the process. Until then masks are
 * the program's own business and nothing here does anything.
 *
 * A mask can be set by an instruction of the program's own, of which nobody hears.
 * Where one of the signals is open that were blocked with SIGSEGV, one was: then
 * SIGSEGV is open as the kernel has it.
 *
 * No lock: the belief is the thread's own, also in its signal handlers.
 */
#ifndef INTERPOSE_SIGNALS_MASK_H
#define INTERPOSE_SIGNALS_MASK_H

#include "base/quiet.h"
#include "interpose/hook.h"
#include "interpose/calls/trap.h"

#include <ucontext.h>

/** A kernel signal set: bit n - 1 for signal n. */
#define MASK_SEGV (UINT64_C(1) << (SIGSEGV - 1))

/** What the kernel never has blocked: also SIGSYS where calls are trapped, of
 *  which a program is not told. */
static inline uint64_t mask_opened(void)
{
    return trap_is_on() ? MASK_SEGV | UINT64_C(1) << (SIGSYS - 1) : MASK_SEGV;
}

/** The part of a set that the kernel knows. */
static inline uint64_t *mask_word(const sigset_t *set)
{
    return (uint64_t *)set;
}

struct mask_thread {
    bool blocked; /* the program has SIGSEGV blocked                         */
    bool waits;   /* in a call that has a mask of its own (sigsuspend)       */
    bool after;   /* `blocked` as it will be when that call returns          */
    int depth;    /* of hooks below the program's code: not 0 in a handler
                     that has interrupted one                                */
    uint64_t others; /* signals that the kernel has had blocked since, as far
                        as is known                                          */
};

extern _Thread_local struct mask_thread mask_thread
    __attribute__((tls_model("initial-exec")));

extern _Atomic bool mask_active;

/** Has the runtime come into use? Sequentially consistent: whoever sees false
 *  and then changes a mask looks again. Signal: any handler. */
static inline bool mask_is_active(void)
{
    return atomic_load(&mask_active);
}

/** Does a call come from the program, not from the driver or the runtime? */
static inline bool mask_is_programs(void)
{
    return hook_depth == mask_thread.depth;
}

/** Both. */
static inline bool mask_is_seen(void)
{
    return mask_is_active() && mask_is_programs();
}

/** As sigprocmask and pthread_sigmask. */
typedef int mask_fn(int, const sigset_t *, sigset_t *);

/**
 * What sigprocmask does, by the function `real`, of which the kernel's word of a
 * set is looked at and no more. Signal: any handler
 */
int mask_change(mask_fn *real, int how, const sigset_t *set, sigset_t *before);

/**
 * The kernel's own mask of this thread, past every hook.
 *
 * @how  as for sigprocmask; @set  NULL to ask only
 * Return: the mask before
 * Thread: any. Signal: any handler
 */
uint64_t mask_kernel(int how, const uint64_t *set);

/** The program now has SIGSEGV blocked in this thread, or not: then what was
 *  kept arrives. Signal: any handler. */
void mask_believe(bool blocked);

/** What the kernel, or libc, never blocks, whoever asks. */
#define MASK_NEVER                                                             \
    (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1) |             \
     UINT64_C(3) << (__SIGRTMIN - 1))

/** The kernel now has this mask in this thread. Signal: any handler. */
static inline void mask_know(uint64_t mask)
{
    mask_thread.others =
        mask & ~(mask_opened() | MASK_NEVER | adsm_quiet_is_shut());
}

/** The kernel had this mask where a signal has interrupted the thread: no longer
 *  believe what it disproves. Signal: any handler. */
static inline void mask_see(uint64_t mask)
{
    if (hook_likely(!(mask_thread.others & ~mask)))
        return;
    mask_know(mask);
    mask_believe(false);
}

/** Open SIGSEGV in the kernel where it is blocked, and believe that. Called
 *  where the kernel may have taken a mask unseen. Signal: any handler. */
void mask_adopt(void);

/** Take one SIGSEGV that is kept for this thread. Signal: any handler. */
bool mask_take_kept(siginfo_t *info);

/** Is one kept? Signal: any handler. */
bool mask_has_kept(void);

/** Keep one that a process sent (adsm_fault_program). Signal: fault path. */
bool mask_keep(const siginfo_t *sent, uint64_t mask);

/** Does the program have SIGSEGV blocked in this thread (adsm_fault_program)?
 *  Signal: fault path. */
bool mask_blocks(uint64_t mask);

/** Other threads that have SIGSEGV blocked: open it there, and let them
 *  believe it (mask_others.c). Thread: one. Signal: never. */
void mask_open_others(void);

/** What a handler of the program changes, for the time that it runs. */
struct mask_frame {
    bool waits;
    int depth;
};

/**
 * Begin and end a handler of the program: it sees in its context and in its
 * thread the masks it would see, whatever it changes there is believed, and
 * SIGSEGV is open in between.
 *
 * @blocked  the delivery blocks SIGSEGV in a way that the kernel does not show
 * Signal: any handler
 */
void mask_handler_begin(struct mask_frame *frame, ucontext_t *context,
                        bool blocked);
void mask_handler_end(const struct mask_frame *frame, ucontext_t *context);

/** Have all this begin when the runtime comes into use. Also called by what
 *  brings it up: a library's constructor may do that before ours ran. */
void mask_start(void);

/** sigaction, asked for by number: where the kernel is meant it is asked, not
 *  libc, whose function may have been made to make this very call. */
int signal_by_number(int number, const struct sigaction *action,
                     struct sigaction *before);

/** Actions set before the runtime came into use, or past it (signal.c). */
void signal_adopt_actions(void);

#endif

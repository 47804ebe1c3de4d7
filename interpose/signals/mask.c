/*
 * Calls with which a program sets, asks for and waits under a signal mask.
 *
 * The kernel gets each mask without SIGSEGV, once the runtime is in use. Sets
 * in shared memory are copied: the kernel cannot open a block. Sets that are not
 * there are the real function's to find. The older functions are made of the
 * newer ones, as in libc.
 */
#include "interpose/signals/mask.h"
#include "interpose/signals/keep.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/hooks.h"
#include "base/status.h"
#include "os/look.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* Bytes of a set that calls read and write, whatever its type says. */
enum { WORD_BYTES = sizeof(uint64_t) };

/* The set before cannot be told, though the mask is another one now. */
static int fail(mask_fn *real)
{
    if (real == HOOK_REAL(pthread_sigmask))
        return EFAULT;
    errno = EFAULT;
    return -1;
}

/* After the kernel took the mask: what the program believes. */
static void believe(int how, uint64_t set)
{
    uint64_t others = mask_thread.others;
    mask_know(how == SIG_SETMASK ? set
              : how == SIG_BLOCK ? others | set
                                 : others & ~set);
    if (how == SIG_SETMASK)
        mask_believe(set & MASK_SEGV);
    else if (set & MASK_SEGV)
        mask_believe(how == SIG_BLOCK);
}

/* Read a set, which may not be there; masks are seen. */
static bool look(uint64_t *word, const sigset_t *set)
{
    return adsm_look_words(word, mask_word(set), 1);
}

/* Must the kernel get another set for *set, which is `word`? Unblocking is passed
 * on as it is: harmless. */
static bool is_exchanged(int how, const sigset_t *set, uint64_t word)
{
    return (how != SIG_UNBLOCK && word & mask_opened()) ||
           !hook_is_plain(set, WORD_BYTES);
}

/* As libc's functions give and take sets, whatever the size of their type. */
static void make_set(sigset_t *set, uint64_t word)
{
    sigemptyset(set);
    *mask_word(set) = word;
}

static int mask(mask_fn *real, int how, const sigset_t *set, sigset_t *before)
{
    const sigset_t *given = set;
    sigset_t copy, old;
    uint64_t word = 0;
    if (!mask_is_seen()) {
        int result = real(how, set, before);
        if (mask_is_seen()) /* it came into use meanwhile */
            mask_adopt();
        return result;
    }
    if (set && hook_unlikely(!look(&word, set)))
        return real(how, set, before);
    if (hook_unlikely(set && is_exchanged(how, set, word))) {
        make_set(&copy, how == SIG_UNBLOCK ? word : word & ~mask_opened());
        given = &copy;
    }
    bool plain = !before || hook_is_plain(before, WORD_BYTES);
    sigset_t *told = before && plain ? before : &old;
    int result = real(how, given, told);
    if (result != 0)
        return result;
    mask_see(*mask_word(told));
    if (mask_thread.blocked)
        *mask_word(told) |= MASK_SEGV;
    if (given) /* the set may be in the place of the one before */
        believe(how, word);
    return plain || call_put(before, &old, WORD_BYTES) == ADSM_OK ? 0
                                                                  : fail(real);
}

int mask_change(mask_fn *real, int how, const sigset_t *set, sigset_t *before)
{
    return mask(real, how, set, before);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    return mask(HOOK_REAL(sigprocmask), how, set, before);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    return mask(HOOK_REAL(pthread_sigmask), how, set, before);
}

/* Change one signal. */
static int change(int how, int number)
{
    sigset_t set;
    sigemptyset(&set);
    return sigaddset(&set, number) < 0 ? -1 : sigprocmask(how, &set, NULL);
}

int sighold(int number)
{
    return change(SIG_BLOCK, number);
}

int sigrelse(int number)
{
    return change(SIG_UNBLOCK, number);
}

/* Masks of BSD: an int for the first 32 signals. */
static int change_bsd(int how, int bits)
{
    sigset_t set, before;
    sigemptyset(&set);
    *mask_word(&set) = (unsigned)bits;
    return sigprocmask(how, &set, &before) < 0 ? -1 : (int)*mask_word(&before);
}

int sigblock(int bits)
{
    return change_bsd(SIG_BLOCK, bits);
}

int sigsetmask(int bits)
{
    return change_bsd(SIG_SETMASK, bits);
}

int siggetmask(void)
{
    return sigblock(0);
}

/* ---- waits under a mask -------------------------------------------------- */

/* Begin to wait under *set, NULL for none, which becomes what the kernel is to
 * get. Return: false when a SIGSEGV that is kept gets through, and has. */
static bool wait_begin(const sigset_t **set, sigset_t *copy)
{
    uint64_t word;
    if (!*set || !mask_is_seen() || !look(&word, *set))
        return true;
    bool after = mask_thread.blocked, blocked = word & MASK_SEGV;
    if (is_exchanged(SIG_SETMASK, *set, word)) {
        make_set(copy, word & ~mask_opened());
        *set = copy;
    }
    if (!blocked && mask_has_kept()) {
        mask_believe(false);
        mask_believe(after);
        errno = EINTR;
        return false;
    }
    mask_thread.after = after;
    mask_thread.blocked = blocked;
    mask_thread.waits = true;
    return true;
}

/* Without a handler the kernel has its own mask back, which was open. */
static void wait_end(const sigset_t *set, int result)
{
    if (!set || !mask_is_seen())
        return;
    bool began = mask_thread.waits;
    if (began) {
        mask_thread.waits = false;
        mask_believe(mask_thread.after);
    }
    /* It came into use meanwhile, or a handler may have blocked it. */
    if (!began || (result < 0 && errno == EINTR))
        mask_adopt();
}

/* `call` with `set` as the kernel may have it. */
#define WAIT(set, call)                                                        \
    ({                                                                         \
        sigset_t wait_copy;                                                    \
        int wait_result = -1;                                                  \
        if (wait_begin(&set, &wait_copy)) {                                    \
            wait_result = call;                                                \
            wait_end(set, wait_result);                                        \
        }                                                                      \
        wait_result;                                                           \
    })

int sigsuspend(const sigset_t *set)
{
    return WAIT(set, HOOK_REAL(sigsuspend)(set));
}

int __sigsuspend(const sigset_t *set)
{
    return sigsuspend(set);
}

/* sigpause of System V: the thread's mask without one signal. */
int __xpg_sigpause(int number)
{
    sigset_t set;
    if (sigprocmask(SIG_BLOCK, NULL, &set) < 0 || sigdelset(&set, number) < 0)
        return -1;
    return sigsuspend(&set);
}

int __sigpause(int number_or_bits, int is_number)
{
    sigset_t set;
    if (is_number)
        return __xpg_sigpause(number_or_bits);
    sigemptyset(&set);
    *mask_word(&set) = (unsigned)number_or_bits;
    return sigsuspend(&set);
}

/* That of BSD. */
int sigpause(int bits)
{
    return __sigpause(bits, 0);
}

int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
            const struct timespec *time, const sigset_t *set)
{
    return WAIT(set, call_pselect(count, reads, writes, others, time, set));
}

int ppoll(struct pollfd *list, nfds_t count, const struct timespec *time,
          const sigset_t *set)
{
    return WAIT(set, call_ppoll(list, count, time, set));
}

int __ppoll_chk(struct pollfd *list, nfds_t count, const struct timespec *time,
                const sigset_t *set, size_t room)
{
    return WAIT(set, call___ppoll_chk(list, count, time, set, room));
}

int epoll_pwait(int poll, struct epoll_event *events, int most, int time,
                const sigset_t *set)
{
    return WAIT(set, call_epoll_pwait(poll, events, most, time, set));
}

int epoll_pwait2(int poll, struct epoll_event *events, int most,
                 const struct timespec *time, const sigset_t *set)
{
    return WAIT(set, call_epoll_pwait2(poll, events, most, time, set));
}

/* ---- signals that are pending -------------------------------------------- */

int sigpending(sigset_t *set)
{
    int result = hook_likely(hook_is_plain(set, WORD_BYTES))
                     ? HOOK_REAL(sigpending)(set)
                     : call_sigpending(set);
    if (result == 0 && mask_is_seen() && mask_has_kept())
        *mask_word(set) |= MASK_SEGV;
    return result;
}

/* One that is kept, for a wait that asks for it. */
static bool take(const sigset_t *set, siginfo_t *info)
{
    uint64_t word;
    return mask_is_seen() && mask_has_kept() && look(&word, set) &&
           word & MASK_SEGV && mask_take_kept(info);
}

static __attribute__((noinline)) int
wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    siginfo_t got;
    if (hook_likely(!take(set, &got)))
        return hook_is_plain(set, WORD_BYTES) &&
                       hook_is_plain(info, sizeof *info) &&
                       hook_is_plain(time, sizeof *time)
                   ? HOOK_REAL(sigtimedwait)(set, info, time)
                   : call_sigtimedwait(set, info, time);
    if (!info || call_put(info, &got, sizeof got) == ADSM_OK)
        return SIGSEGV;
    errno = EFAULT; /* and the signal is gone, as the kernel has it */
    return -1;
}

/* Where real-time signals are noted: the oldest of the number that comes. */
static __attribute__((noinline)) int
wait_in_order(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    siginfo_t got;
    int number;
    do
        number = wait_for(set, &got, time);
    while (keep_is_ordered(number) && !keep_exchange(number, &got));
    if (number < 0 || !info || call_put(info, &got, sizeof got) == ADSM_OK)
        return number;
    errno = EFAULT; /* and the signal is gone, as the kernel has it */
    return -1;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info,
                 const struct timespec *time)
{
    if (hook_unlikely(!mask_is_active()))
        return HOOK_REAL(sigtimedwait)(set, info, time);
    return hook_unlikely(keep_has_some()) ? wait_in_order(set, info, time)
                                          : wait_for(set, info, time);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

int sigwait(const sigset_t *set, int *number)
{
    int got;
    do
        got = sigtimedwait(set, NULL, NULL);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    *number = got;
    return 0;
}

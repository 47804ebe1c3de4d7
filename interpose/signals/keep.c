/*
 * Signals that come in quiet stretches: see keep.h.
 *
 * A noted signal is a place in a short list; what is pending for it is a token,
 * known by its value. There are as many places of a number as tokens, or less:
 * one of what went to the process stays, and means nothing. A token that cannot
 * be sent, because the user has as many signals pending as are allowed, is owed,
 * and sent later. Where the list is full the signal itself is sent, and may be
 * late.
 */
#include "interpose/signals/keep.h"

#include "base/log.h"
#include "base/quiet.h"
#include "interpose/signals/mask.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEPT_MOST = 8 };

struct kept {
    int number;
    unsigned discarded; /* as it was when this was noted */
    siginfo_t info;
};

/* The counts by number are looked at while signals come, which move what is in
 * the list: of the number itself none does. */
static _Thread_local struct {
    int count;
    struct kept list[KEPT_MOST]; /* in order                        */
    _Atomic uint8_t noted[NSIG]; /* how many of a number            */
    uint8_t owed[NSIG];          /* tokens of it that are to be sent */
} kept __attribute__((tls_model("initial-exec")));

/* How often what was pending has been thrown away, by number. */
static _Atomic unsigned discarded[NSIG];

/* Its address is the value of tokens. */
static const char token_of_ours;

static int self(void)
{
    return (int)syscall(SYS_gettid);
}

/* ---- sending -------------------------------------------------------------- */

static bool send_to_thread(int number, const siginfo_t *info)
{
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), self(), number, info) == 0;
}

/* Refused for what kill and the kernel send, but to the first thread. */
static bool send_to_process(int number, const siginfo_t *info)
{
    return syscall(SYS_rt_sigqueueinfo, getpid(), number, info) == 0;
}

static bool send_token(int number)
{
    siginfo_t token;
    memset(&token, 0, sizeof token);
    token.si_signo = number;
    token.si_code = SI_QUEUE;
    token.si_pid = getpid();
    token.si_uid = getuid();
    token.si_ptr = (void *)&token_of_ours;
    return send_to_thread(number, &token);
}

static bool is_token(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_ptr == &token_of_ours;
}

/* Was it surely sent to the process as a whole? Of what a thread's own calls
 * cause, or may be told to one thread, the kernel does not say so. */
static bool is_for_process(int number, const siginfo_t *info)
{
    switch (info->si_code) {
    case SI_USER:
    case SI_KERNEL:
        return number != SIGPIPE && number != SIGXFSZ && number != SIGXCPU &&
               number != SIGIO;
    case SI_QUEUE:
        return info->si_pid != getpid();
    default:
        return number == SIGCHLD && info->si_code > 0;
    }
}

/* ---- the list, with signals blocked --------------------------------------- */

static void take_out(int i)
{
    kept.noted[kept.list[i].number]--;
    kept.count--;
    memmove(&kept.list[i], &kept.list[i + 1],
            (size_t)(kept.count - i) * sizeof *kept.list);
}

/* The oldest of a number; -1: none. */
static int find(int number)
{
    for (int i = 0; i < kept.count; i++)
        if (kept.list[i].number == number)
            return i;
    return -1;
}

/* Without what is no longer pending. */
static void clean(int number)
{
    for (int i = kept.count - 1; i >= 0; i--)
        if (kept.list[i].number == number &&
            kept.list[i].discarded != atomic_load(&discarded[number]))
            take_out(i);
    if (kept.owed[number] > kept.noted[number])
        kept.owed[number] = kept.noted[number];
}

static void note(int number, const siginfo_t *info)
{
    kept.list[kept.count++] =
        (struct kept){number, atomic_load(&discarded[number]), *info};
    kept.noted[number]++;
}

static void send_owed(void)
{
    for (int number = __SIGRTMIN; number < NSIG; number++)
        while (kept.owed[number] && send_token(number))
            kept.owed[number]--;
}

/* ---- keeping -------------------------------------------------------------- */

/* Its place is where the program is told of it. Without room it is only sent, and
 * without room in the kernel as well it waits for some: others take it away. */
static void keep_in_order(int number, const siginfo_t *info)
{
    enum { TRIES = 10000 };
    clean(number);
    bool noted = is_token(info) || kept.count < KEPT_MOST;
    if (noted && !is_token(info))
        note(number, info);
    if (noted && !send_token(number))
        kept.owed[number]++;
    for (int i = 0; !noted && i < TRIES; i++, sched_yield())
        noted = send_to_thread(number, info);
    if (!noted)
        adsm_log_signal(ADSM_LOG_ERROR,
                        "a real-time signal is lost: as many are pending as "
                        "the user may have (ulimit -i)");
}

/* What one thread does not take goes to another that does, as if this one had had
 * the signal blocked before. Not of those in order, unless the thread may wait
 * for what another would do: nobody could tell which is the oldest. */
static bool goes_to_process(int number, const siginfo_t *info)
{
    return (!keep_is_ordered(number) || adsm_quiet_waits()) &&
           !is_token(info) && is_for_process(number, info) &&
           send_to_process(number, info);
}

void keep_signal(int number, const siginfo_t *info, ucontext_t *context)
{
    const uint64_t asynchronous = ADSM_QUIET_ASYNCHRONOUS;
    int saved = errno;
    mask_kernel(SIG_BLOCK, &asynchronous);
    adsm_quiet_shut(number);
    /* The mask comes back with the context: that may be the first instruction of
     * another such handler, interrupted before it could say what it keeps. */
    *mask_word(&context->uc_sigmask) |= adsm_quiet_is_shut();
    if (goes_to_process(number, info))
        ;
    else if (keep_is_ordered(number))
        keep_in_order(number, info);
    else
        send_to_thread(number, info);
    errno = saved;
}

/* ---- delivery ------------------------------------------------------------- */

/* With signals blocked. Return: false: a token of what went to the process */
static bool exchange(int number, siginfo_t *info)
{
    clean(number);
    send_owed();
    int oldest = find(number);
    if (oldest < 0)
        return !is_token(info);
    siginfo_t come = *info;
    *info = kept.list[oldest].info;
    take_out(oldest);
    if (!is_token(&come))
        note(number, &come);
    return true;
}

bool keep_exchange(int number, siginfo_t *info)
{
    const uint64_t asynchronous = ADSM_QUIET_ASYNCHRONOUS;
    if (hook_likely(!kept.noted[number] && !is_token(info)))
        return true;
    int saved = errno;
    uint64_t before = mask_kernel(SIG_BLOCK, &asynchronous);
    bool goes = exchange(number, info);
    mask_kernel(SIG_SETMASK, &before);
    errno = saved;
    return goes;
}

bool keep_has_some(void)
{
    return kept.count > 0;
}

void keep_discard(int number)
{
    atomic_fetch_add(&discarded[number], 1);
}

/* ---- for the stretch ------------------------------------------------------ */

/* The thread sleeps for others: what is not for it alone. */
static void waits(void)
{
    const uint64_t asynchronous = ADSM_QUIET_ASYNCHRONOUS;
    uint64_t before = mask_kernel(SIG_BLOCK, &asynchronous);
    for (int i = kept.count - 1; i >= 0; i--) {
        int number = kept.list[i].number;
        if (is_for_process(number, &kept.list[i].info) &&
            send_to_process(number, &kept.list[i].info)) {
            take_out(i);
            kept.owed[number] -= kept.owed[number] > 0;
        }
    }
    mask_kernel(SIG_SETMASK, &before);
}

/* Nothing is pending in a child. */
static void in_child(void)
{
    memset(&kept, 0, sizeof kept);
}

void keep_start(void)
{
    static const struct adsm_quiet_keeper keeper = {waits, send_owed};
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&begun))
        pthread_atfork(NULL, NULL, in_child);
    adsm_quiet_set_keeper(&keeper);
}

/*
 * New threads: they believe of SIGSEGV what their maker did, or what the
 * attributes say.
 *
 * The C library gives a thread its mask by a call that nobody can stand
 * before, so the thread begins here.
 */
#include "base/lock.h"
#include "interpose/signals/mask.h"
#include "os/real.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

struct start {
    void *(*run)(void *);
    int (*run_c11)(void *);
    void *arg;
    bool blocked;
    uint64_t takes; /* signals that it has open as its maker had; bit n - 1 */
};

/* From here until the thread runs no handler comes: both threads use malloc, of
 * which a handler's access could need the locks, here or in a third thread that
 * it waits for in the driver. */
static struct start *prepare(void *arg, bool blocked, bool has_mask)
{
    uint64_t takes = has_mask ? 0 : adsm_quiet_takes();
    adsm_quiet_enter();
    adsm_quiet_block(); /* the new thread has it from its maker */
    struct start *start = calloc(1, sizeof *start);
    if (start) {
        start->arg = arg;
        start->blocked = blocked && !has_mask;
        start->takes = takes;
    }
    return start;
}

static void finish(struct start *unused)
{
    free(unused);
    adsm_quiet_leave();
}

static struct start take(struct start *given)
{
    struct start start = *given;
    adsm_quiet_enter();
    free(given);
    adsm_quiet_leave();
    return start;
}

static struct start begin(struct start *given)
{
    struct start start = take(given);
    mask_thread.blocked = start.blocked;
    trap_enter_thread();
    mask_adopt();
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &start.takes, NULL,
            sizeof start.takes);
    return start;
}

static void *run(void *given)
{
    struct start start = begin(given);
    return start.run(start.arg);
}

static int run_c11(void *given)
{
    struct start start = begin(given);
    return start.run_c11(start.arg);
}

/* Do the attributes bring a mask? Then the kernel has it. */
static bool has_mask(const pthread_attr_t *attr)
{
    sigset_t set;
    int (*get)(const pthread_attr_t *, sigset_t *) =
        attr ? adsm_real_lookup("pthread_attr_getsigmask_np", NULL) : NULL;
    return get && get(attr, &set) == 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*function)(void *), void *arg)
{
    if (!mask_is_seen()) {
        int failed = HOOK_REAL(pthread_create)(thread, attr, function, arg);
        if (mask_is_seen()) /* it came into use meanwhile */
            mask_open_others();
        return failed;
    }
    struct start *start = prepare(arg, mask_thread.blocked, has_mask(attr));
    /* libc stores it while every signal is blocked, in some versions. */
    pthread_t made;
    bool plain = hook_is_plain(thread, sizeof *thread);
    int failed = EAGAIN;
    if (start) {
        start->run = function;
        failed =
            HOOK_REAL(pthread_create)(plain ? thread : &made, attr, run, start);
    }
    finish(failed ? start : NULL);
    if (!failed && !plain)
        *thread = made;
    return failed;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *arg)
{
    if (!mask_is_seen())
        return HOOK_REAL(thrd_create)(thread, function, arg);
    struct start *start = prepare(arg, mask_thread.blocked, false);
    thrd_t made;
    int result = thrd_nomem;
    if (start) {
        start->run_c11 = function;
        result = HOOK_REAL(thrd_create)(&made, run_c11, start);
    }
    finish(result == thrd_success ? NULL : start);
    if (result == thrd_success)
        *thread = made;
    return result;
}

/*
 * Quiet stretches: see base/quiet.h.
 *
 * What a handler of the same thread reads is atomic, and is stored before and
 * behind fences for the compiler: the thread and its handlers see each other's
 * stores in program order. So a signal comes either before the depth counts, and
 * its handler runs, with stretches of its own that are over when it returns; or
 * behind, and is kept.
 */
#include "base/quiet.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/system.h"

#define BIT ADSM_QUIET_BIT

static const uint64_t asynchronous = ADSM_QUIET_ASYNCHRONOUS;

static __thread struct {
    _Atomic uint32_t depth;    /* locks held, stretches, handlers entered    */
    _Atomic uint32_t waits;    /* waits in them                              */
    _Atomic uint64_t shut;     /* signals kept since the outermost one began */
    uint32_t handlers;         /* handlers entered                           */
    bool blocks;               /* the kernel blocks signals for the stretch  */
    uint64_t saved;            /* then: the thread's mask before             */
    struct adsm_cancel cancel; /* how it could be cancelled                  */
} quiet __attribute__((tls_model("initial-exec")));

static const struct adsm_quiet_keeper *_Atomic quiet_keeper;

/* Acquire: see what it has made ready. */
static const struct adsm_quiet_keeper *keeper(void)
{
    return atomic_load_explicit(&quiet_keeper, memory_order_acquire);
}

void adsm_quiet_set_keeper(const struct adsm_quiet_keeper *of_the_program)
{
    atomic_store_explicit(&quiet_keeper, of_the_program, memory_order_release);
}

static inline uint32_t depth_now(void)
{
    return atomic_load_explicit(&quiet.depth, memory_order_relaxed);
}

static inline uint64_t shut_now(void)
{
    return atomic_load_explicit(&quiet.shut, memory_order_relaxed);
}

/* What is done in the stretch stays in it. */
static inline void set_depth(uint32_t depth)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&quiet.depth, depth, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

/* What was kept is blocked by us, not by the program. */
static void block(void)
{
    uint64_t before = 0;
    if (quiet.blocks)
        return;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &asynchronous, &before,
            sizeof before);
    quiet.saved = before & ~shut_now();
    quiet.blocks = true;
}

/* The outermost stretch has ended. What the program has unblocked meanwhile,
 * where it forks, stays so. */
static __attribute__((noinline)) void open_again(void)
{
    block();
    if (shut_now() && keeper())
        keeper()->opens();
    uint64_t blocked = asynchronous & ~quiet.saved;
    quiet.blocks = false;
    atomic_store_explicit(&quiet.shut, 0, memory_order_relaxed);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &blocked, NULL, sizeof blocked);
}

static void begin(void)
{
    if (!keeper())
        block();
    /* A handler that comes up to here has a stretch of its own. */
    struct adsm_cancel cancel = adsm_cancel_hold();
    set_depth(1);
    quiet.cancel = cancel;
}

void adsm_quiet_enter(void)
{
    uint32_t depth = depth_now();
    if (depth == 0)
        begin();
    else
        set_depth(depth + 1);
}

void adsm_quiet_leave(void)
{
    /* A handler that comes with the end has a stretch of its own. */
    struct adsm_cancel cancel = quiet.cancel;
    uint32_t depth = depth_now() - 1;
    set_depth(depth);
    if (depth != 0)
        return;
    if (__builtin_expect(quiet.blocks || shut_now(), 0))
        open_again();
    adsm_cancel_release(cancel);
}

bool adsm_quiet_is_on(void)
{
    return depth_now() != 0;
}

void adsm_quiet_block(void)
{
    block();
}

uint64_t adsm_quiet_takes(void)
{
    uint64_t blocked = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    return asynchronous & ~blocked;
}

void adsm_quiet_enter_handler(void)
{
    quiet.handlers++;
    set_depth(depth_now() + 1);
}

void adsm_quiet_leave_handler(void)
{
    set_depth(depth_now() - 1);
    quiet.handlers--;
}

void adsm_quiet_interrupted(uint64_t blocked)
{
    if (!quiet.blocks && quiet.handlers == 0)
        quiet.saved = blocked & ~shut_now();
}

/* ---- waits ---------------------------------------------------------------- */

/* In what wait_begin returns: a wait that is counted. */
#define COUNTED BIT(64)

static const uint64_t ending =
    BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTERM) | BIT(SIGALRM);

/* Of the signals that end a program: those blocked for the stretch alone. */
static uint64_t held_back(void)
{
    if (depth_now() == 0)
        return 0;
    return ending &
           (quiet.blocks || quiet.handlers ? ~quiet.saved : shut_now());
}

static bool has_no_handler(int number)
{
    struct adsm_system_action action;
    return adsm_system_sigaction(number, NULL, &action) == 0 && !action.handler;
}

bool adsm_quiet_sleep_begin(void)
{
    if (depth_now() == 0)
        return false;
    atomic_fetch_add_explicit(&quiet.waits, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(shut_now() != 0, 0) && keeper())
        keeper()->waits();
    return true;
}

void adsm_quiet_sleep_end(bool began)
{
    if (began)
        atomic_fetch_sub_explicit(&quiet.waits, 1, memory_order_relaxed);
}

uint64_t adsm_quiet_wait_begin(void)
{
    uint64_t opened = 0, held = held_back();
    int saved_errno = errno;
    for (int number = 1; held >> (number - 1); number++)
        if (held & BIT(number) && has_no_handler(number))
            opened |= BIT(number);
    if (opened)
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &opened, NULL, sizeof opened);
    if (adsm_quiet_sleep_begin())
        opened |= COUNTED;
    errno = saved_errno;
    return opened;
}

void adsm_quiet_wait_end(uint64_t opened)
{
    uint64_t shut = opened & ~COUNTED;
    adsm_quiet_sleep_end(opened & COUNTED);
    if (shut)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &shut, NULL, sizeof shut);
}

/* ---- signals that are kept ------------------------------------------------ */

bool adsm_quiet_keeps(int number)
{
    /* Up to when they are opened others are kept as well: to a handler that ran
     * in between, and to who asks there for the mask, they would be blocked. */
    return asynchronous & BIT(number) && (depth_now() != 0 || shut_now() != 0);
}

void adsm_quiet_shut(int number)
{
    atomic_store_explicit(&quiet.shut, shut_now() | BIT(number),
                          memory_order_relaxed);
}

uint64_t adsm_quiet_is_shut(void)
{
    return shut_now();
}

bool adsm_quiet_waits(void)
{
    return atomic_load_explicit(&quiet.waits, memory_order_relaxed) != 0;
}

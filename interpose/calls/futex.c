/* Words that threads wait in; see futex.h. */
#include "interpose/calls/futex.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/numbers.h"
#include "interpose/calls/shape.h"
#include "interpose/libc/pieces.h"
#include "interpose/loader.h"
#include "base/status.h"
#include "mm/doors/kept.h"
#include "mm/state/direct.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#ifndef FUTEX_LOCK_PI2 /* Linux 5.14 */
#define FUTEX_LOCK_PI2 13
#endif

static long issue(long number, const uintptr_t *w)
{
    return hook_next_syscall(number, w[0], w[1], w[2], w[3], w[4], w[5]);
}

static long fail(int status)
{
    hook_failed("futex", status);
    errno = pieces_errno(status);
    return -1;
}

/* Where the kernel finds a word of the program's: at S, where it looks for the
 * threads that wait there, too. A word that the kernel itself changes stays
 * with the CPU; any other is current when the CPU could read it. */
static int place_word(uintptr_t *word, bool kernel_writes)
{
    const void *program = (const void *)*word;
    struct adsm_loan loan;
    void *kept;
    if (hook_likely(hook_is_plain(program, sizeof(uint32_t))))
        return ADSM_OK;
    hook_enter();
    /* Without an S the page has to stay open. Others than words are refused. */
    bool keeps = kernel_writes || (*word % sizeof(uint32_t) == 0 &&
                                   adsm_direct_bytes(program) > 0);
    int status =
        keeps ? adsm_keep(program, sizeof(uint32_t), &kept)
              : adsm_loan_begin(program, sizeof(uint32_t), ADSM_READ, &loan);
    if (status == ADSM_OK && !keeps)
        status = adsm_loan_end(&loan, 0);
    hook_leave();
    if (status == ADSM_OK)
        *word = (uintptr_t)(keeps ? kept : loan.address);
    return status;
}

/* A time limit, in memory that the kernel can read, if it is there. */
static void place_time(uintptr_t *word, struct timespec *time)
{
    const void *program = (const void *)*word;
    size_t got;
    if (!hook_is_plain(program, sizeof *time) &&
        call_get(time, program, sizeof *time, &got) == ADSM_OK &&
        got == sizeof *time)
        *word = (uintptr_t)time;
}

/* ---- futex ----------------------------------------------------------------- */

/* Is the fourth argument a time? Of the others it is a number. */
static bool has_time(int operation)
{
    switch (operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return true;
    default:
        return false;
    }
}

static bool changes_first(int operation)
{
    return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2 ||
           operation == FUTEX_TRYLOCK_PI || operation == FUTEX_UNLOCK_PI;
}

static bool changes_second(int operation)
{
    return operation == FUTEX_WAKE_OP || operation == FUTEX_CMP_REQUEUE_PI ||
           operation == FUTEX_WAIT_REQUEUE_PI;
}

static bool has_second(int operation)
{
    return changes_second(operation) || operation == FUTEX_REQUEUE ||
           operation == FUTEX_CMP_REQUEUE;
}

long futex_call(const uintptr_t *given)
{
    uintptr_t w[CALL_WORDS];
    struct timespec time;
    int operation = (int)given[1] & FUTEX_CMD_MASK;
    memcpy(w, given, sizeof w);
    int status = place_word(&w[0], changes_first(operation));
    if (status == ADSM_OK && has_second(operation))
        status = place_word(&w[4], changes_second(operation));
    if (status != ADSM_OK)
        return fail(status);
    if (has_time(operation))
        place_time(&w[3], &time);
    return issue(SYS_futex, w);
}

/* ---- the calls that came after it -------------------------------------------- */

/* As the kernel has it; its header is a recent one. */
struct waiter {
    uint64_t value, at;
    uint32_t flags, reserved;
};

enum { WAITERS_MOST = 128 }; /* more are refused by the kernel */

/* Many words at once: a list of them, of which one may name shared memory. What
 * cannot be read is left to the kernel, which says so. */
static long wait_for(long number, const uintptr_t *given, uintptr_t count)
{
    struct waiter list[WAITERS_MOST];
    struct timespec time;
    uintptr_t w[CALL_WORDS];
    size_t bytes = count * sizeof *list, done;
    memcpy(w, given, sizeof w);
    if (count == 0 || count > WAITERS_MOST)
        return issue(number, w);
    int status = call_get(list, (const void *)w[0], bytes, &done);
    if (status == ADSM_OK && done < bytes)
        return issue(number, w);
    for (uintptr_t i = 0; i < count && status == ADSM_OK; i++) {
        uintptr_t at = list[i].at;
        status = place_word(&at, false);
        list[i].at = at;
    }
    if (status != ADSM_OK)
        return fail(status);
    w[0] = (uintptr_t)list;
    if (number == SYS_futex_waitv)
        place_time(&w[3], &time);
    return issue(number, w);
}

long futex_waitv_call(const uintptr_t *words)
{
    return wait_for(SYS_futex_waitv, words, (unsigned)words[1]);
}

long futex_requeue_call(const uintptr_t *words)
{
    return wait_for(SYS_futex_requeue, words, 2);
}

long futex_wake_call(const uintptr_t *words)
{
    uintptr_t w[CALL_WORDS];
    memcpy(w, words, sizeof w);
    int status = place_word(&w[0], false);
    return status == ADSM_OK ? issue(SYS_futex_wake, w) : fail(status);
}

long futex_wait_call(const uintptr_t *words)
{
    uintptr_t w[CALL_WORDS];
    struct timespec time;
    memcpy(w, words, sizeof w);
    int status = place_word(&w[0], false);
    if (status != ADSM_OK)
        return fail(status);
    place_time(&w[4], &time);
    return issue(SYS_futex_wait, w);
}

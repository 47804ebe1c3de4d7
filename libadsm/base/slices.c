/* Long waits in slices; see slices.h. */
#include "base/slices.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/system.h"

/* Most waits are short, and a sleep takes a timer and two changes of context:
 * at first only others who want the processor come in between. Then a sleep is
 * as long as a part of the wait so far, and no longer than anybody minds. */
enum { NO_SLEEP_NS = 50000, PART = 8, SLEEP_MOST_NS = 200000 };

/* Signals looked at between two questions. */
enum { LOOKS = 4 };

/* NULL: nobody knows. */
static const _Atomic uint64_t *_Atomic known;

void adsm_slices_know(const _Atomic uint64_t *handled)
{
    atomic_store(&known, handled);
}

bool adsm_slices_begin(void)
{
    const _Atomic uint64_t *handled = atomic_load(&known);
    return !adsm_quiet_is_on() && (!handled || atomic_load(handled) != 0);
}

static bool has_handler(int number)
{
    struct adsm_system_action action;
    return adsm_system_sigaction(number, NULL, &action) == 0 &&
           adsm_system_has_handler(&action);
}

/* Look at some more. Return: whether there is more to find out */
static bool look(struct adsm_slices *slices)
{
    if (slices->looked == 0)
        slices->open = adsm_quiet_takes();
    uint64_t open = slices->open;
    const _Atomic uint64_t *handled = atomic_load(&known);
    if (handled) {
        slices->minds = (atomic_load(handled) & open) != 0;
        slices->looked = NSIG - 1;
    }
    for (int i = 0; i < LOOKS && slices->looked < NSIG - 1; i++) {
        int number = ++slices->looked;
        slices->minds |= open >> (number - 1) & 1 && has_handler(number);
    }
    return slices->minds || slices->looked < NSIG - 1;
}

static void pass(const struct adsm_slices *slices)
{
    uint64_t so_far = adsm_now_ns() - slices->began_ns;
    uint64_t ns = so_far / PART;
    if (so_far < NO_SLEEP_NS) {
        sched_yield();
        return;
    }
    if (ns > SLEEP_MOST_NS)
        ns = SLEEP_MOST_NS;
    /* Not by libc: its function is a place where a thread is cancelled. */
    const struct timespec sleep = {0, (long)ns};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &sleep, NULL);
}

bool adsm_slices_next(struct adsm_slices *slices)
{
    int saved_errno = errno;
    bool again = !adsm_quiet_is_on();
    if (again && slices->looked == 0)
        slices->began_ns = adsm_now_ns();
    if (again && slices->minds)
        pass(slices);
    else if (again)
        again = look(slices);
    errno = saved_errno;
    return again;
}

/*
 * A timer of 10 kHz whose handler touches shared memory, while the thread that it
 * interrupts works for the runtime. A case that hangs is ended by Check's timeout.
 */
#ifndef TESTS_COMMON_STORM_H
#define TESTS_COMMON_STORM_H

#include <check.h>
#include <signal.h>
#include <time.h>

static inline long storm_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/** `work` again and again under the storm, for more than half a second.
 *  Return: how often. */
static inline long storm(void (*work)(void), void (*on_timer)(int))
{
    enum { PERIOD_NS = 100000, STORM_MS = 600 };
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct sigevent told = {.sigev_notify = SIGEV_SIGNAL,
                            .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}}, none = {0};
    timer_t timer;
    long rounds = 0;
    sigaction(SIGUSR1, &action, NULL);
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &told, &timer), 0);
    timer_settime(timer, 0, &period, NULL);
    for (long end = storm_now_ms() + STORM_MS; storm_now_ms() < end; rounds++)
        work();
    timer_settime(timer, 0, &none, NULL);
    return rounds;
}

#endif

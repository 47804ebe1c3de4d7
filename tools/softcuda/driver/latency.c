/*
 * Owns: the latencies of launches and of waits for them (SOFTCUDA_LATENCY).
 * Does not own: those of copies (link.c), the pace of kernels (the device).
 * No lock: a thread waits for launches of its own, by and large.
 */
#include "driver/latency.h"

#include <errno.h>
#include <time.h>

#include "base/futex.h"
#include "driver/driver.h"

/* The program's threads wake up some 50 us late. */
#define SLEEP_NS 30000u

static _Thread_local uint64_t launched_ns; /* when the last launch began */

void sc_latency_until(uint64_t end)
{
    uint64_t now = sc_now_ns();
    while (now < end && end - now < SLEEP_NS) {
        sc_relax();
        now = sc_now_ns();
    }
    if (end <= now)
        return;
    struct timespec until = {(time_t)(end / 1000000000u),
                             (long)(end % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        continue;
}

uint64_t sc_latency_begin(void)
{
    const struct sc_latency *latency = &sc_options.latency;
    return latency->launch_ns || latency->wait_ns ? sc_now_ns() : 0;
}

void sc_latency_launched(uint64_t begin_ns)
{
    if (begin_ns == 0)
        return;
    launched_ns = begin_ns;
    sc_latency_until(begin_ns + sc_options.latency.launch_ns);
}

void sc_latency_waited(void)
{
    if (sc_options.latency.wait_ns)
        sc_latency_until(launched_ns + sc_options.latency.wait_ns);
}

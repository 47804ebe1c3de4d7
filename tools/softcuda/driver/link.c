/*
 * Owns: the throttle (SOFTCUDA_LINK) and the byte counters.
 * Does not own: the copies.  Lock: link->lock, a leaf.
 */
#include "driver/link.h"

#include <errno.h>
#include <time.h>

#include "device/futex.h"

/* A late sleeper may catch up this much, so that the rate holds over a
 * series of chunks in spite of the timer's slack. */
#define CREDIT_NS 2000000u

void sc_link_init(struct sc_link *link, uint64_t bytes_per_second)
{
    pthread_mutex_init(&link->lock, NULL);
    link->bytes_per_second = bytes_per_second;
    link->free_ns = 0;
    atomic_init(&link->bytes, 0);
}

uint64_t sc_link_chunk(const struct sc_link *link)
{
    if (link->bytes_per_second == 0)
        return 4u << 20;
    /* about a quarter of a millisecond on the wire */
    uint64_t chunk = link->bytes_per_second / 4000;
    return chunk < 4096 ? 4096 : chunk > (4u << 20) ? 4u << 20 : chunk;
}

void sc_link_pass(struct sc_link *link, uint64_t bytes)
{
    atomic_fetch_add_explicit(&link->bytes, bytes, memory_order_relaxed);
    if (link->bytes_per_second == 0)
        return;
    uint64_t now = sc_now_ns();
    uint64_t wire =
        (uint64_t)((double)bytes * 1e9 / (double)link->bytes_per_second);
    pthread_mutex_lock(&link->lock);
    uint64_t begin = link->free_ns;
    if (begin + CREDIT_NS < now)
        begin = now;
    uint64_t end = begin + wire;
    link->free_ns = end;
    pthread_mutex_unlock(&link->lock);
    if (end <= now)
        return;
    struct timespec until = {(time_t)(end / 1000000000u),
                             (long)(end % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
           EINTR)
        continue;
}

/*
 * Owns: the throttle (SOFTCUDA_LINK) and the byte counters.
 * Does not own: the copies.  Lock: link->lock, a leaf.
 */
#include "driver/link.h"

#include <errno.h>
#include <time.h>

#include "base/futex.h"

/* The program's threads wake up some 50 us late. */
#define SLEEP_NS 30000u

void sc_link_init(struct sc_link *link, uint64_t bytes_per_second)
{
    pthread_mutex_init(&link->lock, NULL);
    link->bytes_per_second = bytes_per_second;
    link->free_ns = 0;
    link->users = 0;
    atomic_init(&link->none, 0);
    link->bytes = &link->none;
}

uint64_t sc_link_chunk(const struct sc_link *link)
{
    if (link->bytes_per_second == 0)
        return 4u << 20;
    /* about half a millisecond on the wire */
    uint64_t chunk = link->bytes_per_second / 2000;
    return chunk < 4096 ? 4096 : chunk > (4u << 20) ? 4u << 20 : chunk;
}

uint64_t sc_link_wire_ns(const struct sc_link *link, uint64_t bytes)
{
    return link && link->bytes_per_second
               ? (uint64_t)((double)bytes * 1e9 /
                            (double)link->bytes_per_second)
               : 0;
}

void sc_link_open(struct sc_link *link)
{
    if (!link || link->bytes_per_second == 0)
        return;
    pthread_mutex_lock(&link->lock);
    uint64_t now = sc_now_ns();
    /* Idle time is lost, but while copies are under way a chunk that was
     * late lets the next one catch up, so the rate holds on a busy machine. */
    if (link->users++ == 0 && link->free_ns < now)
        link->free_ns = now;
    pthread_mutex_unlock(&link->lock);
}

void sc_link_close(struct sc_link *link)
{
    if (!link || link->bytes_per_second == 0)
        return;
    pthread_mutex_lock(&link->lock);
    link->users--;
    pthread_mutex_unlock(&link->lock);
}

void sc_link_pass(struct sc_link *link, uint64_t bytes)
{
    atomic_fetch_add_explicit(link->bytes, bytes, memory_order_relaxed);
    if (link->bytes_per_second == 0)
        return;
    uint64_t wire = sc_link_wire_ns(link, bytes);
    pthread_mutex_lock(&link->lock);
    uint64_t end = link->free_ns += wire;
    pthread_mutex_unlock(&link->lock);
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

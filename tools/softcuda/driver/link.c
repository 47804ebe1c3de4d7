/*
 * Owns: the throttle (SOFTCUDA_LINK, SOFTCUDA_LATENCY) and the byte counters.
 * Does not own: the copies.  Lock: link->lock, a leaf.
 */
#include "driver/link.h"

#include <stdbool.h>

#include "base/futex.h"
#include "driver/latency.h"

void sc_link_init(struct sc_link *link, uint64_t bytes_per_second,
                  uint64_t latency_ns)
{
    pthread_mutex_init(&link->lock, NULL);
    link->bytes_per_second = bytes_per_second;
    link->latency_ns = latency_ns;
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

static bool takes_time(const struct sc_link *link)
{
    return link && (link->bytes_per_second || link->latency_ns);
}

void sc_link_open(struct sc_link *link)
{
    if (!takes_time(link))
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
    if (!takes_time(link))
        return;
    pthread_mutex_lock(&link->lock);
    link->users--;
    uint64_t end = link->free_ns += link->latency_ns;
    pthread_mutex_unlock(&link->lock);
    if (link->latency_ns)
        sc_latency_until(end);
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
    sc_latency_until(end);
}

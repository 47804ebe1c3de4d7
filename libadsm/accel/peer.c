/*
 * Which devices' kernels may use the memory of an accel, and which may copy
 * from each other; see peer.h.
 *
 * An allocation of the driver follows the program's own call; memory that was
 * mapped to reserved addresses does not, so it is opened run by run, and
 * what is mapped later is opened as it is mapped.
 */
#include "accel/peer.h"

#include "accel/address/way.h"
#include "accel/device.h"

/* Somebody is a guest of somebody: else a look costs this load. */
static _Atomic bool any;

/* How many granules from `first` on are as it is: mapped, or away. */
static size_t alike(const struct adsm_window *window, size_t first,
                    size_t count)
{
    bool away = atomic_load(&window->away[first]);
    size_t n = 1;
    while (n < count && atomic_load(&window->away[first + n]) == away)
        n++;
    return n;
}

/* Runs of granules in use, as long as possible: no mapping is cut. What is away
 * is opened when it comes. */
static int open_window(struct adsm_accel *host, struct adsm_window *window,
                       int ordinal, bool enable)
{
    int status = ADSM_OK;
    size_t granule = host->address->granule_bytes;
    size_t count, first = 0;
    while ((first = adsm_granules_used(&window->granules, first, &count)) !=
           SIZE_MAX) {
        count = alike(window, first, count);
        int one = ADSM_OK;
        if (!atomic_load(&window->away[first]))
            one = host->ops->range_open(
                host, adsm_daddr_add(window->at, first * granule),
                count * granule, ordinal, enable);
        status = status == ADSM_OK ? one : status;
        first += count;
    }
    return status;
}

int adsm_peer_open(struct adsm_accel *host, struct adsm_accel *guest,
                   bool enable)
{
    struct adsm_address *address = host->address;
    adsm_device_set bit = adsm_device_bit(guest->ordinal);
    if (enable)
        atomic_fetch_or(&host->guests, bit);
    else
        atomic_fetch_and(&host->guests, ~bit);
    atomic_store(&any, true);
    int status = ADSM_OK;
    uint32_t n = atomic_load_explicit(&address->windows, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        int one =
            open_window(host, &address->window[i], guest->ordinal, enable);
        status = status == ADSM_OK ? one : status;
    }
    return status;
}

struct adsm_accel *adsm_peer_next_host(const struct adsm_accel *guest,
                                       struct adsm_accel *last)
{
    if (!atomic_load_explicit(&any, memory_order_relaxed))
        return NULL;
    struct adsm_accel *host = last ? last->next : adsm_accel_first();
    while (host &&
           (host == guest || !host->context ||
            !(atomic_load(&host->guests) & adsm_device_bit(guest->ordinal))))
        host = host->next;
    return host;
}

/* ---- copies ---------------------------------------------------------------- */

static _Atomic bool forbidden;

void adsm_peer_forbid(bool forbid)
{
    atomic_store_explicit(&forbidden, forbid, memory_order_relaxed);
}

bool adsm_peer_can(struct adsm_accel *to, struct adsm_accel *from)
{
    adsm_device_set bit = adsm_device_bit(from->ordinal);
    bool can = false;
    if (atomic_load_explicit(&forbidden, memory_order_relaxed))
        return to == from;
    if (to->ordinal == from->ordinal)
        return true;
    if (to->ops != from->ops)
        return false;
    /* Acquire: who sees that it was asked sees the answer. */
    if (atomic_load_explicit(&to->peers_asked, memory_order_acquire) & bit)
        return atomic_load_explicit(&to->peers, memory_order_relaxed) & bit;
    if (to->ops->peer_can(to->ordinal, from->ordinal, &can) != ADSM_OK)
        return false;
    if (can)
        atomic_fetch_or_explicit(&to->peers, bit, memory_order_relaxed);
    atomic_fetch_or_explicit(&to->peers_asked, bit, memory_order_release);
    return can;
}

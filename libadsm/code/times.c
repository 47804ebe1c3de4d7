/* Medians and shares; see code/times.h. */
#include "code/times.h"

#include <string.h>

void adsm_times_init(struct adsm_times *times)
{
    memset(times, 0, sizeof *times);
    adsm_lock_init(&times->lock, ADSM_RANK_POOL);
}

void adsm_times_add(struct adsm_times *times, int device, double indices,
                    double ns)
{
    if (indices <= 0 || ns <= 0)
        return;
    adsm_lock_acquire(&times->lock);
    uint32_t at = times->count[device]++ % ADSM_TIMES_KEPT;
    times->ns[device][at] = ns / indices;
    adsm_lock_release(&times->lock);
}

/* Of the times kept; the lower middle of an even number. */
static double median(const double *times, uint32_t count)
{
    double sorted[ADSM_TIMES_KEPT];
    uint32_t n = count < ADSM_TIMES_KEPT ? count : ADSM_TIMES_KEPT;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > times[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = times[i];
    }
    return sorted[(n - 1) / 2];
}

double adsm_times_ns(struct adsm_times *times, int device)
{
    adsm_lock_acquire(&times->lock);
    double ns = times->count[device] < ADSM_TIMES_KNOWN
                    ? 0
                    : median(times->ns[device], times->count[device]);
    adsm_lock_release(&times->lock);
    return ns;
}

/* How much longer a call takes by these shares than by the best ones. */
static double longer(const double *share, const double *ns, int count,
                     double rate)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        if (share[i] * ns[i] > most)
            most = share[i] * ns[i];
    return most * rate;
}

bool adsm_times_shares(struct adsm_times *times, const int *devices,
                       const double *link_ns, int count, double *share)
{
    double ns[ADSM_TIMES_DEVICES], rate = 0;
    uint64_t mask = 0;
    bool known = true, full = true;
    adsm_lock_acquire(&times->lock);
    for (int i = 0; i < count; i++) {
        int device = devices[i];
        mask |= UINT64_C(1) << device;
        full = full && times->count[device] >= ADSM_TIMES_KEPT;
        known = known && times->count[device] >= ADSM_TIMES_KNOWN;
        if (known) {
            ns[i] =
                median(times->ns[device], times->count[device]) + link_ns[i];
            rate += 1 / ns[i];
        }
    }
    bool same = times->devices == mask;
    for (int i = 0; i < count; i++)
        share[i] = same ? times->share[devices[i]] : 1.0 / count;
    if (known && longer(share, ns, count, rate) > 1.05)
        for (int i = 0; i < count; i++)
            share[i] = 1 / ns[i] / rate;
    times->devices = mask;
    for (int i = 0; i < count; i++)
        times->share[devices[i]] = share[i];
    adsm_lock_release(&times->lock);
    return full;
}

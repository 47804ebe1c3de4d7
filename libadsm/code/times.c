/* Medians and shares; see code/times.h. */
#include "code/times.h"

#include <math.h>
#include <string.h>

void adsm_times_init(struct adsm_times *times)
{
    memset(times, 0, sizeof *times);
    adsm_lock_init(&times->lock, ADSM_RANK_POOL);
}

/* ---- one device ----------------------------------------------------------- */

/* The lower middle of an even number. */
static double median(const double *values, uint32_t count)
{
    double sorted[ADSM_TIMES_KEPT];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return sorted[(count - 1) / 2];
}

static void use(struct adsm_times_device *of, double ns)
{
    double away[ADSM_TIMES_KEPT];
    of->ns[of->next] = ns;
    of->next = (of->next + 1) % ADSM_TIMES_KEPT;
    if (of->kept < ADSM_TIMES_KEPT)
        of->kept++;
    of->median = median(of->ns, of->kept);
    for (uint32_t i = 0; i < of->kept; i++)
        away[i] = fabs(of->ns[i] - of->median);
    of->beyond = ADSM_TIMES_BEYOND * median(away, of->kept);
    if (of->beyond < of->median / 10)
        of->beyond = of->median / 10;
}

static bool is_known(const struct adsm_times_device *of)
{
    return of->kept >= ADSM_TIMES_KNOWN;
}

/* Return: not to be used now */
static bool is_spike(struct adsm_times_device *of, double ns)
{
    if (!is_known(of) || fabs(ns - of->median) <= of->beyond) {
        of->row = 0;
        return false;
    }
    of->spikes++;
    of->spike[of->row++] = ns;
    return true;
}

/* What is known by now is what the last ones say. */
static void replace(struct adsm_times_device *of)
{
    of->kept = of->next = of->row = 0;
    for (int i = 0; i < ADSM_TIMES_ROW; i++)
        use(of, of->spike[i]);
}

static void add(struct adsm_times_device *of, double ns)
{
    of->count++;
    if (!is_spike(of, ns))
        use(of, ns);
    else if (of->row == ADSM_TIMES_ROW)
        replace(of);
}

void adsm_times_add(struct adsm_times *times, int device, double indices,
                    double ns)
{
    if (indices <= 0 || ns <= 0)
        return;
    adsm_lock_acquire(&times->lock);
    add(&times->of[device], ns / indices);
    adsm_lock_release(&times->lock);
}

void adsm_times_set(struct adsm_times *times, int device, const double *ns,
                    int count, uint32_t spikes)
{
    struct adsm_times_device *of = &times->of[device];
    adsm_lock_acquire(&times->lock);
    if (of->kept == 0) {
        of->spikes += spikes;
        for (int i = 0; i < count; i++)
            use(of, ns[i]);
    }
    adsm_lock_release(&times->lock);
}

bool adsm_times_get(struct adsm_times *times, int device,
                    struct adsm_times_device *of)
{
    if (!adsm_lock_try(&times->lock))
        return false;
    *of = times->of[device];
    adsm_lock_release(&times->lock);
    return true;
}

bool adsm_times_knows(struct adsm_times *times, const int *devices, int count)
{
    bool all = true;
    adsm_lock_acquire(&times->lock);
    for (int i = 0; i < count; i++)
        all = all && is_known(&times->of[devices[i]]);
    adsm_lock_release(&times->lock);
    return all;
}

double adsm_times_ns(struct adsm_times *times, int device)
{
    const struct adsm_times_device *of = &times->of[device];
    adsm_lock_acquire(&times->lock);
    double ns = is_known(of) ? of->median : 0;
    adsm_lock_release(&times->lock);
    return ns;
}

/* ---- shares --------------------------------------------------------------- */

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
        const struct adsm_times_device *of = &times->of[devices[i]];
        mask |= UINT64_C(1) << devices[i];
        full = full && of->count >= ADSM_TIMES_KEPT;
        known = known && is_known(of);
        if (known) {
            ns[i] = of->median + link_ns[i];
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

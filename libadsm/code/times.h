/*
 * How long the parts of a kernel took on each device, and the shares of a next
 * call that follow from it.
 *
 * Pure arithmetic: where times come from is code/speed.h, what is done with shares
 * call/split.h. Lock: times->lock, rank POOL, taken here. Thread: any. Signal: never
 */
#ifndef ADSM_CODE_TIMES_H
#define ADSM_CODE_TIMES_H

#include "base/lock.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ADSM_TIMES_DEVICES = 64,
    ADSM_TIMES_KEPT = 5,  /* a device's last calls that count */
    ADSM_TIMES_KNOWN = 3, /* calls from which on a speed is known */
};

/** Of one kernel; all 0 at first. */
struct adsm_times {
    struct adsm_lock lock;
    uint32_t count[ADSM_TIMES_DEVICES];             /* ever measured */
    double ns[ADSM_TIMES_DEVICES][ADSM_TIMES_KEPT]; /* per index */
    uint64_t devices; /* that the shares are of, a bit each */
    double share[ADSM_TIMES_DEVICES];
};

void adsm_times_init(struct adsm_times *times);

/** A part of `indices` took `ns` on a device. */
void adsm_times_add(struct adsm_times *times, int device, double indices,
                    double ns);

/** The median of a device's last calls, in ns per index; 0 where too few were
 *  measured. */
double adsm_times_ns(struct adsm_times *times, int device);

/**
 * Shares of some devices of the next call: equal ones until each was measured
 * so often that one call which took longer, as the first does where code is
 * still built, is not believed; then by the median of its last calls, but those
 * of the call before where others would gain at most 5%, for what moves with a
 * boundary costs, too.
 *
 * @devices  their numbers, below ADSM_TIMES_DEVICES
 * @link_ns  of each, what comes to its time per index besides
 * Return: whether each has as many calls that count as can be kept
 */
bool adsm_times_shares(struct adsm_times *times, const int *devices,
                       const double *link_ns, int count, double *share);

#endif

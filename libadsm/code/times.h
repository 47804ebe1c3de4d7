/*
 * How long the parts of a kernel took on each device, and the shares of a next
 * call that follow from it.
 *
 * What is known of a device is the median of its last times. One that is further
 * from it than ADSM_TIMES_BEYOND of their median deviations is a spike: it is
 * counted, and says nothing yet, for somebody else may have had the device. As
 * many as ADSM_TIMES_ROW in a row say that the device is another one by now: they
 * replace what was known. Times that hardly differ deviate by next to nothing, so
 * what is within 10% is never a spike.
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
    ADSM_TIMES_KEPT = 16,  /* a device's last calls that count */
    ADSM_TIMES_KNOWN = 3,  /* calls from which on a speed is known */
    ADSM_TIMES_ROW = 3,    /* spikes that are believed */
    ADSM_TIMES_BEYOND = 4, /* median deviations that make one */
};

/** Of one device, in ns per index. */
struct adsm_times_device {
    uint32_t count;  /* measured by this process, spikes included */
    uint32_t spikes; /* ever */
    uint32_t row;    /* of these the last, without another time between */
    uint32_t kept;   /* how many of `ns` there are */
    uint32_t next;   /* the place of the next one */
    double ns[ADSM_TIMES_KEPT];
    double spike[ADSM_TIMES_ROW];
    double median, beyond; /* of `ns`; how far away a spike is, at least */
};

/** Of one kernel; all 0 at first. */
struct adsm_times {
    struct adsm_lock lock;
    struct adsm_times_device of[ADSM_TIMES_DEVICES];
    uint64_t devices; /* that the shares are of, a bit each */
    double share[ADSM_TIMES_DEVICES];
};

void adsm_times_init(struct adsm_times *times);

/** A part of `indices` took `ns` on a device. */
void adsm_times_add(struct adsm_times *times, int device, double indices,
                    double ns);

/** Times of a device that were measured before, oldest first: they count where
 *  nothing is known of it yet. @count  1 to ADSM_TIMES_KEPT */
void adsm_times_set(struct adsm_times *times, int device, const double *ns,
                    int count, uint32_t spikes);

/** All that is known of a device. Return: false: another thread has the lock,
 *  or this one, which ends the process in a handler */
bool adsm_times_get(struct adsm_times *times, int device,
                    struct adsm_times_device *of);

/** Is the speed of each of these devices known? */
bool adsm_times_knows(struct adsm_times *times, const int *devices, int count);

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
 * Return: whether each was measured as often as times are kept
 */
bool adsm_times_shares(struct adsm_times *times, const int *devices,
                       const double *link_ns, int count, double *share);

#endif

/*
 * What copies between the host and a device cost: a byte, and a copy.
 *
 * Measured once for each accel, when somebody first asks, by copies of page-
 * locked memory in a stream that waits for nothing, which takes some ten
 * milliseconds. They are nobody's bytes, and counted apart: bytes_tried_up,
 * bytes_tried_down.
 */
#ifndef ADSM_ACCEL_RATE_H
#define ADSM_ACCEL_RATE_H

#include "accel/types.h"

#include <stdatomic.h>

/** A direction. */
struct adsm_rate {
    double byte_ns; /* nanoseconds for a byte      */
    double copy_ns; /* and for a copy besides      */
};

enum { ADSM_RATE_ASK, ADSM_RATE_BUSY, ADSM_RATE_KNOWN, ADSM_RATE_NEVER };

struct adsm_rates {
    _Atomic int state; /* ADSM_RATE_ASK */
    struct adsm_rate up, down;
};

/**
 * The rates of an accel.
 *
 * Return: false: they are not known, because another thread measures them just
 *         now, or the driver tells no times, or there was no memory
 * Thread: any
 * Signal: never
 */
bool adsm_rates_get(struct adsm_accel *accel, struct adsm_rate *up,
                    struct adsm_rate *down);

#endif

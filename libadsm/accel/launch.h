/*
 * A launch, as a device is given it: by adsmLaunch, by a part of a call, and by a
 * program that is preloaded.
 *
 * A description, which lies where it is made until the launch is enqueued.
 */
#ifndef ADSM_ACCEL_LAUNCH_H
#define ADSM_ACCEL_LAUNCH_H

#include "accel/types.h"

struct adsm_launch {
    void *kernel;               /* the driver's handle on the device        */
    unsigned grid[3], block[3]; /* blocks, and threads of each: x, y, z     */
    unsigned shared_bytes;      /* of each block, beside what it declares   */
    adsm_stream stream;
    void **values; /* [i] points at the value of parameter i                */
    void **packed; /* NULL; all values in one piece, as the driver has that */
};

/** Enqueue it. Return: ADSM_OK; ADSM_E_INVALID; the device's refusal.
 *  Thread: any. Signal: never */
int adsm_accel_launch(struct adsm_accel *accel,
                      const struct adsm_launch *launch) ADSM_MUST_CHECK;

#endif

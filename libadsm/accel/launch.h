/*
 * A launch, as a device is given it: by adsmLaunch, by a part of a call, and by a
 * program that is preloaded.
 *
 * A description, which lies where it is made until the launch is enqueued. In a
 * kernel's place may stand an act: a function that enqueues work of its own, a
 * fill or a copy, and gets what a kernel would. To all who order launches it is
 * one.
 */
#ifndef ADSM_ACCEL_LAUNCH_H
#define ADSM_ACCEL_LAUNCH_H

#include "accel/types.h"
#include "adsm.h"

struct adsm_launch;

struct adsm_act {
    const char *name; /* for messages */
    /** Enqueue it on the launch's stream. Return: as adsm_accel_launch. Thread:
     *  the launch's. Signal: never */
    int (*enqueue)(const struct adsm_act *act, struct adsm_accel *accel,
                   const struct adsm_launch *launch);
};

struct adsm_launch {
    void *kernel;               /* the driver's handle on the device        */
    unsigned grid[3], block[3]; /* blocks, and threads of each: x, y, z     */
    unsigned shared_bytes;      /* of each block, beside what it declares   */
    adsm_stream stream;
    void **values; /* [i] points at the value of parameter i                */
    void **packed; /* NULL; all values in one piece, as the driver has that */
    const struct adsm_act *act; /* in the kernel's place; NULL: the kernel */
    /* For an act: what the values are. The first `bounds` are those of a part's
     * box, int64_t each; behind them come those of the arguments. */
    int bounds, count;
    const adsmArg *args;
};

/** Enqueue it. Return: ADSM_OK; ADSM_E_INVALID; the device's refusal.
 *  Thread: any. Signal: never */
int adsm_accel_launch(struct adsm_accel *accel,
                      const struct adsm_launch *launch) ADSM_MUST_CHECK;

#endif

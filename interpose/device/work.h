/*
 * Work of the program that reads and writes ranges on the device.
 *
 * First device_enter_read, then device_enter_write (or the forms for rows) make the device's
 * copy current and order it before the work; then the driver's call; then
 * device_done. Nothing else may come after a device_enter_write that succeeded: it
 * keeps the CPU off the object. Ranges that are not shared cost a look-up.
 *
 * From the first shared range to device_done, or to a failure, is one quiet
 * stretch. One that is abroad does not begin it: what is waited for there may
 * last, and a handler of the program may be what ends it.
 */
#ifndef INTERPOSE_DEVICE_WORK_H
#define INTERPOSE_DEVICE_WORK_H

#include "interpose/device/driver.h"
#include "mm/doors/boundary.h"

struct device_work {
    struct device_order order;
    struct adsm_accel *accel; /* of the last shared range; NULL: none yet   */
    bool abroad;              /* that accel is not the current context's    */
    bool foreign;             /* one of the ranges was abroad               */
    const void *host;         /* the side that is the host's; NULL: none    */
    bool is_set;              /* moves no bytes                             */
    bool quiet;               /* the stretch has begun                      */
    bool brought;             /* what may be away has been seen to          */
    size_t read_bytes;        /* of shared memory, for the counters         */
    size_t written_bytes;
    uint64_t start; /* of its span; base/trace.h                  */
    struct adsm_object *pinned[2]; /* they stay resident to the end */
    struct adsm_device_write write;
};

/** Objects of both sides (0: none) get device memory, at the same time and to
 *  the end of the work. Comes before the two below where they both follow; for
 *  one alone they do it themselves. */
int device_bring(struct device_work *work, uint64_t one, uint64_t other);

/** Return: ADSM_E_NOT_SHARED for a range that goes out of its object */
int device_enter_read(struct device_work *work, uint64_t address, size_t bytes);
int device_enter_write(struct device_work *work, uint64_t address,
                       size_t bytes);

/** `count` rows (`layers` times) of `bytes`, `pitch` (`layer_pitch`) apart. */
struct device_rows {
    uint64_t first;
    size_t bytes, pitch, count, layer_pitch, layers;
};
int device_enter_read_rows(struct device_work *work,
                           const struct device_rows *rows);
int device_enter_write_rows(struct device_work *work,
                            const struct device_rows *rows);

/** The work was handed to the driver, which took it or not. Return: what
 *  happened behind that */
int device_done(struct device_work *work, bool taken);

#endif

/*
 * Measurements of how fast devices are with a kernel.
 *
 * Owns, for each kernel, the times of its parts and one timer for each device
 * that has not been read yet: a part launched while its device still has one is
 * not measured. What shares the times give is code/times.h. Times are apart by the
 * call's footprint, how many indices it has to a factor of four: what fits into a
 * cache is faster. Where nothing is known of one, the nearest that is counts.
 *
 * What other processes have measured is read (code/remember.h) before the first
 * shares.
 *
 * What counts is the kernel, and besides what the bytes that the kernel's last
 * call brought to the device took on its link: their number by the time of a byte
 * (accel/rate.h). When they were sent does not matter, nor what they waited for.
 * Left out are those that the CPU fetches later: it does so one device after the
 * other. Parts of less than 100 us do not count: their calls have equal shares.
 *
 * A timer costs the thread that makes a call some microseconds. So all calls are
 * measured at first, and one in ADSM_SPEED_EVERY once the times kept are full: a
 * change of speed is followed some fifty calls later.
 *
 * Who uses a speed holds its kernel. Measuring fails no call, and waits for
 * nothing but the rates of a link, once. Thread: any. Signal: never
 */
#ifndef ADSM_CODE_SPEED_H
#define ADSM_CODE_SPEED_H

#include "accel/timer.h"
#include "code/model.h"
#include "code/times.h"

#include <stdatomic.h>

enum { ADSM_SPEED_EVERY = 16 };

/** What other processes have measured: to be read, being read by a thread, there
 *  as far as there is any. */
enum adsm_speed_model {
    ADSM_SPEED_ASK,
    ADSM_SPEED_BUSY,
    ADSM_SPEED_READ,
};

/** Of calls of one footprint. */
struct adsm_speed_calls {
    struct adsm_times times;
    _Atomic uint32_t count; /* since it was full */
    _Atomic bool full;      /* of the devices of the last call */
    _Atomic bool tasks;     /* of parts that are placed one by one: short ones
                               count, too */
};

struct adsm_speed {
    uint64_t key; /* of the kernel; 0: it has none */
    char name[ADSM_MODEL_NAME];
    _Atomic int model;      /* enum adsm_speed_model */
    _Atomic uint64_t saved; /* how much was measured when it was written */
    /* By footprint; NULL: no such call was made. They stay. */
    _Atomic(struct adsm_speed_calls *) calls[ADSM_MODEL_FOOTPRINTS];
    /* By device: ended, to be taken; NULL: none. Who swaps it out has it. */
    _Atomic(struct adsm_timer *) pending[ADSM_TIMES_DEVICES];
    /* By device: bytes from elsewhere that its last part got, per index. */
    _Atomic double brought[ADSM_TIMES_DEVICES];
};

/** @key  of the kernel, 0: nobody would know it again */
void adsm_speed_init(struct adsm_speed *speed, uint64_t key, const char *name);

/** Give up what is not read yet. Thread: the last who has the kernel. */
void adsm_speed_idle(struct adsm_speed *speed);

/** The same, and what is known. */
void adsm_speed_fini(struct adsm_speed *speed);

/** Times of calls of that footprint. NULL: no memory */
struct adsm_speed_calls *adsm_speed_calls(struct adsm_speed *speed,
                                          int footprint);

/**
 * Shares of the next call, by what has ended by now.
 *
 * @numbers  of the devices; @accels  theirs, opened
 * @indices  of the call
 * Return: what its parts are measured for; NULL: they are not
 */
struct adsm_speed_calls *adsm_speed_shares(struct adsm_speed *speed,
                                           const int *numbers,
                                           struct adsm_accel *const *accels,
                                           int count, double indices,
                                           double *share);

/** The same of one part, which is placed by itself: once it is known to be short
 *  one in ADSM_SPEED_EVERY is measured. */
struct adsm_speed_calls *adsm_speed_look(struct adsm_speed *speed, int device,
                                         struct adsm_accel *accel,
                                         double indices);

/** What has ended on a device is known from now on. */
void adsm_speed_read(struct adsm_speed *speed, int device,
                     struct adsm_accel *accel);

/** What is known of an index of a call of so many on a device, in ns; 0: nothing
 *  is */
double adsm_speed_ns(struct adsm_speed *speed, int device, double indices);

/** So many bytes came to a device from elsewhere for parts of `indices`. */
void adsm_speed_came(struct adsm_speed *speed, int device, double indices,
                     size_t bytes);

/** How many are to be expected, per index: as many as last time. */
double adsm_speed_brought(const struct adsm_speed *speed, int device);

/** Before a part of so many indices is launched on a device. @calls  NULL: it is
 *  not measured. NULL: the same */
struct adsm_timer *adsm_speed_begin(struct adsm_speed *speed,
                                    struct adsm_speed_calls *calls, int device,
                                    struct adsm_accel *accel,
                                    adsm_stream stream, double indices);

/** Behind it; `timer` may be NULL. A part that was refused measures nothing. */
void adsm_speed_end(struct adsm_speed *speed, int device,
                    struct adsm_timer *timer, adsm_stream stream,
                    bool launched);

#endif

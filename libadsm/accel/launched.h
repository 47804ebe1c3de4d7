/*
 * Which kernels a device was given last, so that of one that fails it can be
 * said which it was: drivers tell with some later call, and name none.
 *
 * Owns a ring of the last ADSM_LAUNCHED kernels of an accel, and what is known of
 * the failure that ended its context: whether an accel can be used is asked here.
 * Lock: its own, rank POOL, over no call.
 */
#ifndef ADSM_ACCEL_LAUNCHED_H
#define ADSM_ACCEL_LAUNCHED_H

#include "accel/types.h"
#include "base/lock.h"

enum {
    ADSM_LAUNCHED = 64,
    ADSM_LAUNCHED_NAME = 64,
    ADSM_LAUNCHED_WORDS = 320,
};

struct adsm_launched {
    struct adsm_lock lock;
    struct {
        char name[ADSM_LAUNCHED_NAME];
        int part, parts;
        uint64_t seq, notes; /* of the launch lane, behind it */
    } kernel[ADSM_LAUNCHED];
    uint64_t count;                   /* that were ever launched */
    char failed[ADSM_LAUNCHED_WORDS]; /* "": none did */
};

/** Nothing was launched, in zeroed memory. Thread: the one that makes the accel.
 *  Signal: never */
void adsm_launched_init(struct adsm_launched *launched);

/** A kernel was given to the accel's launch stream, and a fence or a note behind
 *  it. @parts  of its call; 1: it is all of it. Thread: any. Signal: never */
void adsm_launched_add(struct adsm_accel *accel, const char *name, int part,
                       int parts);

/** The context is lost to a kernel, with the driver's words for it: find out
 *  which, for all who ask later; the first words stay. Thread: any. Signal: fault
 *  path */
void adsm_launched_blame(struct adsm_accel *accel, const char *words);

/** Which kernel, or kernels, and the driver's words; "" when it is not known.
 *  Thread: any. Signal: fault path */
void adsm_launched_failed(struct adsm_accel *accel,
                          char words[ADSM_LAUNCHED_WORDS]);

/** ADSM_OK, or why no call can succeed any more, with its reason kept as error
 *  text. @accel  NULL: whatever the device. Thread: any. Signal: fault path */
int adsm_accel_usable(struct adsm_accel *accel);

#endif

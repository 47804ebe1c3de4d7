/*
 * Calls of the public API: on the device where all they use is at home they are
 * launches (call/launch.h); else, and with options, they are made in parts.
 *
 * A part has its box of the range, a device, and of each argument that is a
 * pointer a copy of what it reads and writes (range/spread.h). Everything that
 * can be wrong is looked at before anything moves: call/operand.h,
 * call/split.h. Failures set the error detail. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_CALL_H
#define ADSM_CALL_CALL_H

#include "accel/accel.h"

struct adsm_ended;

/** adsmLaunch: where the kernel's module was loaded first; all of each object.
 *  @grid @block  three dimensions each, 1 or more */
int adsm_call_launch(const adsmKernel *kernel, const unsigned grid[3],
                     const unsigned block[3], size_t shared_bytes, int count,
                     const adsmArg *args);

/**
 * A call over a range.
 *
 * @opts    NULL: one part that may use all of its objects. A kernel that may
 *          touch any object is always one part, on one device
 * @device  for calls that name none; -1: where the module was loaded first
 */
int adsm_call_range(const adsmKernel *kernel, const adsmBox *range,
                    const adsmOpts *opts, int device, int count,
                    const adsmArg *args);

/** The same, with nothing set from outside: a call that others are made of. */
int adsm_call_as_said(const adsmKernel *kernel, const adsmBox *range,
                      const adsmOpts *opts, int device, int count,
                      const adsmArg *args);

/** What is set from outside, for trying: of calls that give options. */
void adsm_call_override(adsmOpts *opts);

/** Do options ask for anything behind the call? */
static inline bool adsm_call_has_followers(const adsmOpts *o)
{
    return o->event || o->then || o->sync || o->progress;
}

/** What options ask for behind a call: its number, `then`, the wait. The call's
 *  status `rc` goes before failures here. @what  it is, for messages */
int adsm_call_follow(const adsmOpts *opts, const char *what,
                     struct adsm_ended *ended, int rc);

/** Wait for all devices that parts, or calls of this thread, have run on but
 *  `besides`, whom the caller waits for, and acquire. Return: the first failure */
int adsm_call_sync(const struct adsm_accel *besides);

/** A failure of a device was told. Where it is lost that was once for all: who
 *  does not use it hears no more of it */
void adsm_call_told(const struct adsm_accel *accel);

#endif

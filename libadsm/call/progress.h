/*
 * How far a call is: parts that have ended of parts there are, for a function of
 * the program (adsmOpts.progress) and, with ADSM_PROGRESS, for who watches.
 *
 * A thread of the runtime, started by the first call that asks, looks at the
 * fences of the parts every ADSM_PROGRESS_MS, and calls the program. A call that
 * nobody watches has no progress: NULL here, for which all of this does nothing.
 *
 * Lock: a mutex, held over no function of the program; lanes' locks are taken
 * below it. Thread: any, but one at a time for a call. Signal: never
 */
#ifndef ADSM_CALL_PROGRESS_H
#define ADSM_CALL_PROGRESS_H

#include "accel/accel.h"

enum { ADSM_PROGRESS_MS = 50 };

struct adsm_progress;

/** What a call asks for; *progress is NULL where nobody watches, and for calls
 *  that a `progress` function makes. ADSM_OK; ADSM_E_NOMEM, ADSM_E_SYSTEM with a
 *  sentence: the program's function cannot be called.  @kernel  for messages */
int adsm_progress_begin(const adsmOpts *opts, const char *kernel,
                        struct adsm_progress **progress);

/** It is made in so many parts. ADSM_OK; ADSM_E_NOMEM with a sentence */
int adsm_progress_expect(struct adsm_progress *progress, int parts);

/** A part has been launched: it has ended at the fence; now, if that has no
 *  accel. */
void adsm_progress_add(struct adsm_progress *progress, struct adsm_fence fence);

/**
 * All parts are launched, or the call failed with `rc`. Then, and with `wait`,
 * the program is told nothing more once this returns. The progress is gone.
 */
void adsm_progress_end(struct adsm_progress *progress, int rc, bool wait);

#endif

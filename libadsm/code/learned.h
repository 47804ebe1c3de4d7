/*
 * What is learnt of kernels while they run: kept by their keys (code/code.h), so
 * that it is one for all who have loaded the same code, and is still there when
 * they load it again.
 *
 * Owns the table, and of what nobody holds any more the last ADSM_LEARNED_KEPT.
 * Lock: one for all, rank CODE, over no wait. Thread: any, no lock of that rank
 * or later held. Signal: never
 */
#ifndef ADSM_CODE_LEARNED_H
#define ADSM_CODE_LEARNED_H

#include "code/speed.h"

enum { ADSM_LEARNED_KEPT = 256 };

struct adsm_learned;

/** Of the kernel with that key; 0: of one that nobody would know again, where
 *  each asks for something new. Held by the caller. NULL: no memory */
struct adsm_learned *adsm_learned_hold(uint64_t key, const char *name);

/** What is new goes into its file (code/remember.h). The last one's gives up the timers that are not read yet, no more. NULL is
 *  allowed. */
void adsm_learned_release(struct adsm_learned *learned);

/** At the end of the process: what is new of all kernels goes into their files. */
void adsm_learned_save(void);

/** How fast devices are with it. */
struct adsm_speed *adsm_learned_speed(struct adsm_learned *learned);

#endif

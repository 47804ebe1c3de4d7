/*
 * Device memory between two owners: it is being given or taken with no gate
 * closed, at the creation and the end of any object.
 *
 * A launch that misses memory meanwhile waits: it may be what is on its way.
 * Owns the count of what has begun and ended.
 */
#ifndef ADSM_MM_BETWEEN_H
#define ADSM_MM_BETWEEN_H

#include <stdbool.h>
#include <stdint.h>

/** Around it. Thread: any. Signal: any handler */
void adsm_between_begin(void);
void adsm_between_end(void);

/** How many have ended; and whether more than so many have begun, so that
 *  memory was, or still is, on its way since. Thread: any. Signal: any
 *  handler */
uint64_t adsm_between_ended(void);
bool adsm_between_since(uint64_t ended);

#endif

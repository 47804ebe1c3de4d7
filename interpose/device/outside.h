/*
 * Device memory that other processes use as well: what they do with it nobody
 * here hears of.
 *
 * So it counts as theirs between two waits of the program. When a wait ends, what
 * the CPU has written there is on the device, and what it reads from then on is
 * fetched anew. For programs whose memory is adopted (device/adopt.h): otherwise no
 * such memory is shared with the CPU.
 *
 * Owns the list of such memory. Lock: its own, rank POOL.
 */
#ifndef INTERPOSE_DEVICE_OUTSIDE_H
#define INTERPOSE_DEVICE_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Other processes got hold of the program's memory, or it of theirs, which
 *  counts how often. Thread: any. Signal: never */
void device_outside(uint64_t begin, size_t bytes, bool is_theirs);

/** They may have got hold of any: it is not known which addresses a handle stands
 *  for. Thread: any. Signal: never */
void device_outside_any(void);

/** Theirs was let go, once; ours has been freed. Thread: any. Signal: never */
void device_outside_closed(uint64_t begin);
void device_outside_freed(uint64_t begin);

/** Is what begins there theirs, and goes on when it ends here? Thread: any.
 *  Signal: never */
bool device_outside_is_theirs(uint64_t begin);

/** A wait of the program has ended. Return: 0 or a status. Thread: any; holds no
 *  lock. Signal: never */
int device_outside_seen(void);

#endif

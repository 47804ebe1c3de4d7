/*
 * Long waits in slices, for the sake of the program's handlers.
 *
 * A handler that touches shared memory must not run while its thread is inside
 * the driver, whose locks the answer needs; and it must not have to wait for a
 * kernel that lasts. So a wait asks, again and again, whether what it waits for
 * is over, with signals held while it asks, and sleeps in between with nothing
 * held. That ends some microseconds up to a quarter of a millisecond late, so it
 * is done only where the thread has a handler to run: who knows of the program's
 * handlers says so, else the first slices are spent on looking for one.
 *
 * Owns where it is known. No lock.
 */
#ifndef ADSM_BASE_SLICES_H
#define ADSM_BASE_SLICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** One wait; zeroed at its beginning. */
struct adsm_slices {
    uint64_t began_ns;
    uint64_t open; /* the thread takes these           */
    int looked;    /* signals looked at so far         */
    bool minds;    /* one of them has a handler        */
};

/** From now on *handled says which signals have a handler of the program's, bit
 *  n - 1 for signal n. Thread: any. Signal: never */
void adsm_slices_know(const _Atomic uint64_t *handled);

/**
 * Is it worth asking before the driver is asked to wait?
 *
 * Return: false: no handler can run meanwhile
 * Thread: any. Signal: fault path
 */
bool adsm_slices_begin(void);

/**
 * What the thread waits for is not over: pass a slice.
 *
 * Return: true: ask again; false: no handler can run meanwhile, so the driver
 *         may be asked to wait (also within quiet stretches, lock.h)
 * Thread: any. Signal: fault path
 */
bool adsm_slices_next(struct adsm_slices *slices);

#endif

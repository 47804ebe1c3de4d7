/*
 * Device memory for copies of boxes: kept when it is given back.
 *
 * A call over several devices needs memory for what each of them gets, and the
 * next call the same again; the driver's allocator costs more than the moves.
 * Ranges that were given back are kept, with the fences that must be reached
 * before somebody else may write there: their new owner gets these and waits
 * for them on the device, so giving back waits for nothing. Where the driver
 * has no memory left, what is kept goes back to it.
 *
 * Owns all ranges of an accel, kept and in use. Lock: store->lock, rank STORE,
 * held for loads and stores only, over no driver call and no wait. Invariant:
 * adsm_store_is_valid().
 */
#ifndef ADSM_ACCEL_STORE_H
#define ADSM_ACCEL_STORE_H

#include "accel/types.h"
#include "base/lock.h"

enum {
    ADSM_STORE_LEAST = 512, /* of what drivers make allocations */
    /* Smaller ranges are not worth a call of the driver: any serves. */
    ADSM_STORE_SMALL = 64 << 10,
    /* What drivers take of a device: several of these, or one for small ones. */
    ADSM_STORE_PAGE = 2 << 20,
};

/**
 * The size that memory of `bytes` has, which are not too many to be rounded: a
 * multiple of a 16th of the power of two below, of 512 bytes at least and 64 KiB
 * at most. So what is given back serves sizes near its own, and where an array
 * is no multiple of anything a 16th of it is wasted, not up to 64 KiB.
 *
 * Thread: any. Signal: any handler
 */
size_t adsm_store_round(size_t bytes);

/** What a range for `bytes` takes of a device: whole pages, or when it is small
 *  a piece of one that others share. Thread: any. Signal: any handler */
size_t adsm_store_takes(size_t bytes);

/** A piece of device memory. Who has it may read all but the links. */
struct adsm_store_range {
    struct adsm_daddr at;
    size_t bytes; /* as adsm_store_round has them; 0: accel forgotten */
    /* Whoever writes there first waits for these. */
    struct adsm_fence *after;
    size_t count, room;
    struct adsm_store_range *prev, *next; /* store->lock */
};

struct adsm_store {
    struct adsm_lock lock;
    struct adsm_store_range *kept; /* lock: the one given back last first */
    struct adsm_store_range *used; /* lock */
};

/** Make an empty store in zeroed memory. Thread: the one that makes the accel.
 *  Signal: never */
void adsm_store_init(struct adsm_store *store);

/** Give all memory back to the driver, that in use as well: its owners give
 *  back what is none any more. No lane may have work. Thread: one that forgets
 *  the accel. Signal: never */
void adsm_store_clear(struct adsm_accel *accel);

/**
 * Memory of at least `bytes`: the smallest range kept that has room and wastes
 * little, else of the driver; where that has none, what is kept goes first, if
 * both together are as much.
 *
 * @range  (*range)->after: fences that the first write has to wait for
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM, ADSM_E_NOMEM, an error of the device
 * Thread: any
 * Signal: never
 */
int adsm_store_alloc(struct adsm_accel *accel, size_t bytes,
                     struct adsm_store_range **range) ADSM_MUST_CHECK;

/**
 * Give a range back.
 *
 * @after  what may still read or write there, of any accels
 * Thread: any
 * Signal: never
 */
void adsm_store_free(struct adsm_accel *accel, struct adsm_store_range *range,
                     const struct adsm_fence *after, size_t count);

/**
 * Give memory that is kept back to the driver, the oldest first, until `bytes`
 * of it are gone; waits for its fences.
 *
 * Return: how much it was
 * Thread: any
 * Signal: never
 */
size_t adsm_store_trim(struct adsm_accel *accel, size_t bytes);

/** Memory that is kept for now. Thread: any. Signal: never */
size_t adsm_store_kept(struct adsm_accel *accel);

/** The specification of a store, for tests. Thread: any. Signal: never */
bool adsm_store_is_valid(struct adsm_accel *accel);

#endif

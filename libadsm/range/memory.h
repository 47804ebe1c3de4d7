/*
 * Copies in device memory: making them, and giving them up again.
 *
 * Owns the lists of all copies but those at home, by device and last use. A
 * copy that no call uses is evicted when its device has no memory left for
 * another: what only it has goes to the host, its memory to the pool, together
 * with the fences that the next owner waits for, so an eviction waits for
 * nothing.
 *
 * Lock: that of the lists, rank STORE, held for loads and stores only; guards
 * `uses`, `last_used` and the links of every copy. Thread: any. Signal: never.
 */
#ifndef ADSM_RANGE_MEMORY_H
#define ADSM_RANGE_MEMORY_H

#include "range/copy.h"

/**
 * Get memory for copies of one device that are in nobody's hands yet: `bytes`
 * says how much; `at` and whom to wait for are filled in. They enter the lists.
 * No object's lock is held.
 *
 * @copies @count  all that a call needs on the device, so that whether they fit
 *                 is decided before the first eviction
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM (adsm_accel_error_text has both sizes,
 *         nothing was evicted); ADSM_E_NOMEM; a device's error: none was made
 */
int adsm_memory_get(struct adsm_accel *accel, struct adsm_copy **copies,
                    uint32_t count) ADSM_MUST_CHECK;

/** Bytes of a device that the copies of a call can have: those that are free,
 *  kept for copies, or of copies that nobody uses. SIZE_MAX: not known */
size_t adsm_memory_most(struct adsm_accel *accel);

/** Memory for what is not a copy: what is kept for copies goes back to the
 *  driver, or else the copy used longest ago that nobody uses. Nothing does
 *  where all that could go is less than `bytes`. No object's lock is held. Return:
 *  whether some went */
bool adsm_memory_make_room(struct adsm_accel *accel, size_t bytes);

/** One more call uses the copy, which becomes the youngest, or one less. */
void adsm_memory_use(struct adsm_copy *copy);
void adsm_memory_unuse(struct adsm_copy *copy);
bool adsm_memory_is_used(const struct adsm_copy *copy);

/** Evict a copy of an object, whose lock is held exclusively. Return: ADSM_OK;
 *  ADSM_E_LIMIT (it is needed where it is); a failure to save it */
int adsm_memory_evict_this(struct adsm_object *object,
                           struct adsm_copy *copy) ADSM_MUST_CHECK;

/** Does a system call or a fault have the host bytes of a box in hand, which
 *  what comes from a device would overwrite? The object's lock is held. */
bool adsm_memory_is_lent(struct adsm_object *object, const adsmBox *box);

/** Give a copy's memory to the pool. Nobody uses it and no map names it. */
void adsm_memory_put(struct adsm_copy *copy);

#endif

/*
 * Oversubscription (ADSM_OVERSUBSCRIBE): more objects than the device holds.
 *
 * An object of a preloaded program may be *away*: it has its address and its
 * bytes are on the host, but no device memory stands behind it. That is a
 * special case of an object that is not gathered (mm/object/holders.h): its
 * home has no part in it, nothing is written back to it, and before the home is
 * used the object is gathered, which here means that it gets memory. While it is
 * away all of its blocks are DIRTY: what it needs from the device when it comes
 * back is what the ordinary release of a call does anyway, and the CPU works on
 * it without faults.
 *
 * Before a call everything that the call may touch is made resident. Where the
 * device has no memory left, those objects go that were used longest ago and
 * that the call does not touch: whole, and with a transfer of the blocks that
 * only the device has. What a call may touch is what it names, what
 * adsm_call.reach says, or any object. If that is more than the device holds the
 * call fails before anything has moved.
 *
 * window     objects of ADSM_MOVABLE_LEAST bytes and more are movable, in pieces
 *            of what the driver maps at once, mostly 2 MiB
 * overlay    addresses go with their memory: nothing is movable, and what the
 *            device has no room for is refused as without the option
 * translate  preloaded programs have no shared memory there
 *
 * Work in flight: calls close the gate of their home and an object only goes
 * behind a closed gate, after all work that was noted before. Device copies,
 * which close no gate, pin what they use. Drivers wait for every kernel when
 * memory is taken from an address, so finer waits would gain nothing.
 *
 * Owns the list of movable objects and the order in which they were used. Lock:
 * the list's, rank OBJECT_LIST, over loads and stores only; an object comes and
 * goes under its own, held exclusively.
 */
#ifndef ADSM_MM_RESIDENCE_H
#define ADSM_MM_RESIDENCE_H

#include "mm/object/movable.h"

struct adsm_call;

/** Make a new object, which is away, one of the list. Its lock is held
 *  exclusively. Return: ADSM_OK; ADSM_E_NOMEM. Thread: any. Signal: never */
int adsm_residence_attach(struct adsm_object *object) ADSM_MUST_CHECK;

/**
 * Everything that the call may touch becomes resident. Its gates are closed, but
 * for times in which copies are waited for that use what is in the way.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM: it is more than the device holds, which
 *         is said; a device's error; ADSM_E_NOMEM: nothing is lost
 * Thread: any, no lock of rank OBJECT_TABLE or later held. Signal: never
 */
int adsm_residence_prepare(const struct adsm_call *call) ADSM_MUST_CHECK;

/**
 * Make the objects at two addresses (NULL: one less) resident at the same time,
 * if they are movable, and keep them so until adsm_object_unpin. Waits for
 * copies that use what is in the way, holding nothing.
 *
 * @pinned  NULL: there was nothing to do
 * Return: as of adsm_residence_prepare; nothing is pinned
 * Thread: any that has pinned nothing, no lock of rank GATE or later held.
 *         Signal: never
 */
int adsm_residence_pin(const void *one, const void *other,
                       struct adsm_object *pinned[2]) ADSM_MUST_CHECK;

/** The object that was used longest ago goes, and its memory back to the driver.
 *  Return: false: none can. Thread: any, no lock of rank GATE or later held.
 *  Signal: never */
bool adsm_residence_make_room(struct adsm_accel *accel);

#endif

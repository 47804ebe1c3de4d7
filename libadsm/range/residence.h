/*
 * Oversubscription (ADSM_OVERSUBSCRIBE): more objects than the device holds.
 *
 * An object of a preloaded program may be *away*: it has its address and its
 * bytes are on the host, but no device memory stands behind it. In its map the
 * host is the only holder, and the home is none (adsm_held_alone): nothing is
 * written back to it, and before the home is used the object is gathered, which
 * begins with memory for it. While it is away all of its blocks are DIRTY: what
 * it needs from the device when it comes back is what the ordinary release of a
 * call does anyway, and the CPU works on it without faults. Movable objects go
 * as a whole, so they have no copies of parts.
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
#ifndef ADSM_RANGE_RESIDENCE_H
#define ADSM_RANGE_RESIDENCE_H

#include "mm/object/movable.h"

struct adsm_call;

/** A movable object enters the list, away, or leaves it. Its lock is held
 *  exclusively, or nobody else has it. Thread: any. Signal: never */
void adsm_residence_list(struct adsm_object *object);
void adsm_residence_unlist(struct adsm_object *object);

/** An object that is away gets memory, and is gathered. Lock: its own,
 *  exclusively. Return: ADSM_OK; ADSM_E_DEVICE_NOMEM: there is no room;
 *  a device's error. Thread: any. Signal: never */
int adsm_residence_come(struct adsm_object *object,
                        const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** As adsm_holders_prepare and adsm_holders_pin (mm/object/holders.h). */
int adsm_residence_prepare(const struct adsm_call *call) ADSM_MUST_CHECK;
int adsm_residence_pin(const void *one, const void *other,
                       struct adsm_object *pinned[2]) ADSM_MUST_CHECK;

/** The object that was used longest ago goes, and its memory back to the driver.
 *  Return: false: none can. Thread: any, no lock of rank GATE or later held.
 *  Signal: never */
bool adsm_residence_make_room(struct adsm_accel *accel);

#endif

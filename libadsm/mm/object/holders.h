/*
 * Who holds an object's bytes: what the memory manager asks of libadsm/range.
 *
 * Most objects have no holders but the host and the home, of which the blocks
 * tell. Such an object is gathered: the home has everything that the host has
 * not. As long as one is not, its home has no special part: each byte is current
 * in a set of places, the host and copies in several devices, and what the host
 * lacks may come from anywhere. A block's state still says what the CPU may do.
 * Nothing of it is written back early or at a call; calls over ranges bring what
 * they need. Before a kernel, a driver call or a copy that knows only the home
 * uses the object, it is gathered, and until the next call over ranges it is one
 * like any other.
 *
 * An object without a home is never gathered, nor is one that is away
 * (mm/object/movable.h), of which the host is the only holder.
 *
 * Who has what, and which objects are away, is libadsm/range's to know and to
 * decide, whose functions are handed here once. Owns that table. Lock: the
 * object's.
 */
#ifndef ADSM_MM_HOLDERS_H
#define ADSM_MM_HOLDERS_H

#include "base/cause.h"
#include "mm/object/object.h"

struct adsm_call;

/** What libadsm/range keeps for an object begins with this. */
struct adsm_holders {
    bool gathered; /* lock: the object's, exclusively to change */
};

/** Functions of the layer above; contracts as of those that call them. */
struct adsm_holders_ops {
    int (*fetch)(struct adsm_object *object, size_t offset, size_t bytes,
                 const struct adsm_cause *cause);
    void (*await)(struct adsm_object *object, size_t offset, size_t bytes);
    int (*gather)(struct adsm_object *object, const struct adsm_cause *cause);
    void (*forget)(struct adsm_object *object, size_t offset, size_t bytes);
    void (*destroy)(struct adsm_object *object);
    int (*adopt)(struct adsm_object *object);
    int (*prepare)(const struct adsm_call *call);
    int (*pin)(const void *one, const void *other,
               struct adsm_object *pinned[2]);
    bool (*make_room)(struct adsm_accel *accel, size_t bytes);
};

/** Who answers, from now on. Thread: one, at the start. Signal: never */
void adsm_holders_set(const struct adsm_holders_ops *ops);

/* ---- of one object --------------------------------------------------------- */

/** Has the home everything that the host has not? Thread: any; its lock is held,
 *  shared at least. Signal: any handler */
static inline bool adsm_object_is_gathered(const struct adsm_object *object)
{
    return !object->holders || object->holders->gathered;
}

/** Give the home, where there is one, everything that the host has not, and
 *  memory first to one that is away. Its lock is held exclusively. Return:
 *  ADSM_OK; ADSM_E_DEVICE_NOMEM: it stays away; a device's error. Thread: any.
 *  Signal: never */
int adsm_object_gather(struct adsm_object *object,
                       const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Bring what the host lacks of [offset, offset + bytes) into the shadow.
 *
 * The object is not gathered, its lock held shared and the blocks held, or the
 * lock held exclusively. Bytes that only a lost device had stay as they are,
 * which is said once.
 * Return: ADSM_OK; a device's error. Thread: any. Signal: fault path
 */
int adsm_holders_fetch(struct adsm_object *object, size_t offset, size_t bytes,
                       const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Wait for transfers in flight between the shadow and copies that touch these
 *  bytes: they may change then. Gathered or not. Lock, Thread, Signal: as
 *  above */
void adsm_holders_await(struct adsm_object *object, size_t offset,
                        size_t bytes);

/** Arrays that begin in [offset, offset + bytes) are not there any more.
 *  Gathered or not; its lock is held exclusively. Thread: any. Signal: never */
void adsm_holders_forget(struct adsm_object *object, size_t offset,
                         size_t bytes);

/** The object is gone: wait for all who use its copies and free them. Thread:
 *  the one that ends it. Signal: never */
void adsm_holders_destroy(struct adsm_object *object);

/** A new object that is movable, and away: the host is its only holder. Its lock
 *  is held exclusively. Return: ADSM_OK; ADSM_E_NOMEM. Thread: any. Signal:
 *  never */
int adsm_holders_adopt(struct adsm_object *object) ADSM_MUST_CHECK;

/* ---- of a device's memory -------------------------------------------------- */

/**
 * Everything that the call may touch becomes resident. Its gates are closed, but
 * for times in which copies are waited for that use what is in the way.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM: it is more than the device holds, which
 *         is said; a device's error; ADSM_E_NOMEM: nothing is lost
 * Thread: any, no lock of rank OBJECT_TABLE or later held. Signal: never
 */
int adsm_holders_prepare(const struct adsm_call *call) ADSM_MUST_CHECK;

/**
 * Make the objects at two addresses (NULL: one less) resident at the same time,
 * if they are movable, and keep them so until adsm_object_unpin. Waits for
 * copies that use what is in the way, holding nothing.
 *
 * @pinned  NULL: there was nothing to do
 * Return: as of adsm_holders_prepare; nothing is pinned
 * Thread: any that has pinned nothing, no lock of rank GATE or later held.
 *         Signal: never
 */
int adsm_holders_pin(const void *one, const void *other,
                     struct adsm_object *pinned[2]) ADSM_MUST_CHECK;

/**
 * Somebody needs device memory and there is none: give the driver what can be
 * done without, a copy of a part of an object that nobody uses just now, or the
 * memory of an object that may be away.
 *
 * @bytes  how much is needed: where that is more than can ever go, no copy goes
 * Return: whether trying again can help
 * Thread: any, no lock of rank GATE or later held. Signal: never
 */
bool adsm_holders_make_room(struct adsm_accel *accel, size_t bytes);

#endif

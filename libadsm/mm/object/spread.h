/*
 * Objects that are spread: what the memory manager asks of libadsm/range.
 *
 * As long as an object is spread, its home has no special part: each byte is
 * current in a set of places, the host and copies in several devices, and what
 * the host lacks may come from anywhere. A block's state still says what the
 * CPU may do. Nothing of it is written back early or at a call; calls over
 * ranges bring what they need. Before a kernel, a driver call or a copy that
 * knows only the home uses the object, it is gathered: the home has everything
 * again that the host has not, and until the next call over ranges the object
 * is one like any other.
 *
 * An object without a home is always spread.
 *
 * Objects that are away (mm/heap/residence.h) are spread in a way of their own,
 * with the host as the only holder.
 *
 * Owns no more than whether an object is; who has what is libadsm/range's.
 * Lock: the object's.
 */
#ifndef ADSM_MM_SPREAD_H
#define ADSM_MM_SPREAD_H

#include "mm/object/object.h"

/** Functions of the layer above; contracts as of those that call them. */
struct adsm_spread_ops {
    /**
     * Bring what the host lacks of [offset, offset + bytes) into the shadow.
     *
     * The object is spread, its lock held shared and the blocks held, or the
     * lock held exclusively. Bytes that only a lost device had stay as they
     * are, which is said once.
     * Return: ADSM_OK; a device's error. Signal: fault path
     */
    int (*fetch)(struct adsm_object *object, size_t offset, size_t bytes);

    /** Wait for transfers in flight that touch these bytes of the shadow: they
     *  may change then. Spread or not. Lock as above. Signal: fault path */
    void (*await)(struct adsm_object *object, size_t offset, size_t bytes);

    /** Give the home everything that the host has not. Its lock is held
     *  exclusively. Return: ADSM_OK: not spread any more; a device's error.
     *  Signal: never */
    int (*gather)(struct adsm_object *object);

    /** Arrays that begin in [offset, offset + bytes) are not there any more.
     *  Spread or not; its lock is held exclusively. Signal: never */
    void (*forget)(struct adsm_object *object, size_t offset, size_t bytes);

    /** The object is gone: wait for all who use its copies and free them.
     *  Signal: never */
    void (*destroy)(struct adsm_object *object);
};

/** What libadsm/range, or mm/heap/residence.h, keeps for an object begins with
 *  this; whose it is, `ops` tells. */
struct adsm_spread {
    const struct adsm_spread_ops *ops;
    bool is_spread; /* lock: the object's, exclusively to change */
};

/** Is it just now? Thread: any; its lock is held, shared at least. Signal: any
 *  handler */
static inline bool adsm_object_is_spread(const struct adsm_object *object)
{
    return object->spread && object->spread->is_spread;
}

/** Make it an object like any other, where it has a home. Its lock is held
 *  exclusively. Return: ADSM_OK; a device's error. Thread: any. Signal: never */
static inline int adsm_object_gather(struct adsm_object *object)
{
    return adsm_object_is_spread(object) && !object->homeless
               ? object->spread->ops->gather(object)
               : ADSM_OK;
}

#endif

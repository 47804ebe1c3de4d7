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
 * An object without a home is never gathered.
 *
 * Objects that are away (mm/heap/residence.h) are not gathered in a way of their
 * own, with the host as the only holder.
 *
 * Owns no more than whether an object is; who has what is libadsm/range's.
 * Lock: the object's.
 */
#ifndef ADSM_MM_HOLDERS_H
#define ADSM_MM_HOLDERS_H

#include "mm/object/object.h"

/** Functions of the layer above; contracts as of those that call them. */
struct adsm_holders_ops {
    int (*fetch)(struct adsm_object *object, size_t offset, size_t bytes);
    void (*await)(struct adsm_object *object, size_t offset, size_t bytes);
    int (*gather)(struct adsm_object *object);
    void (*forget)(struct adsm_object *object, size_t offset, size_t bytes);
    void (*destroy)(struct adsm_object *object);
};

/** What libadsm/range, or mm/heap/residence.h, keeps for an object begins with
 *  this; whose it is, `ops` tells. */
struct adsm_holders {
    const struct adsm_holders_ops *ops;
    bool gathered; /* lock: the object's, exclusively to change */
};

/** Has the home everything that the host has not? Thread: any; its lock is held,
 *  shared at least. Signal: any handler */
static inline bool adsm_object_is_gathered(const struct adsm_object *object)
{
    return !object->holders || object->holders->gathered;
}

/** Give the home, where there is one, everything that the host has not. Its lock
 *  is held exclusively. Return: ADSM_OK; a device's error. Thread: any. Signal:
 *  never */
static inline int adsm_object_gather(struct adsm_object *object)
{
    return adsm_object_is_gathered(object) || object->homeless
               ? ADSM_OK
               : object->holders->ops->gather(object);
}

/**
 * Bring what the host lacks of [offset, offset + bytes) into the shadow.
 *
 * The object is not gathered, its lock held shared and the blocks held, or the
 * lock held exclusively. Bytes that only a lost device had stay as they are,
 * which is said once.
 * Return: ADSM_OK; a device's error. Thread: any. Signal: fault path
 */
static inline int adsm_holders_fetch(struct adsm_object *object, size_t offset,
                                     size_t bytes)
{
    return object->holders->ops->fetch(object, offset, bytes);
}

/** Wait for transfers in flight between the shadow and copies that touch these
 *  bytes: they may change then. Gathered or not. Lock, Thread, Signal: as
 *  above */
static inline void adsm_holders_await(struct adsm_object *object, size_t offset,
                                      size_t bytes)
{
    if (object->holders)
        object->holders->ops->await(object, offset, bytes);
}

/** Arrays that begin in [offset, offset + bytes) are not there any more.
 *  Gathered or not; its lock is held exclusively. Thread: any. Signal: never */
static inline void adsm_holders_forget(struct adsm_object *object,
                                       size_t offset, size_t bytes)
{
    if (object->holders)
        object->holders->ops->forget(object, offset, bytes);
}

/** The object is gone: wait for all who use its copies and free them. Thread:
 *  the one that ends it. Signal: never */
static inline void adsm_holders_destroy(struct adsm_object *object)
{
    if (object->holders)
        object->holders->ops->destroy(object);
}

#endif

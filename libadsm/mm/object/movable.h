/*
 * Objects whose device memory comes and goes (ADSM_OVERSUBSCRIBE): what is noted
 * of them.
 *
 * Who comes and who goes, and when, is decided above (mm/object/holders.h).
 */
#ifndef ADSM_MM_MOVABLE_H
#define ADSM_MM_MOVABLE_H

#include "mm/object/object.h"

/** Smaller ones share the driver's pieces with others and stay. */
#define ADSM_MOVABLE_LEAST ((size_t)1 << 20)

/** Can its device memory go? Thread: any. Signal: any handler */
static inline bool adsm_object_is_movable(const struct adsm_object *object)
{
    return object->span.pieces != NULL;
}

/** Has it gone? Thread: any; its lock is held, shared at least. Signal: any
 *  handler */
static inline bool adsm_object_is_away(const struct adsm_object *object)
{
    return object->span.away;
}

/** Keep an object, whose lock is held, where it is: there, if it is not away.
 *  Thread: any. Signal: any handler */
static inline void adsm_object_pin(struct adsm_object *object,
                                   struct adsm_object **pinned)
{
    atomic_fetch_add(&object->pins, 1);
    *pinned = object;
}

/** Let it go again; NULL: there is none. Thread, Signal: as above */
static inline void adsm_object_unpin(struct adsm_object **pinned)
{
    if (*pinned)
        atomic_fetch_sub(&(*pinned)->pins, 1);
    *pinned = NULL;
}

/** The device is about to write the object by something else than a call. Its
 *  lock is held, shared at least. Thread: any. Signal: fault path */
static inline void adsm_object_written(struct adsm_object *object)
{
    if (adsm_object_is_movable(object))
        atomic_store(&object->holds, true);
}

#endif

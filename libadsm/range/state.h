/*
 * What libadsm/range keeps of an object, and the functions of
 * mm/object/holders.h.
 *
 * Owns who holds what, the copy at home, the transfers in flight and the arrays
 * that the program has named. Made when first needed, of a movable object with
 * it, and gone with the object.
 * Lock: the object's; exclusively to change anything, shared to read.
 * Thread: any. Signal: never, where nothing else is said.
 * Invariant: adsm_ranged_is_valid().
 */
#ifndef ADSM_RANGE_STATE_H
#define ADSM_RANGE_STATE_H

#include "mm/object/holders.h"
#include "mm/object/movable.h"
#include "range/flight.h"
#include "range/plan.h"
#include "range/want.h"

#include <assert.h>

/** An array that adsmShape has named. */
struct adsm_named {
    struct adsm_named *next;
    size_t origin, elem;
    adsmBox shape; /* innermost in bytes */
};

/** What is kept of a movable object besides (range/residence.h). */
struct adsm_residence {
    struct adsm_object *object;
    _Atomic uint64_t used; /* stamp of the last use; grows                */
    _Atomic bool resident;
    struct adsm_residence *prev, *next; /* lock: the list's               */
};

struct adsm_ranged {
    struct adsm_holders holders; /* first: what mm/ knows */
    struct adsm_held held;       /* meaningful while the object is spread */
    struct adsm_copy home;       /* all of the object, unless it has no home */
    struct adsm_flights flights;
    struct adsm_named *named;
    struct adsm_residence residence; /* meaningful if it is movable */
};

/** mm/object/holders.h's functions (serve.c). */
extern const struct adsm_holders_ops adsm_ranged_ops;

/** The state of an object that has one, as its copies show, or whoever made it.
 *  Its lock is held, shared at least. Thread: any. Signal: any handler */
static inline struct adsm_ranged *adsm_ranged(const struct adsm_object *object)
{
    assert(object->holders);
    return (struct adsm_ranged *)object->holders;
}

/** The shape of the object's map: covers all of its bytes. Signal: any
 *  handler */
static inline const adsmBox *adsm_ranged_shape(const struct adsm_object *object)
{
    return &adsm_ranged(object)->held.map.whole;
}

/** Lock an array's object exclusively, if it is still the one that was found.
 *  Return: ADSM_OK; ADSM_E_NOT_SHARED: not locked. Thread: any. Signal: never */
int adsm_array_lock(const struct adsm_array *array) ADSM_MUST_CHECK;
void adsm_array_unlock(const struct adsm_array *array);

/** Make the state where there is none. The object's lock is held exclusively.
 *  Return: ADSM_OK; ADSM_E_NOMEM; ADSM_E_UNSUPPORTED: it is movable, and goes as
 *  a whole: of such there are no copies of parts. Thread: any. Signal: never */
int adsm_ranged_make(struct adsm_object *object) ADSM_MUST_CHECK;

/** Make that of a new object that is movable, and away. Lock: exclusive.
 *  Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_ranged_make_away(struct adsm_object *object) ADSM_MUST_CHECK;

/** A movable object has device memory, and is gathered; or it has none any more,
 *  and the host has all of it. Lock: exclusive */
int adsm_ranged_arrived(struct adsm_object *object) ADSM_MUST_CHECK;
void adsm_ranged_left(struct adsm_object *object);

/**
 * Spread the object, if it is not, and bring the map up to date with what the
 * CPU did and with devices that were lost. Its lock is held exclusively.
 *
 * @shape  what its boxes are to be of; one that the map has not needs all bytes
 *         in one place, and all copies gone but the home's
 * Return: ADSM_OK; ADSM_E_NOMEM; a device's error; ADSM_E_INVALID: copies are in
 *         use, so it keeps its shape. Thread: any. Signal: never
 */
int adsm_ranged_update(struct adsm_object *object, const adsmBox *shape,
                       const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Gather an object, also where it gets another shape. */
int adsm_ranged_gather(struct adsm_object *object,
                       const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Enqueue planned moves from `first` on; what cannot be is taken back. Return:
 *  ADSM_OK; the first failure. Lock: exclusive. Signal: never */
int adsm_ranged_carry(struct adsm_object *object, struct adsm_moves *moves,
                      uint32_t first,
                      const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** The host's bytes of DIRTY blocks that boxes were read from are known
 *  elsewhere now, or its blocks that a box touches will be written there.
 *  Lock: exclusive. Signal: never */
int adsm_ranged_sent(struct adsm_object *object,
                     const adsmBox *box) ADSM_MUST_CHECK;
int adsm_ranged_close(struct adsm_object *object,
                      const adsmBox *box) ADSM_MUST_CHECK;

/** A copy without an object any more, which nobody uses: free its memory and
 *  itself. No lock */
void adsm_ranged_drop(struct adsm_copy *copy);

/** The structure's specification: who holds what is as range/plan.h has it,
 *  copies lie in their rooms and in the object, one that is not spread has a home
 *  and no use, and of one that is away the home is no holder. For assertions and
 *  tests. Lock: exclusive */
bool adsm_ranged_is_valid(const struct adsm_object *object);

#endif

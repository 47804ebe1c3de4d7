/* What residence.c, which chooses, and residence_object.c, which moves, use of
 * each other. */
#ifndef ADSM_MM_RESIDENCE_PARTS_H
#define ADSM_MM_RESIDENCE_PARTS_H

#include "mm/heap/residence.h"
#include "mm/object/holders.h"

struct adsm_residence {
    struct adsm_holders holders; /* not gathered: the object is away     */
    struct adsm_object *object;
    _Atomic uint64_t used; /* stamp of the last use; grows                */
    _Atomic bool resident;
    struct adsm_residence *prev, *next; /* lock: the list's               */
};

static inline struct adsm_residence *
adsm_residence_of(const struct adsm_object *object)
{
    return (struct adsm_residence *)object->holders;
}

/** Of the next use. Thread: any. Signal: any handler */
uint64_t adsm_residence_stamp(void);

/** An object as it was found. */
struct adsm_resident {
    struct adsm_object *object; /* NULL: none */
    uint32_t generation;
};

/** Enter and leave the list. Thread: any. Signal: never */
void adsm_residence_list(struct adsm_residence *residence);
void adsm_residence_unlist(struct adsm_residence *residence);

/** Bytes that objects could get just now. Return: ADSM_OK; a device's error.
 *  Thread: any. Signal: never */
int adsm_residence_room(struct adsm_accel *home, size_t *bytes) ADSM_MUST_CHECK;

/**
 * Give it memory, or take its memory away after the work noted so far. Behind a
 * closed gate, or while nobody else has its address.
 *
 * Return: ADSM_OK, also where it was freed meanwhile; ADSM_E_DEVICE_NOMEM;
 *         ADSM_E_LIMIT: it cannot go now and counts as used; ADSM_E_NOMEM; a
 *         device's error
 * Thread: any, no lock of an object or of a later rank held. Signal: never
 */
int adsm_residence_arrive(struct adsm_resident found) ADSM_MUST_CHECK;
int adsm_residence_depart(struct adsm_resident found) ADSM_MUST_CHECK;

#endif

/* What residence.c, which chooses, and residence_object.c, which moves, use of
 * each other. */
#ifndef ADSM_RANGE_RESIDENCE_PARTS_H
#define ADSM_RANGE_RESIDENCE_PARTS_H

#include "range/residence.h"
#include "range/state.h"

static inline struct adsm_residence *
adsm_residence_of(const struct adsm_object *object)
{
    return &adsm_ranged(object)->residence;
}

/** Of the next use. Thread: any. Signal: any handler */
uint64_t adsm_residence_stamp(void);

/** An object as it was found. */
struct adsm_resident {
    struct adsm_object *object; /* NULL: none */
    uint32_t generation;
};

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
int adsm_residence_arrive(struct adsm_resident found,
                          const struct adsm_cause *cause) ADSM_MUST_CHECK;
int adsm_residence_depart(struct adsm_resident found) ADSM_MUST_CHECK;

#endif

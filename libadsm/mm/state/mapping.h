/*
 * Mappings at A, of which the system grants so many (vm.max_map_count): what
 * happens where none is left.
 *
 * Some are set aside before an allocation, which is refused without them. Beyond
 * these, objects that nobody uses just now give up theirs until their next
 * access; their bytes and states stay.
 *
 * Owns nothing. Lock: the object's, shared at least, where nothing else is said.
 */
#ifndef ADSM_MM_MAPPING_H
#define ADSM_MM_MAPPING_H

#include "mm/object/object.h"

/**
 * Map the object's pages at A (adsm_object_map). Where no mapping is left, other
 * objects give up theirs.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_NOMEM
 * Thread: any. Signal: fault path
 */
int adsm_mapping_back(struct adsm_object *object) ADSM_MUST_CHECK;

/** The same for what needs the shadow only: where no mapping is left, that at A
 *  comes with the next access, and that is no failure. */
int adsm_mapping_shadow(struct adsm_object *object) ADSM_MUST_CHECK;

/** Take the object from A (adsm_object_unmap): what was watched of it is DIRTY as
 *  a whole from here on. Its lock is held exclusively. Return: ADSM_OK;
 *  ADSM_E_NOT_SHARED: it is not there; ADSM_E_LIMIT. Thread: any. Signal: fault
 *  path */
int adsm_mapping_take(struct adsm_object *object) ADSM_MUST_CHECK;

/** Take the object from A for good: says so where it fails. Its lock is held
 *  exclusively, or nobody finds it any more; its blocks have left the counts
 *  (adsm_coherence_abandon). Thread: any. Signal: never */
void adsm_mapping_give_back(struct adsm_object *object);

/** The system grants no mapping: use those set aside, or take objects from A
 *  that nobody uses just now. Return: whether trying again can help. Thread:
 *  any; locks of objects may be held. Signal: fault path */
bool adsm_mapping_make_room(void);

/** Before there is one more object: set mappings aside that accesses cannot do
 *  without. Return: ADSM_OK; ADSM_E_LIMIT. Thread: any, no lock held. Signal:
 *  never */
int adsm_mapping_provide(void) ADSM_MUST_CHECK;

#endif

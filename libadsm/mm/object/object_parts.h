/* What life.c, host.c and list.c use of each other. */
#ifndef ADSM_MM_OBJECT_PARTS_H
#define ADSM_MM_OBJECT_PARTS_H

#include "mm/object/object.h"

/**
 * Before there is an object of `accel`: provide what accesses and walks cannot
 * do without where the system grants no more mappings.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_NOMEM
 * Thread: any, no lock of rank OBJECT_TABLE or later held. Signal: never
 */
int adsm_object_provide(const struct adsm_accel *accel) ADSM_MUST_CHECK;

/** Enter the lists, or leave them. Thread: the one that makes or ends the
 *  object, whose lock it does not hold. Signal: never */
void adsm_object_list(struct adsm_object *object);
void adsm_object_unlist(struct adsm_object *object);

/** Grains that host pages are got by; the last one may be cut short. Thread:
 *  any. Signal: any handler */
size_t adsm_object_grains(const struct adsm_object *object);

/** Was any of them committed? Thread: any. Signal: any handler */
bool adsm_object_has_pages(const struct adsm_object *object);

/** It has all of its pages from the beginning. Thread: the one that makes it.
 *  Signal: never */
void adsm_object_adopt_pages(struct adsm_object *object);

/** Objects that are mapped at A. Thread: any. Signal: any handler */
size_t adsm_object_mapped(void);

/**
 * Take the object from A. Its bytes and states stay: an access maps it again.
 * Its lock is held exclusively.
 *
 * Return: ADSM_OK; ADSM_E_NOT_SHARED: it is not there; ADSM_E_LIMIT
 * Thread: any. Signal: fault path
 */
int adsm_object_unmap(struct adsm_object *object) ADSM_MUST_CHECK;

/** The same for good, without a lock where nobody finds the object any more:
 *  says so where it fails. Thread: any. Signal: never */
void adsm_object_give_back(struct adsm_object *object);

/** Give back mapping, pages and range of the arena; nobody uses the object.
 *  Thread: any. Signal: never */
void adsm_object_release_host(struct adsm_object *object);

#endif

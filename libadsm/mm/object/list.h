/*
 * The lists of objects: which there are, which are near the CPU, and walks over
 * either.
 *
 * Locks: the lists', rank OBJECT_LIST, never over anything that waits; those of
 * walks, rank OBJECT_TABLE, held over all visits.
 */
#ifndef ADSM_MM_LIST_H
#define ADSM_MM_LIST_H

#include "mm/object/object.h"

/** Enter the lists, or leave them. Thread: the one that makes or ends the
 *  object, whose lock it does not hold. Signal: never */
void adsm_object_list(struct adsm_object *object);
void adsm_object_unlist(struct adsm_object *object);

/** Enter or leave the list of near objects, where those are that have blocks on
 *  the host or are not gathered. Thread: any; the object's lock is held, shared
 *  at least. Signal: fault path */
void adsm_object_update_near(struct adsm_object *object);

/** Whether any object is near just now. Thread: any. Signal: any handler */
bool adsm_object_any_near(void);

/**
 * Call `visit` for every object of `accel` (NULL: all), near ones only or all of
 * them. The visitor may take the object's lock, and finds out behind it whether
 * the object still lives. Walks of other threads over objects of the same home,
 * or over all if this one is, wait for this one.
 *
 * Return: ADSM_OK; what a visitor returned otherwise, which ends the walk;
 *         ADSM_E_NOMEM: nobody was visited
 * Thread: any, no lock of rank OBJECT_TABLE or later held. Signal: never
 */
typedef int adsm_object_visit(struct adsm_object *object, void *context);
int adsm_object_each(struct adsm_accel *accel, bool near_only,
                     adsm_object_visit *visit, void *context);

/** Room for walks over the objects of `accel`, of which there is one more soon.
 *  Return: ADSM_OK; ADSM_E_NOMEM. Thread: any, no lock of rank OBJECT_TABLE or
 *  later held. Signal: never */
int adsm_object_provide_walks(const struct adsm_accel *accel) ADSM_MUST_CHECK;

/**
 * Call `take` for objects in the order of the list until it has taken `most`,
 * which go to the list's end; ADSM_E_LIMIT ends it. It is called with the lists'
 * lock held: it waits for nothing.
 *
 * Return: how many were taken
 * Thread: any; locks of objects may be held. Signal: fault path
 */
size_t adsm_object_rotate(size_t most, int (*take)(struct adsm_object *object));

#endif

/*
 * All that is noted of the blocks of an object, from its creation to its end.
 *
 * Each watch owns a member of `struct adsm_object` and says beside it what it
 * means. Here stands which there are.
 */
#ifndef ADSM_MM_WATCH_H
#define ADSM_MM_WATCH_H

#include "mm/object/object.h"

/**
 * Begin to note what is of use to an object, whose blocks are there and follow
 * `protocol`.
 *
 * @alone  it is no slab, in which allocations come one after the other
 * Return: ADSM_OK; ADSM_E_NOMEM: adsm_watch_end is to be called all the same
 * Thread: the one that makes it. Signal: never
 */
int adsm_watch_begin(struct adsm_object *object, bool alone,
                     const struct adsm_protocol *protocol) ADSM_MUST_CHECK;

/** Note nothing: of memory that the device shares nothing is sent or fetched.
 *  Thread: the one that makes it. Signal: never */
void adsm_watch_nothing(struct adsm_object *object);

/** The object's blocks are going away. Lock: none, nobody finds the object any
 *  more, or yet. Signal: never */
void adsm_watch_end(struct adsm_object *object);

#endif

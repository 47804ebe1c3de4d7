/*
 * The table of objects of which something is expected (ahead.h), and the word on
 * which sleeps who fetches it (mm/doors/fetcher.h).
 *
 * A place of the table belongs to its object from the first round that is
 * remembered to the object's end. Who wants something posts the place and wakes
 * the sleeper, in the fault path as well: futexes only. Who reads the table takes
 * nothing of it for granted but what the object's lock and generation say.
 *
 * Lock: the object's, shared at least, where nothing else is said; one for the
 * table, rank OBJECT_LIST.
 * Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_MM_AHEAD_TABLE_H
#define ADSM_MM_AHEAD_TABLE_H

#include "mm/watch/ahead.h"

enum { ADSM_AHEAD_OBJECTS = 256 };

/** Of no object: unused. It is written first and taken away last. */
struct adsm_ahead_place {
    struct adsm_object *_Atomic object;
    _Atomic uint32_t generation;
    _Atomic bool taken; /* by a call, and nothing asked since */
    _Atomic bool posted;
    _Atomic(const void *) little; /* kernel whose return brought little of it */
};

extern struct adsm_ahead_place adsm_ahead_table[ADSM_AHEAD_OBJECTS];

/** Places that were ever used, from the first on. Lock: none. Signal: any
 *  handler */
uint32_t adsm_ahead_places(void);

/** Enter the table, or leave it. Thread: any. Signal: never */
void adsm_ahead_enlist(struct adsm_object *object);
void adsm_ahead_delist(struct adsm_object *object);

/** A call takes a listed object: returns are to see what is expected of it. */
void adsm_ahead_expect(const struct adsm_object *object);

/** Have what is expected of a listed object fetched. */
void adsm_ahead_post(const struct adsm_object *object);

/** How often something was posted; _await: sleep until it is more than `seen`.
 *  Lock: none. Signal: never */
uint32_t adsm_ahead_posted(void);
void adsm_ahead_await(uint32_t seen);

#endif

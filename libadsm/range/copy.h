/*
 * A copy: memory on a device for a box of one object.
 *
 * What range/plan.c has to know of one. Whoever makes a copy fills it in; its
 * memory is that one's, and so is the order of use below.
 *
 * Lock: the object's, except for the links, which are the list owner's.
 */
#ifndef ADSM_RANGE_COPY_H
#define ADSM_RANGE_COPY_H

#include "range/order.h"

struct adsm_object;
struct adsm_store_range;

struct adsm_copy {
    struct adsm_object *object; /* whose bytes it has                    */
    adsmBox box;     /* of them; empty: none that the map knows of (edge.h) */
    adsmBox room;    /* what its memory is laid out for: the box, and what lies
                     beyond the array's edge                           */
    size_t pitch[3]; /* bytes between neighbours in each dimension  */
    struct adsm_daddr at; /* of the room's first byte                    */
    size_t bytes;         /* of device memory that it needs                   */
    size_t taken;         /* and that it has: the store gives whole pieces    */
    size_t guard; /* of them, before the room; with ADSM_CHECK behind it, too */
    struct adsm_store_range *range; /* its memory, unless it is the home's */
    struct adsm_order order;        /* who writes and reads it           */
    struct adsm_accel *accel;
    uint8_t holder;     /* its number in the object's map, given by the plan;
                           the host's: it has none (yet, or any more) */
    bool home;          /* all of the object; never evicted                */
    uint32_t uses;      /* parts that need it where it is                  */
    bool leaving;       /* about to be evicted, and out of the list        */
    bool passing;       /* all that used it was (adsm_want)                */
    uint64_t last_used; /* grows with every use             */
    struct adsm_copy *prev, *next; /* adsm_copies: the next one is younger */
};

enum { ADSM_COPY_ALIGN = 256 }; /* of what kernels get as the array's base */

/**
 * Bytes before a copy's room: with them the place where the array's first byte
 * would be, which kernels count from, is aligned as an allocation is. So what a
 * kernel may load at once from the array it may from any copy.
 */
static inline size_t adsm_copy_skew(const struct adsm_copy *copy)
{
    uint64_t first = 0;
    for (int d = 0; d < copy->room.nd; d++)
        first += (uint64_t)copy->room.lo[d] * copy->pitch[d];
    return first % ADSM_COPY_ALIGN;
}

/* Copies of one device, of all objects, by their last use. */
struct adsm_copies {
    struct adsm_copy *oldest, *youngest;
};

/** Take a copy out. Thread: one that may change the list. Signal: never */
static inline void adsm_copies_remove(struct adsm_copies *list,
                                      struct adsm_copy *copy)
{
    *(copy->prev ? &copy->prev->next : &list->oldest) = copy->next;
    *(copy->next ? &copy->next->prev : &list->youngest) = copy->prev;
    copy->prev = copy->next = NULL;
}

/** Enter a copy as the one used last. Thread, Signal: as above */
static inline void adsm_copies_append(struct adsm_copies *list,
                                      struct adsm_copy *copy)
{
    copy->prev = list->youngest;
    copy->next = NULL;
    *(list->youngest ? &list->youngest->next : &list->oldest) = copy;
    list->youngest = copy;
}

#endif

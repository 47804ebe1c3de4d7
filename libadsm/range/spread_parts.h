/* What the files of a call in parts share: spread*.c. */
#ifndef ADSM_RANGE_SPREAD_PARTS_H
#define ADSM_RANGE_SPREAD_PARTS_H

#include "range/copy.h"
#include "range/map.h"
#include "range/spread.h"

/* A walk over all wants of all parts. */
struct adsm_walk {
    struct adsm_part *parts, *part;
    struct adsm_want *want;
    int count, next_part, next_want;
};

static inline struct adsm_walk adsm_walk_of(struct adsm_part *parts, int count)
{
    return (struct adsm_walk){.parts = parts, .count = count};
}

static inline bool adsm_walk_next(struct adsm_walk *walk)
{
    while (walk->next_part < walk->count) {
        walk->part = &walk->parts[walk->next_part];
        if (walk->next_want < walk->part->count) {
            walk->want = &walk->part->wants[walk->next_want++];
            return true;
        }
        walk->next_part++;
        walk->next_want = 0;
    }
    return false;
}

/** Has the copy no number yet? */
static inline bool adsm_copy_is_new(const struct adsm_copy *copy)
{
    return !copy->home && copy->holder == ADSM_HOLDER_HOST;
}

/** Is it the first want of its object? */
bool adsm_walk_is_first(struct adsm_part *parts, int count,
                        const struct adsm_want *want);

/**
 * Pass 1 of a call: give each want a copy, one that is there or one that has no
 * memory and no number yet. The gates are closed.
 *
 * @failed  number of the part that it is about
 * Return: ADSM_OK; ADSM_E_NOT_SHARED; ADSM_E_NOMEM; ADSM_E_UNSUPPORTED; a
 *         device's error. What was chosen is to be let go of in any case
 * Lock:   takes one object's at a time. Thread: any. Signal: never
 */
int adsm_spread_choose(struct adsm_part *parts, int count,
                       int *failed) ADSM_MUST_CHECK;

/**
 * Pass 2: memory for all copies that are new, with evictions.
 *
 * @failed  number of the part that it is about
 * Return: as adsm_memory_get; what was got is let go of with the copies
 * Lock:   none is held. Thread: any. Signal: never
 */
int adsm_spread_get_memory(struct adsm_part *parts, int count,
                           int *failed) ADSM_MUST_CHECK;

/**
 * Give up copies that are larger than what the parts want of them: whole, they
 * would stay for as long as a piece of them is used. What only they have is
 * saved. No part has copies; adsm_spread_choose has been asked before.
 *
 * Return: whether there were any
 * Lock:   takes one object's at a time. Thread: any. Signal: never
 */
bool adsm_spread_leave_larger(struct adsm_part *parts, int count);

#endif

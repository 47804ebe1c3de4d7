/*
 * Uses: which bytes of an object device work names, and what it does to them.
 *
 * Made by those who know the work's arguments (call/launch.c, the interposed
 * launches), taken by the boundary. A use is a description and holds nothing:
 * the object may be freed, and its structure may serve another, before somebody
 * acts on the use. `generation` tells, and whoever takes the object's lock
 * compares it before anything else.
 *
 * What the work does is said by the modes of adsm.h; what follows from it for
 * the protocols is said here and nowhere else.
 */
#ifndef ADSM_MM_USE_H
#define ADSM_MM_USE_H

#include "adsm.h"
#include "mm/object/object.h"

enum { ADSM_STRIDES_MOST = 3 };

struct adsm_stride {
    size_t bytes, count;
};

/** Some rows of a range, the first one where it begins: from each on, others lie
 *  at up to `count` - 1 times the bytes of each stride. */
struct adsm_rows {
    size_t bytes; /* of a row */
    unsigned stride_count;
    struct adsm_stride stride[ADSM_STRIDES_MOST];
};

struct adsm_use {
    struct adsm_object *object;
    struct adsm_accel *home; /* the object's                           */
    uint32_t generation;     /* the object's, when it was found        */
    adsmMode mode;
    const uint8_t *at; /* first byte, where the program sees it  */
    size_t bytes;
    /* All that is used of these bytes, for a call that names all it uses; it
     * lives as long as the call is made. NULL: each of them. */
    const struct adsm_rows *rows;
};

/** Blocks of an object, one behind the other; `row` is the next to look at. */
struct adsm_use_run {
    uint32_t first, end;
    size_t row;
};

/**
 * The next blocks that a use has bytes in, those before being `run`; all zero to
 * begin with. A block may come more than once.
 *
 * Return: false: there are no more
 * Thread: any; the object's lock is held. Signal: fault path
 */
bool adsm_use_next(const struct adsm_use *use, struct adsm_use_run *run);

/**
 * Use of `bytes` at `at`, which lie in the object.
 *
 * Thread: any; the object's lock is held, shared at least. Signal: fault path
 */
static inline struct adsm_use adsm_use_of(struct adsm_object *object,
                                          const void *at, size_t bytes,
                                          adsmMode mode)
{
    return (struct adsm_use){
        object, object->home, atomic_load(&object->generation), mode, at,
        bytes,  NULL};
}

/**
 * Is the object still the one that was found?
 *
 * Thread: any; to act on the answer, the object's lock is held
 * Signal: fault path
 */
static inline bool adsm_use_fits(const struct adsm_use *use)
{
    return atomic_load(&use->object->live) &&
           atomic_load(&use->object->generation) == use->generation;
}

/** What a call that does this to a block is to the protocols. */
static inline enum adsm_event adsm_use_event(adsmMode mode)
{
    return mode == ADSM_IN    ? ADSM_CALL_IN
           : mode == ADSM_OUT ? ADSM_CALL_OUT
                              : ADSM_CALL;
}

/** Two uses of the same bytes are one: the safer mode wins. */
static inline adsmMode adsm_use_both(adsmMode one, adsmMode other)
{
    return one == other ? one : ADSM_INOUT;
}

#endif

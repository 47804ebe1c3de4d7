/* What ahead.c and ahead_serve.c use of each other. */
#ifndef ADSM_MM_AHEAD_PARTS_H
#define ADSM_MM_AHEAD_PARTS_H

#include "mm/watch/ahead.h"

/** What the CPU brought in the last round of one kernel. */
struct adsm_ahead_memory {
    const void *kernel;
    uint32_t wrong;  /* times in a row that less than half was wanted       */
    uint32_t skip;   /* times that it has to be right before anything comes */
    uint32_t span;   /* returns that may open it, before the next look ...  */
    uint32_t left;   /* ... and how many of these are left                  */
    uint32_t blocks; /* in the set                                          */
    uint64_t *set;   /* a bit for each block; NULL: nothing is remembered   */
};

/** Who fetches what is expected of an object, and how. */
enum adsm_ahead_way {
    ADSM_AHEAD_NOT,
    ADSM_AHEAD_THREAD, /* the thread                                        */
    ADSM_AHEAD_HERE,   /* whoever asks: it is little                        */
    ADSM_AHEAD_OPEN    /* ... and opens it, too: it was wanted each time    */
};

/** As adsm_ahead_want, at a return. What is due is the caller's from then on. */
enum adsm_ahead_way adsm_ahead_ask(struct adsm_object *object);

/** What is expected in the round; NULL: nothing is remembered of its kernel. */
const struct adsm_ahead_memory *
adsm_ahead_memory_of(const struct adsm_object *object);

/** Held blocks are about to come ahead; `failed`: they did not. */
void adsm_ahead_bring(struct adsm_object *object, uint32_t first,
                      uint32_t count);
void adsm_ahead_failed(struct adsm_object *object, uint32_t first,
                       uint32_t count);

/** Enter the table, or leave it. Thread: any. Signal: never */
void adsm_ahead_enlist(struct adsm_object *object);
void adsm_ahead_delist(struct adsm_object *object);

/** A call takes a listed object: returns are to see what is expected of it. */
void adsm_ahead_expect(const struct adsm_object *object);

/** Have the thread fetch what is expected of a listed object. */
void adsm_ahead_post(const struct adsm_object *object);

#endif

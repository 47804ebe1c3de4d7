/*
 * Why bytes move, whose they are, and how many moved for what.
 *
 * A cause is given by who starts a transfer and handed down to where the bytes
 * are counted; nobody on the way guesses it. Whose bytes they are is filled in
 * by the lowest layer that knows objects (mm/object/object.h). Owns no state: the
 * counters are base/stats.h's, one for each cause beside the sum of all.
 */
#ifndef ADSM_BASE_CAUSE_H
#define ADSM_BASE_CAUSE_H

#include "base/stats.h"

enum adsm_why {
#define CAUSE(name, help) ADSM_WHY_##name,
#include "base/causes.def"
#undef CAUSE
    ADSM_WHYS
};

struct adsm_cause {
    enum adsm_why why;
    uintptr_t instruction; /* that faulted; 0: none, or not known */
    uintptr_t object;      /* its address; 0: none, or not said yet */
    size_t object_bytes;
    size_t object_offset; /* of the first byte */
    size_t block_bytes;   /* of its blocks; 0: as with `object` */
};

/** A cause that is but a word, for the block it stands in:
 *  f(..., ADSM_CAUSE(call)) */
#define ADSM_CAUSE(name) (&(const struct adsm_cause){.why = ADSM_WHY_##name})

/** Its word, "fault". Signal: any handler */
const char *adsm_cause_word(enum adsm_why why);

/**
 * So many bytes went to a device, came from one, or were moved within or between
 * devices, for this cause. All bytes are counted here: so the counters of the
 * causes add up to that of their direction.
 *
 * Thread: any. Signal: any handler
 */
static inline void adsm_cause_up(const struct adsm_cause *cause, uint64_t bytes)
{
    ADSM_COUNT(bytes_up, bytes);
    adsm_stats_add((enum adsm_stat)(ADSM_STAT_up_fault + cause->why), bytes);
}

static inline void adsm_cause_down(const struct adsm_cause *cause,
                                   uint64_t bytes)
{
    ADSM_COUNT(bytes_down, bytes);
    adsm_stats_add((enum adsm_stat)(ADSM_STAT_down_fault + cause->why), bytes);
}

static inline void adsm_cause_device(const struct adsm_cause *cause,
                                     uint64_t bytes)
{
    ADSM_COUNT(bytes_device, bytes);
    adsm_stats_add((enum adsm_stat)(ADSM_STAT_device_fault + cause->why),
                   bytes);
}

_Static_assert(ADSM_WHY_fault == 0, "the first of each direction's counters");

#endif

/*
 * First fit over a run of equal granules: a bitmap, one bit each.
 *
 * Owns which granules are in use; knows nothing of what they are. Freed runs
 * join their neighbours by themselves. A search looks at 64 granules at a time
 * from the lowest free one: 20,000 live spans are some 300 words. Lock:
 * granules->lock, rank STREAM, held for the search only.
 */
#ifndef ADSM_ACCEL_GRANULE_H
#define ADSM_ACCEL_GRANULE_H

#include "base/lock.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct adsm_granules {
    struct adsm_lock lock;
    size_t count;  /* granules */
    size_t lowest; /* no granule below is free */
    size_t in_use;
    uint64_t *words; /* bit set = in use */
};

/**
 * Make a run of free granules.
 *
 * @count  granules, at least 1
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Thread: one
 * Signal: never
 */
int adsm_granules_init(struct adsm_granules *granules,
                       size_t count) ADSM_MUST_CHECK;
void adsm_granules_fini(struct adsm_granules *granules);

/** Words that `count` granules need. */
#define ADSM_GRANULE_WORDS(count) (((count) + 63) / 64)

/** The same in zeroed words of the caller, who ends them as well. */
void adsm_granules_init_in(struct adsm_granules *granules, uint64_t *words,
                           size_t count);

/**
 * Take the lowest run of `count` free granules.
 *
 * Return: index of the first; SIZE_MAX when there is no such run
 * Thread: any
 * Signal: fault path
 */
size_t adsm_granules_take(struct adsm_granules *granules, size_t count);

/**
 * The next run in use, as long as it goes.
 *
 * @from  granule to begin at; @count receives its length
 * Return: index of its first; SIZE_MAX when there is none
 * Thread: any
 * Signal: fault path
 */
size_t adsm_granules_used(struct adsm_granules *granules, size_t from,
                          size_t *count);

/** The next granule from `i` on that is used, or free; `count` when none is.
 *  Thread: caller sees to it that nothing changes. Signal: fault path. */
size_t adsm_granules_next(const struct adsm_granules *granules, size_t i,
                          bool used);

/** Take a certain run, which has to be free. Thread: any. Signal: fault path. */
void adsm_granules_take_at(struct adsm_granules *granules, size_t first,
                           size_t count);

/**
 * Give a run back.
 *
 * Return: false, with nothing changed, when a part of it is not in use
 * Thread: any
 * Signal: fault path
 */
bool adsm_granules_give(struct adsm_granules *granules, size_t first,
                        size_t count);

#endif

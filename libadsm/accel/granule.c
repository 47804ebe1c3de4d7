/*
 * First fit over equal granules; see granule.h.
 */
#include "accel/granule.h"

#include "accel/error.h"
#include <stdlib.h>

void adsm_granules_init_in(struct adsm_granules *granules, uint64_t *words,
                           size_t count)
{
    adsm_lock_init(&granules->lock, ADSM_RANK_STREAM);
    granules->words = words;
    granules->count = count;
    granules->lowest = 0;
    granules->in_use = 0;
}

int adsm_granules_init(struct adsm_granules *granules, size_t count)
{
    uint64_t *words = calloc(ADSM_GRANULE_WORDS(count), sizeof *words);
    if (!words)
        return adsm_accel_fail(
            ADSM_E_NOMEM, "no memory for the map of an address window", NULL);
    adsm_granules_init_in(granules, words, count);
    return ADSM_OK;
}

void adsm_granules_fini(struct adsm_granules *granules)
{
    free(granules->words);
    granules->words = NULL;
    granules->count = 0;
}

size_t adsm_granules_next(const struct adsm_granules *granules, size_t i,
                          bool used)
{
    uint64_t flip = used ? 0 : ~UINT64_C(0);
    while (i < granules->count) {
        uint64_t word = (granules->words[i / 64] ^ flip) >> i % 64;
        if (word) {
            i += (size_t)__builtin_ctzll(word);
            break;
        }
        i = (i / 64 + 1) * 64;
    }
    return i < granules->count ? i : granules->count;
}

/* Set or clear the bits of a run. */
static void mark(struct adsm_granules *granules, size_t first, size_t count,
                 bool used)
{
    while (count > 0) {
        size_t bit = first % 64;
        size_t n = count < 64 - bit ? count : 64 - bit;
        uint64_t mask = (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1)
                        << bit;
        if (used)
            granules->words[first / 64] |= mask;
        else
            granules->words[first / 64] &= ~mask;
        first += n;
        count -= n;
    }
}

size_t adsm_granules_take(struct adsm_granules *granules, size_t count)
{
    size_t found = SIZE_MAX;
    adsm_lock_acquire(&granules->lock);
    size_t first = adsm_granules_next(granules, granules->lowest, false);
    granules->lowest = first;
    while (count > 0 && first < granules->count &&
           granules->count - first >= count) {
        size_t end = adsm_granules_next(granules, first, true);
        if (end - first >= count) {
            found = first;
            mark(granules, first, count, true);
            granules->in_use += count;
            if (first == granules->lowest)
                granules->lowest = first + count;
            break;
        }
        first = adsm_granules_next(granules, end, false);
    }
    adsm_lock_release(&granules->lock);
    return found;
}

size_t adsm_granules_used(struct adsm_granules *granules, size_t from,
                          size_t *count)
{
    adsm_lock_acquire(&granules->lock);
    size_t first = adsm_granules_next(granules, from, true);
    *count = adsm_granules_next(granules, first, false) - first;
    bool none = first == granules->count;
    adsm_lock_release(&granules->lock);
    return none ? SIZE_MAX : first;
}

void adsm_granules_take_at(struct adsm_granules *granules, size_t first,
                           size_t count)
{
    adsm_lock_acquire(&granules->lock);
    mark(granules, first, count, true);
    granules->in_use += count;
    adsm_lock_release(&granules->lock);
}

bool adsm_granules_give(struct adsm_granules *granules, size_t first,
                        size_t count)
{
    if (first >= granules->count || count > granules->count - first)
        return false;
    adsm_lock_acquire(&granules->lock);
    bool whole = adsm_granules_next(granules, first, false) >= first + count;
    if (whole) {
        mark(granules, first, count, false);
        granules->in_use -= count;
        if (first < granules->lowest)
            granules->lowest = first;
    }
    adsm_lock_release(&granules->lock);
    return whole;
}

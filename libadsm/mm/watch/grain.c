/* Which blocks open together; see grain.h. */
#include "mm/watch/grain.h"

#include "base/option.h"
#include "mm/object/paging.h"
#include "mm/watch/ahead.h"
#include "mm/watch/sparse.h"
#include "mm/watch/twin.h"
#include "os/huge.h"

/* Grains that a write opens at once, one for as many that are open before. */
enum { GRAINS_MOST = 4, BEFORE = 4 };

/* Blocks of a grain, where they go by the default. Who sets their size, wants
 * them to be that unit. */
static uint32_t choose_reach(const struct adsm_object *object)
{
    if (adsm_option_is_from_environment(ADSM_OPTION_ID_block_size) ||
        adsm_paging_grains(object) == 0 ||
        object->block_bytes >= ADSM_HUGE_BYTES ||
        ADSM_HUGE_BYTES % object->block_bytes != 0)
        return 1;
    return (uint32_t)(ADSM_HUGE_BYTES / object->block_bytes);
}

void adsm_grain_init(struct adsm_object *object, bool alone)
{
    object->reach = alone ? choose_reach(object) : 1;
}

/* Blocks of 2 MiB that lie there already and are read: to open them moves
 * nothing, however small they are. */
static uint32_t blocks_there(const struct adsm_object *object)
{
    uint32_t n = (uint32_t)(ADSM_HUGE_BYTES / object->block_bytes);
    return n > object->reach ? n : object->reach;
}

/* Is block `i` open already for what another is accessed for, on its own? */
static bool is_open(const struct adsm_object *object, uint32_t i, bool write)
{
    return adsm_block_state(object, i) >=
               (write ? ADSM_DIRTY : ADSM_READ_ONLY) &&
           !(write && adsm_sparse_is_watched(object, i)) &&
           !(write && adsm_twin_is_sparse(object, i)) &&
           !adsm_ahead_is_unseen(object, i);
}

/* Blocks of whole grains from `i` on that a write opens which goes on from
 * others: a quarter of those at most, so that little is sent in vain, and on huge
 * pages that are there, so that none is taken in vain. 0: no whole grain */
static uint32_t grains_reach(const struct adsm_object *object, uint32_t i)
{
    uint32_t reach = object->reach, before = 0, n = 0;
    if (!object->paging || reach == 1 || i % reach != 0 ||
        adsm_block_state(object, i) != ADSM_READ_ONLY)
        return 0;
    while (before < BEFORE * GRAINS_MOST * reach && before < i &&
           is_open(object, i - before - 1, true))
        before++;
    size_t g = i / reach;
    while (n < before / reach / BEFORE && g + n < adsm_paging_grains(object) &&
           adsm_paging_is_whole(object, g + n))
        n++;
    return n * reach;
}

uint32_t adsm_grain_reach(const struct adsm_object *object, uint32_t i,
                          bool write, uint32_t limit)
{
    bool there = !write && adsm_ahead_is_unseen(object, i);
    uint32_t most = there ? blocks_there(object) : object->reach, open = 0;
    if (!write && !there &&
        adsm_options_get()->fetch_ahead == ADSM_OPT_FETCH_AHEAD_OFF)
        return 1;
    /* The first ones of a grain go on from the grain before. */
    while (open < most && open < i && is_open(object, i - open - 1, write))
        open++;
    uint32_t left = most - i % most;
    if (left > object->block_count - i)
        left = object->block_count - i;
    uint32_t n = open < left ? open : left;
    if (write && n == most) {
        uint32_t more = grains_reach(object, i);
        n = more > n ? more : n;
    }
    /* Early write-backs would close at once what is beyond. */
    if (write && n > limit / 2)
        n = limit / 2;
    return n > 0 ? n : 1;
}

uint32_t adsm_grain_around(const struct adsm_object *object, uint32_t i,
                           uint32_t *first)
{
    enum { PERCENT = 51 };
    uint32_t best = 1;
    *first = i;
    if (!adsm_ahead_follows_returns())
        return 1;
    for (uint32_t n = 2; n <= object->reach; n *= 2) {
        uint32_t begin = i / n * n, there = 0;
        uint32_t left = object->block_count - begin, all = left < n ? left : n;
        for (uint32_t k = begin; k < begin + all; k++)
            there += adsm_block_state(object, k) != ADSM_INVALID;
        if (100 * there > PERCENT * all) {
            *first = begin;
            best = all;
        }
    }
    return best;
}

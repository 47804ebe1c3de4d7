/* Which blocks open together, and the huge pages below them; see grain.h. */
#include "mm/watch/grain.h"

#include "base/option.h"
#include "mm/object/index.h"
#include "mm/state/write_back.h"
#include "mm/watch/ahead.h"
#include "mm/watch/sparse.h"
#include "os/huge.h"
#include "os/vm.h"

#include <stdlib.h>

/* Of a grain; what is not known to be on a huge page has none of them. */
enum {
    HUGE = 1,   /* its pages are one                                   */
    JOINED = 2, /* ... and so is their mapping at A                    */
    SPLIT = 4,  /* ... of which A has, or had, small pieces            */
};

/* Grains that a write opens at once, one for as many that are open before. */
enum { GRAINS_MOST = 4, BEFORE = 4 };

_Static_assert(ADSM_HUGE_BYTES == (size_t)1 << ADSM_TRACT_SHIFT,
               "a grain is a huge page");

/* Grains that the object has all of: the rest of the last one is another's, or
 * nobody's, at A. */
static size_t whole_grains(const struct adsm_object *object)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    return ((object->bytes + mask) & ~mask) / ADSM_HUGE_BYTES;
}

/* Blocks of a grain, where they go by the default. Who sets their size, wants
 * them to be that unit. */
static uint32_t choose_reach(const struct adsm_object *object)
{
    if (adsm_option_is_from_environment(ADSM_OPTION_ID_block_size) ||
        whole_grains(object) == 0 || object->block_bytes >= ADSM_HUGE_BYTES ||
        ADSM_HUGE_BYTES % object->block_bytes != 0)
        return 1;
    return (uint32_t)(ADSM_HUGE_BYTES / object->block_bytes);
}

int adsm_grain_init(struct adsm_object *object, size_t unit)
{
    bool alone = unit >= object->bytes; /* no slab */
    object->reach = alone ? choose_reach(object) : 1;
    object->paging = NULL;
    uintptr_t both = (uintptr_t)object->host | (uintptr_t)object->shadow.shadow;
    if (!alone || whole_grains(object) == 0 || both % ADSM_HUGE_BYTES != 0 ||
        !adsm_huge_is_wanted())
        return ADSM_OK;
    object->paging = calloc(whole_grains(object), 1);
    return object->paging ? ADSM_OK : ADSM_E_NOMEM;
}

void adsm_grain_fini(struct adsm_object *object)
{
    free((void *)object->paging);
    object->paging = NULL;
}

/* Blocks of 2 MiB that lie there already and are read: to open them moves
 * nothing, however small they are. */
static uint32_t blocks_there(const struct adsm_object *object)
{
    uint32_t n = (uint32_t)(ADSM_HUGE_BYTES / object->block_bytes);
    return n > object->reach ? n : object->reach;
}

static uint8_t get(const struct adsm_object *object, size_t grain)
{
    return atomic_load_explicit(&object->paging[grain], memory_order_relaxed);
}

/* Is block `i` open already for what another is accessed for, on its own? */
static bool is_open(const struct adsm_object *object, uint32_t i, bool write)
{
    return adsm_block_state(object, i) >=
               (write ? ADSM_DIRTY : ADSM_READ_ONLY) &&
           !(write && adsm_sparse_is_watched(object, i)) &&
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
    while (n < before / reach / BEFORE && g + n < whole_grains(object) &&
           (get(object, g + n) & (HUGE | SPLIT)) == HUGE)
        n++;
    return n * reach;
}

uint32_t adsm_grain_reach(const struct adsm_object *object, uint32_t i,
                          bool write)
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
    uint32_t limit = write ? adsm_write_back_limit() / 2 : n;
    n = n < limit ? n : limit;
    return n > 0 ? n : 1;
}

uint32_t adsm_grain_around(const struct adsm_object *object, uint32_t i,
                           uint32_t *first)
{
    enum { PERCENT = 51 };
    uint32_t best = 1;
    *first = i;
    if (adsm_options_get()->fetch_ahead != ADSM_OPT_FETCH_AHEAD_AUTO)
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

static void set(struct adsm_object *object, size_t grain, uint8_t bits)
{
    /* Relaxed: the block's byte orders what it tells. */
    atomic_fetch_or_explicit(&object->paging[grain], bits,
                             memory_order_relaxed);
}

/* Return: those of `bits` that were set. */
static uint8_t clear(struct adsm_object *object, size_t grain, uint8_t bits)
{
    return atomic_fetch_and_explicit(&object->paging[grain], (uint8_t)~bits,
                                     memory_order_relaxed) &
           bits;
}

/* The grains all of which lie in [offset, + bytes): [*first, return value). */
static size_t grains_in(const struct adsm_object *object, size_t offset,
                        size_t bytes, size_t *first)
{
    size_t last = (offset + bytes) / ADSM_HUGE_BYTES;
    *first = (offset + ADSM_HUGE_BYTES - 1) / ADSM_HUGE_BYTES;
    if (!object->paging)
        return *first;
    return last < whole_grains(object) ? last : whole_grains(object);
}

void adsm_grain_make(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t g, last = grains_in(object, offset, bytes, &g);
    if (g >= last ||
        !adsm_huge_make((uintptr_t)object->shadow.shadow + g * ADSM_HUGE_BYTES,
                        (last - g) * ADSM_HUGE_BYTES))
        return;
    for (; g < last; g++)
        set(object, g, HUGE);
}

/* The kernel takes the mapping away and fills in no small pages in its place:
 * blocks that are open would get each by a fault of its own. */
static void split(struct adsm_object *object, size_t grain)
{
    if (grain >= whole_grains(object) || !(get(object, grain) & HUGE))
        return;
    set(object, grain, SPLIT);
    if (!clear(object, grain, JOINED))
        return;
    uint32_t last = adsm_block_of(object, (grain + 1) * ADSM_HUGE_BYTES - 1);
    for (uint32_t i = adsm_block_of(object, grain * ADSM_HUGE_BYTES);
         i <= last && i < object->block_count; i++)
        (void)adsm_block_change(object, i, ADSM_BLOCK_MAPPED, 0);
}

void adsm_grain_split(struct adsm_object *object, size_t offset, size_t bytes)
{
    if (!object->paging)
        return;
    if (offset % ADSM_HUGE_BYTES != 0)
        split(object, offset / ADSM_HUGE_BYTES);
    if ((offset + bytes) % ADSM_HUGE_BYTES != 0)
        split(object, (offset + bytes) / ADSM_HUGE_BYTES);
}

void adsm_grain_shatter(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t first = offset / ADSM_HUGE_BYTES;
    size_t last = (offset + bytes - 1) / ADSM_HUGE_BYTES;
    for (size_t g = first; object->paging && g <= last; g++)
        split(object, g);
}

void adsm_grain_join(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t g, last = grains_in(object, offset, bytes, &g);
    for (; g < last; g++)
        if ((get(object, g) & (HUGE | SPLIT)) == (HUGE | SPLIT) &&
            adsm_huge_rejoin((uintptr_t)object->host + g * ADSM_HUGE_BYTES,
                             ADSM_HUGE_BYTES))
            (void)clear(object, g, SPLIT);
}

void adsm_grain_joined(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t g, last = grains_in(object, offset, bytes, &g);
    for (; g < last; g++)
        if ((get(object, g) & (HUGE | SPLIT)) == HUGE)
            set(object, g, JOINED);
}

void adsm_grain_unmapped(struct adsm_object *object)
{
    for (size_t g = 0; object->paging && g < whole_grains(object); g++)
        (void)clear(object, g, JOINED | SPLIT);
}

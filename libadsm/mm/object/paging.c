/* Which grains lie on huge pages, and are mapped so; see paging.h. */
#include "mm/object/paging.h"

#include "mm/object/index.h"
#include "os/huge.h"
#include "os/vm.h"

#include <stdlib.h>

/* Of a grain; what is not known to be on a huge page has none of them. */
enum {
    HUGE = 1,   /* its pages are one                                   */
    JOINED = 2, /* ... and so is their mapping at A                    */
    SPLIT = 4,  /* ... of which A has, or had, small pieces            */
};

_Static_assert(ADSM_HUGE_BYTES == (size_t)1 << ADSM_TRACT_SHIFT,
               "a grain is a huge page");

size_t adsm_paging_grains(const struct adsm_object *object)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    return ((object->bytes + mask) & ~mask) / ADSM_HUGE_BYTES;
}

int adsm_paging_init(struct adsm_object *object, bool alone)
{
    uintptr_t both = (uintptr_t)object->host | (uintptr_t)object->shadow.shadow;
    object->paging = NULL;
    if (!alone || adsm_paging_grains(object) == 0 ||
        both % ADSM_HUGE_BYTES != 0 || !adsm_huge_is_wanted())
        return ADSM_OK;
    object->paging = calloc(adsm_paging_grains(object), 1);
    return object->paging ? ADSM_OK : ADSM_E_NOMEM;
}

void adsm_paging_fini(struct adsm_object *object)
{
    free((void *)object->paging);
    object->paging = NULL;
}

static uint8_t get(const struct adsm_object *object, size_t grain)
{
    return atomic_load_explicit(&object->paging[grain], memory_order_relaxed);
}

bool adsm_paging_is_whole(const struct adsm_object *object, size_t grain)
{
    return (get(object, grain) & (HUGE | SPLIT)) == HUGE;
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
    return last < adsm_paging_grains(object) ? last
                                             : adsm_paging_grains(object);
}

bool adsm_paging_is_huge(const struct adsm_object *object, size_t grain)
{
    return object->paging && grain < adsm_paging_grains(object) &&
           (get(object, grain) & HUGE);
}

void adsm_paging_found(struct adsm_object *object, size_t grain)
{
    if (object->paging && grain < adsm_paging_grains(object))
        set(object, grain, HUGE);
}

/* Grains [g, last), none of which is on one yet. */
static void make(struct adsm_object *object, size_t g, size_t last)
{
    if (!adsm_huge_make((uintptr_t)object->shadow.shadow + g * ADSM_HUGE_BYTES,
                        (last - g) * ADSM_HUGE_BYTES))
        return;
    for (; g < last; g++)
        set(object, g, HUGE);
}

void adsm_paging_make(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t end, g, last = grains_in(object, offset, bytes, &g);
    for (; g < last; g = end + 1) {
        for (end = g; end < last && !(get(object, end) & HUGE);)
            end++;
        if (end > g)
            make(object, g, end);
    }
}

/* The kernel takes the mapping away and fills in no small pages in its place:
 * blocks that are open would get each by a fault of its own. */
static void split(struct adsm_object *object, size_t grain)
{
    if (grain >= adsm_paging_grains(object) || !(get(object, grain) & HUGE))
        return;
    set(object, grain, SPLIT);
    if (!clear(object, grain, JOINED))
        return;
    uint32_t last = adsm_block_of(object, (grain + 1) * ADSM_HUGE_BYTES - 1);
    for (uint32_t i = adsm_block_of(object, grain * ADSM_HUGE_BYTES);
         i <= last && i < object->block_count; i++)
        (void)adsm_block_change(object, i, ADSM_BLOCK_MAPPED, 0);
}

void adsm_paging_split(struct adsm_object *object, size_t offset, size_t bytes)
{
    if (!object->paging)
        return;
    if (offset % ADSM_HUGE_BYTES != 0)
        split(object, offset / ADSM_HUGE_BYTES);
    if ((offset + bytes) % ADSM_HUGE_BYTES != 0)
        split(object, (offset + bytes) / ADSM_HUGE_BYTES);
}

void adsm_paging_shatter(struct adsm_object *object, size_t offset,
                         size_t bytes)
{
    size_t first = offset / ADSM_HUGE_BYTES;
    size_t last = (offset + bytes - 1) / ADSM_HUGE_BYTES;
    for (size_t g = first; object->paging && g <= last; g++)
        split(object, g);
}

void adsm_paging_join(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t g, last = grains_in(object, offset, bytes, &g);
    for (; g < last; g++)
        if ((get(object, g) & (HUGE | SPLIT)) == (HUGE | SPLIT) &&
            adsm_huge_rejoin((uintptr_t)object->host + g * ADSM_HUGE_BYTES,
                             ADSM_HUGE_BYTES))
            (void)clear(object, g, SPLIT);
}

void adsm_paging_joined(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t g, last = grains_in(object, offset, bytes, &g);
    for (; g < last; g++)
        if ((get(object, g) & (HUGE | SPLIT)) == HUGE)
            set(object, g, JOINED);
}

void adsm_paging_unmapped(struct adsm_object *object)
{
    for (size_t g = 0; object->paging && g < adsm_paging_grains(object); g++)
        (void)clear(object, g, JOINED | SPLIT);
}

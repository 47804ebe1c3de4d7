/*
 * The map of holders: see range/map.h. Its boxes are put together again in
 * range/map_join.c.
 */
#include "range/map.h"
#include "range/map_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAP_FIRST_CAPACITY = 16,
    /* Unsorted boxes that are looked at one by one: so many, and one for so many
     * sorted ones, so that sorting is seldom. */
    MAP_UNSORTED = 64,
    MAP_SORTED_EACH = 16,
};

int adsm_map_init(struct adsm_map *map, const adsmBox *whole, unsigned holder)
{
    memset(map, 0, sizeof *map);
    map->entries = malloc(MAP_FIRST_CAPACITY * sizeof *map->entries);
    if (!map->entries)
        return ADSM_E_NOMEM;
    map->capacity = MAP_FIRST_CAPACITY;
    adsm_map_reset(map, whole, holder);
    return ADSM_OK;
}

void adsm_map_fini(struct adsm_map *map)
{
    free(map->entries);
    memset(map, 0, sizeof *map);
}

void adsm_map_reset(struct adsm_map *map, const adsmBox *whole, unsigned holder)
{
    assert(map->holds == 0);
    map->whole = *whole;
    map->count = map->sorted = 1;
    map->changed = false;
    map->entries[0].box = *whole;
    map->entries[0].holders = adsm_holder_set_of(holder);
}

void adsm_map_hold(struct adsm_map *map)
{
    map->holds++;
}

void adsm_map_release(struct adsm_map *map)
{
    assert(map->holds > 0);
    if (--map->holds > 0 || !map->changed)
        return;
    map->changed = false;
    adsm_map_join(map);
}

/* How many boxes remain outside `box` when it is cut out of `entry`. */
static uint32_t map_cuts(const adsmBox *entry, const adsmBox *box)
{
    uint32_t cuts = 0;
    for (int d = 0; d < box->nd; d++)
        cuts += (uint32_t)(entry->lo[d] < box->lo[d]) +
                (uint32_t)(entry->hi[d] > box->hi[d]);
    return cuts;
}

static int map_grow(struct adsm_map *map, uint32_t more)
{
    if (more <= map->capacity - map->count)
        return ADSM_OK;
    size_t capacity = map->capacity;
    while (capacity < (size_t)map->count + more)
        capacity *= 2;
    if (capacity > UINT32_MAX)
        return ADSM_E_NOMEM;
    void *entries = realloc(map->entries, capacity * sizeof *map->entries);
    if (!entries)
        return ADSM_E_NOMEM;
    map->entries = entries;
    map->capacity = (uint32_t)capacity;
    return ADSM_OK;
}

/* Cut entry `i`. One of its parts has its lower corner and takes its place, so
 * that the sorted ones stay sorted; the others follow at the end. */
static void map_cut(struct adsm_map *map, uint32_t i, const adsmBox *meet)
{
    adsmBox parts[ADSM_BOX_PIECES + 1];
    struct adsm_map_entry *entry = &map->entries[i];
    int n = adsm_box_subtract(&entry->box, meet, parts);
    parts[n++] = *meet;
    adsmBox old = entry->box;
    for (int k = 0; k < n; k++) {
        if (memcmp(parts[k].lo, old.lo, sizeof old.lo) == 0) {
            entry->box = parts[k];
            continue;
        }
        struct adsm_map_entry *added = &map->entries[map->count++];
        added->box = parts[k];
        added->holders = entry->holders;
    }
}

int adsm_map_reserve(struct adsm_map *map, const adsmBox *box)
{
    assert(map->holds > 0);
    uint32_t more = 0, count = map->count;
    if (count - map->sorted > MAP_UNSORTED + map->sorted / MAP_SORTED_EACH)
        adsm_map_sort(map);
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        more += map_cuts(&w.entry->box, box);
    if (more == 0)
        return ADSM_OK;
    if (map_grow(map, more) != ADSM_OK)
        return ADSM_E_NOMEM;
    for (uint32_t i = adsm_map_first(map, box); i < count; i++) {
        const adsmBox *whole = &map->entries[i].box;
        if (!adsm_box_meets(whole, box) || adsm_box_within(whole, box))
            continue;
        adsmBox meet = adsm_box_meet(whole, box);
        map_cut(map, i, &meet);
    }
    map->changed = true;
    return ADSM_OK;
}

/* The next entry to change, which was reserved. */
static struct adsm_holder_set *map_next(struct adsm_map *map,
                                        struct adsm_map_walk *walk)
{
    if (!adsm_map_next(walk))
        return NULL;
    assert(map->holds > 0);
    assert(adsm_box_within(&walk->entry->box, &walk->within));
    return &walk->entry->holders;
}

void adsm_map_add(struct adsm_map *map, const adsmBox *box, unsigned holder)
{
    struct adsm_map_walk walk = adsm_map_walk(map, box);
    struct adsm_holder_set *set;
    while ((set = map_next(map, &walk)) != NULL) {
        map->changed |= !adsm_holder_set_has(set, holder);
        set->bits[holder / 64] |= (uint64_t)1 << (holder % 64);
    }
}

void adsm_map_only(struct adsm_map *map, const adsmBox *box, unsigned holder)
{
    struct adsm_map_walk walk = adsm_map_walk(map, box);
    struct adsm_holder_set *set;
    while ((set = map_next(map, &walk)) != NULL) {
        map->changed |= !adsm_holder_set_is_only(set, holder);
        *set = adsm_holder_set_of(holder);
    }
}

void adsm_map_remove(struct adsm_map *map, const adsmBox *box, unsigned holder)
{
    struct adsm_map_walk walk = adsm_map_walk(map, box);
    struct adsm_holder_set *set;
    while ((set = map_next(map, &walk)) != NULL) {
        bool last = adsm_holder_set_is_only(set, holder);
        assert(!last);
        if (last || !adsm_holder_set_has(set, holder))
            continue;
        map->changed = true;
        set->bits[holder / 64] &= ~((uint64_t)1 << (holder % 64));
    }
}

uint32_t adsm_map_first(const struct adsm_map *map, const adsmBox *box)
{
    /* In more dimensions one that begins long before may reach up to here. */
    if (box->nd > 1 || map->sorted < 16)
        return 0;
    uint32_t low = 0, high = map->sorted;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (map->entries[middle].box.hi[0] <= box->lo[0])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t adsm_map_bytes_with(const struct adsm_map *map, const adsmBox *box,
                           unsigned holder)
{
    size_t bytes = 0;
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        if (adsm_holder_set_has(&w.entry->holders, holder))
            bytes += adsm_box_bytes(&w.piece);
    return bytes;
}

size_t adsm_map_bytes_without(const struct adsm_map *map, const adsmBox *box,
                              unsigned holder)
{
    return adsm_box_bytes(box) - adsm_map_bytes_with(map, box, holder);
}

size_t adsm_map_bytes_only(const struct adsm_map *map, const adsmBox *box,
                           unsigned holder)
{
    size_t bytes = 0;
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        if (adsm_holder_set_is_only(&w.entry->holders, holder))
            bytes += adsm_box_bytes(&w.piece);
    return bytes;
}

/*
 * The boxes of a map are put together; and what a map is, adsm_map_is_valid().
 *
 * In sorted order the neighbour of a box behind it in dimension d is found by
 * its lower corner. A box that takes in its neighbour keeps its own corner, so
 * the order stays; what was taken in is marked and squeezed out afterwards. The
 * innermost dimension comes first, as cutting begins with the outermost.
 */
#include "range/map_parts.h"

#include <stdlib.h>
#include <string.h>

enum { JOIN_FEW = 24 }; /* unsorted boxes that are inserted one by one */

/* Which of two corners comes first; those of a map are all different. */
static int corner_order(const long a[3], const long b[3])
{
    for (int d = 0; d < 3; d++)
        if (a[d] != b[d])
            return a[d] < b[d] ? -1 : 1;
    return 0;
}

static int entry_order(const void *a, const void *b)
{
    const struct adsm_map_entry *left = a, *right = b;
    return corner_order(left->box.lo, right->box.lo);
}

/* The first entry from `low` on whose corner is not before `corner`. */
static uint32_t map_find(const struct adsm_map *map, uint32_t low,
                         uint32_t high, const long corner[3])
{
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (corner_order(map->entries[middle].box.lo, corner) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void adsm_map_sort(struct adsm_map *map)
{
    if (map->count - map->sorted > JOIN_FEW) {
        qsort(map->entries, map->count, sizeof *map->entries, entry_order);
        map->sorted = map->count;
    }
    for (; map->sorted < map->count; map->sorted++) {
        struct adsm_map_entry entry = map->entries[map->sorted];
        uint32_t at = map_find(map, 0, map->sorted, entry.box.lo);
        memmove(&map->entries[at + 1], &map->entries[at],
                (map->sorted - at) * sizeof entry);
        map->entries[at] = entry;
    }
}

static bool is_taken(const struct adsm_map_entry *entry)
{
    return entry->box.nd == 0;
}

/* The neighbour of entry `i` in dimension `d` that can become part of it. */
static struct adsm_map_entry *map_neighbour(const struct adsm_map *map,
                                            uint32_t i, int d)
{
    const struct adsm_map_entry *entry = &map->entries[i];
    if (entry->box.hi[d] == map->whole.hi[d])
        return NULL;
    long corner[3];
    memcpy(corner, entry->box.lo, sizeof corner);
    corner[d] = entry->box.hi[d];
    uint32_t at = map_find(map, i + 1, map->count, corner);
    if (at == map->count)
        return NULL;
    struct adsm_map_entry *other = &map->entries[at];
    if (is_taken(other) || corner_order(other->box.lo, corner) != 0 ||
        !adsm_holder_set_equal(&other->holders, &entry->holders))
        return NULL;
    for (int e = 0; e < map->whole.nd; e++)
        if (e != d && other->box.hi[e] != entry->box.hi[e])
            return NULL;
    return other;
}

static void map_squeeze(struct adsm_map *map)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->count; i++)
        if (!is_taken(&map->entries[i]))
            map->entries[kept++] = map->entries[i];
    map->count = map->sorted = kept;
}

static bool map_join_along(struct adsm_map *map, int d)
{
    bool joined = false;
    for (uint32_t i = 0; i < map->count; i++) {
        struct adsm_map_entry *entry = &map->entries[i], *other;
        if (is_taken(entry))
            continue;
        while ((other = map_neighbour(map, i, d)) != NULL) {
            entry->box.hi[d] = other->box.hi[d];
            other->box.nd = 0;
            joined = true;
        }
    }
    if (joined)
        map_squeeze(map);
    return joined;
}

void adsm_map_join(struct adsm_map *map)
{
    bool joined;
    adsm_map_sort(map);
    do {
        joined = false;
        for (int d = map->whole.nd - 1; d >= 0; d--)
            joined |= map_join_along(map, d);
        /* One dimension: a pass leaves no neighbours. */
    } while (joined && map->whole.nd > 1);
}

/* Two entries are disjoint and, while nobody holds the map, not to be joined. */
static bool are_apart(const struct adsm_map *map, uint32_t i, uint32_t k)
{
    const struct adsm_map_entry *a = &map->entries[i], *b = &map->entries[k];
    adsmBox both;
    if (adsm_box_meets(&a->box, &b->box))
        return false;
    if (k < map->sorted && entry_order(a, b) >= 0)
        return false;
    return map->holds > 0 || !adsm_holder_set_equal(&a->holders, &b->holders) ||
           !adsm_box_join(&a->box, &b->box, &both);
}

bool adsm_map_is_valid(const struct adsm_map *map)
{
    size_t bytes = 0;
    if (map->count == 0 || map->count > map->capacity ||
        map->sorted > map->count ||
        (map->holds == 0 && map->sorted < map->count))
        return false;
    for (uint32_t i = 0; i < map->count; i++) {
        const struct adsm_map_entry *entry = &map->entries[i];
        if (entry->box.nd != map->whole.nd || adsm_box_is_empty(&entry->box) ||
            !adsm_box_within(&entry->box, &map->whole) ||
            adsm_holder_set_next(&entry->holders, 0) == ADSM_HOLDERS)
            return false;
        for (uint32_t k = i + 1; k < map->count; k++)
            if (!are_apart(map, i, k))
                return false;
        bytes += adsm_box_bytes(&entry->box);
    }
    return bytes == adsm_box_bytes(&map->whole);
}

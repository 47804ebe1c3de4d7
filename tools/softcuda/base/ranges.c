/*
 * Owns: first-fit bookkeeping of free ranges in a sorted array.
 * Does not own: a lock (the owner's), or what the numbers mean.
 */
#include "base/ranges.h"

#include <stdlib.h>
#include <string.h>

bool sc_ranges_init(struct sc_ranges *set, uint64_t base, uint64_t bytes)
{
    set->capacity = 16;
    set->list = malloc(set->capacity * sizeof *set->list);
    if (!set->list)
        return false;
    set->list[0] = (struct sc_range){base, bytes};
    set->count = bytes > 0;
    return true;
}

void sc_ranges_fini(struct sc_ranges *set)
{
    free(set->list);
    *set = (struct sc_ranges){0};
}

/* Room for two more is kept always, so giving a range back never fails. */
static bool grow(struct sc_ranges *set)
{
    if (set->count + 2 <= set->capacity)
        return true;
    size_t capacity = set->capacity * 2;
    struct sc_range *list = realloc(set->list, capacity * sizeof *list);
    if (!list)
        return false;
    set->list = list;
    set->capacity = capacity;
    return true;
}

static void insert(struct sc_ranges *set, size_t at, struct sc_range range)
{
    memmove(set->list + at + 1, set->list + at,
            (set->count - at) * sizeof *set->list);
    set->list[at] = range;
    set->count++;
}

static void erase(struct sc_ranges *set, size_t at)
{
    set->count--;
    memmove(set->list + at, set->list + at + 1,
            (set->count - at) * sizeof *set->list);
}

static void carve(struct sc_ranges *set, size_t i, uint64_t base,
                  uint64_t bytes)
{
    struct sc_range whole = set->list[i];
    uint64_t before = base - whole.base;
    uint64_t after = whole.bytes - before - bytes;
    if (before > 0 && after > 0) {
        set->list[i].bytes = before;
        insert(set, i + 1, (struct sc_range){base + bytes, after});
    } else if (before > 0) {
        set->list[i].bytes = before;
    } else if (after > 0) {
        set->list[i] = (struct sc_range){base + bytes, after};
    } else {
        erase(set, i);
    }
}

uint64_t sc_ranges_take(struct sc_ranges *set, uint64_t bytes, uint64_t align)
{
    if (bytes == 0 || !grow(set))
        return SC_RANGES_NONE;
    for (size_t i = 0; i < set->count; i++) {
        struct sc_range r = set->list[i];
        uint64_t base = (r.base + align - 1) & ~(align - 1);
        uint64_t skip = base - r.base;
        if (skip >= r.bytes || r.bytes - skip < bytes)
            continue;
        carve(set, i, base, bytes);
        return base;
    }
    return SC_RANGES_NONE;
}

/* First range whose end lies behind `base`. */
static size_t find(const struct sc_ranges *set, uint64_t base)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (set->list[mid].base + set->list[mid].bytes <= base)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool sc_ranges_take_at(struct sc_ranges *set, uint64_t base, uint64_t bytes)
{
    if (bytes == 0 || !grow(set))
        return false;
    size_t i = find(set, base);
    if (i == set->count)
        return false;
    struct sc_range r = set->list[i];
    if (base < r.base || r.bytes - (base - r.base) < bytes)
        return false;
    carve(set, i, base, bytes);
    return true;
}

void sc_ranges_give(struct sc_ranges *set, uint64_t base, uint64_t bytes)
{
    size_t i = find(set, base);
    bool joins_left =
        i > 0 && set->list[i - 1].base + set->list[i - 1].bytes == base;
    bool joins_right = i < set->count && base + bytes == set->list[i].base;
    if (joins_left && joins_right) {
        set->list[i - 1].bytes += bytes + set->list[i].bytes;
        erase(set, i);
    } else if (joins_left) {
        set->list[i - 1].bytes += bytes;
    } else if (joins_right) {
        set->list[i].base = base;
        set->list[i].bytes += bytes;
    } else if (grow(set)) {
        insert(set, i, (struct sc_range){base, bytes});
    }
}

/*
 * Holders that go, by eviction or with their device, and the lookup of a fault,
 * which only reads. See range/plan.h.
 */
#include "range/plan_parts.h"

#include <assert.h>

enum { THIN_CLASSES = 48 }; /* a volume has 47 bits */

static void held_leave(struct adsm_held *held, struct adsm_copy *copy)
{
    held->copies[copy->holder] = NULL;
    while (held->top > ADSM_HOLDER_HOME + 1 && !held->copies[held->top - 1])
        held->top--;
}

static void set_remove(struct adsm_map *map, struct adsm_holder_set *set,
                       unsigned holder)
{
    set->bits[holder / 64] &= ~((uint64_t)1 << (holder % 64));
    map->changed = true;
}

/* A copy's bits lie inside its box, and only in whole entries. */
int adsm_plan_evict(struct adsm_held *held, struct adsm_copy *copy,
                    struct adsm_moves *moves)
{
    struct adsm_map *map = &held->map;
    uint32_t pieces = 0, first = moves->count;
    unsigned holder = copy->holder;
    assert(copy->uses == 0 && !copy->home);
    for (struct adsm_map_walk w = adsm_map_walk(map, &copy->box);
         adsm_map_next(&w);)
        pieces++;
    int status = adsm_moves_reserve(moves, pieces);
    if (status != ADSM_OK)
        return status;
    adsm_map_hold(map);
    for (struct adsm_map_walk w = adsm_map_walk(map, &copy->box);
         adsm_map_next(&w);) {
        struct adsm_holder_set *set = &w.entry->holders;
        if (!adsm_holder_set_has(set, holder))
            continue;
        if (adsm_holder_set_is_only(set, holder)) {
            if (!ADSM_PLANTED("evict-loses"))
                adsm_moves_add(moves, first, holder, ADSM_HOLDER_HOST,
                               &w.entry->box);
            *set = adsm_holder_set_of(ADSM_HOLDER_HOST);
            map->changed = true;
        } else {
            set_remove(map, set, holder);
        }
    }
    held_leave(held, copy);
    adsm_map_release(map);
    return ADSM_OK;
}

void adsm_held_alone(struct adsm_held *held)
{
    const adsmBox whole = held->map.whole;
    struct adsm_copy *home = held->copies[ADSM_HOLDER_HOME];
    assert(held->top == ADSM_HOLDER_HOME + 1 && held->map.holds == 0);
    if (!ADSM_PLANTED("away-keeps-holders"))
        adsm_map_reset(&held->map, &whole, ADSM_HOLDER_HOST);
    if (home)
        held_leave(held, home);
}

static size_t lost_with(struct adsm_held *held, const struct adsm_copy *copy)
{
    size_t lost = 0;
    struct adsm_map *map = &held->map;
    for (struct adsm_map_walk w = adsm_map_walk(map, &copy->box);
         adsm_map_next(&w);) {
        struct adsm_holder_set *set = &w.entry->holders;
        if (!adsm_holder_set_has(set, copy->holder))
            continue;
        set_remove(map, set, copy->holder);
        if (adsm_holder_set_next(set, 0) < ADSM_HOLDERS)
            continue;
        *set = adsm_holder_set_of(ADSM_HOLDER_HOST);
        if (!ADSM_PLANTED("loss-unreported"))
            lost += adsm_box_bytes(&w.entry->box);
    }
    return lost;
}

size_t adsm_plan_lost(struct adsm_held *held, const struct adsm_accel *accel,
                      adsm_plan_drop *drop, void *context)
{
    size_t lost = 0;
    adsm_map_hold(&held->map);
    for (uint32_t i = held->top; i-- > ADSM_HOLDER_HOME;) {
        struct adsm_copy *copy = held->copies[i];
        if (!copy || copy->accel != accel)
            continue;
        lost += lost_with(held, copy);
        held_leave(held, copy);
        if (drop)
            drop(copy, context);
    }
    adsm_map_release(&held->map);
    return lost;
}

/* The class of a volume: its number of bits. */
static int thin_class(const adsmBox *box)
{
    return 63 - __builtin_clzll(adsm_box_bytes(box));
}

/* The largest class of the smaller half of all boxes. */
static int thin_limit(const struct adsm_map *map)
{
    uint32_t counts[THIN_CLASSES] = {0}, seen = 0;
    int class = 0;
    for (uint32_t i = 0; i < map->count; i++)
        counts[thin_class(&map->entries[i].box)]++;
    while ((seen += counts[class]) < map->count / 2)
        class ++;
    return class;
}

/* One round may join few boxes, where their neighbours are larger ones; in the
 * end all of the object is one. */
int adsm_plan_thin(struct adsm_held *held, struct adsm_moves *moves)
{
    struct adsm_map *map = &held->map;
    uint32_t first = moves->count;
    int status = adsm_moves_reserve(moves, map->count);
    if (status != ADSM_OK)
        return status;
    for (int limit = thin_limit(map);
         map->count > ADSM_MAP_MOST / 2 && limit < THIN_CLASSES; limit++) {
        adsm_map_hold(map);
        for (uint32_t i = 0; i < map->count; i++) {
            struct adsm_map_entry *entry = &map->entries[i];
            unsigned from = adsm_holder_set_next(&entry->holders, 0);
            if (thin_class(&entry->box) > limit)
                continue;
            if (from != ADSM_HOLDER_HOST && !ADSM_PLANTED("thin-loses"))
                adsm_moves_add(moves, first, from, ADSM_HOLDER_HOST,
                               &entry->box);
            entry->holders = adsm_holder_set_of(ADSM_HOLDER_HOST);
        }
        map->changed = true;
        adsm_map_release(map);
        if (map->holds > 0)
            break;
    }
    return ADSM_OK;
}

static struct adsm_copy *fetch_source(const struct adsm_held *held,
                                      const struct adsm_holder_set *set,
                                      const adsmBox *box, adsm_plan_rank *rank,
                                      void *context)
{
    struct adsm_copy *best = NULL;
    uint64_t lowest = 0;
    for (unsigned h = adsm_holder_set_next(set, 1); h < ADSM_HOLDERS;
         h = adsm_holder_set_next(set, h + 1)) {
        struct adsm_copy *copy = held->copies[h];
        if (!rank)
            return copy;
        uint64_t this = rank(copy, box, context);
        if (!best || this < lowest) {
            best = copy;
            lowest = this;
        }
    }
    return best;
}

int adsm_plan_fetch(const struct adsm_held *held, size_t begin, size_t end,
                    adsm_plan_rank *rank, adsm_plan_visit *visit, void *context)
{
    adsmBox boxes[ADSM_BOX_CUTS];
    int n = adsm_box_of_bytes(&held->map.whole, begin, end, boxes);
    for (int i = 0; i < n; i++)
        for (struct adsm_map_walk w = adsm_map_walk(&held->map, &boxes[i]);
             adsm_map_next(&w);) {
            const struct adsm_holder_set *set = &w.entry->holders;
            if (adsm_holder_set_has(set, ADSM_HOLDER_HOST))
                continue;
            if (ADSM_PLANTED("fetch-skips-second") && i > 0)
                continue;
            struct adsm_copy *copy =
                fetch_source(held, set, &w.piece, rank, context);
            int status = visit(copy, &w.piece, context);
            if (status != 0)
                return status;
        }
    return 0;
}

/* A copy's number is its own and its bits lie in its box. */
static bool entry_is_valid(const struct adsm_held *held,
                           const struct adsm_map_entry *entry)
{
    for (unsigned h = adsm_holder_set_next(&entry->holders, 1);
         h < ADSM_HOLDERS; h = adsm_holder_set_next(&entry->holders, h + 1)) {
        const struct adsm_copy *copy = held->copies[h];
        if (!copy || copy->holder != h ||
            !adsm_box_within(&entry->box, &copy->box))
            return false;
    }
    return true;
}

bool adsm_held_is_valid(const struct adsm_held *held)
{
    for (uint32_t i = 0; i < ADSM_HOLDERS; i++) {
        const struct adsm_copy *copy = held->copies[i];
        if (copy && (copy->holder != i || i >= held->top || i == 0 ||
                     copy->home != (i == ADSM_HOLDER_HOME)))
            return false;
    }
    for (uint32_t i = 0; i < held->map.count; i++)
        if (!entry_is_valid(held, &held->map.entries[i]))
            return false;
    return adsm_map_is_valid(&held->map);
}

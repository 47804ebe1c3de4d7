/*
 * The map of holders of one object: which memories have the newest value of
 * each byte.
 *
 * Owns a list of disjoint boxes that cover the object's shape, each with the
 * set of its holders: 0 is the host, 1 the copy at home, the others are further
 * copies. No set is ever empty. Does not know copies or where they are
 * (range/plan.h).
 *
 * A change is made in steps, so that what has begun cannot fail:
 *
 *     adsm_map_hold(map);
 *     status = adsm_map_reserve(map, box);      for each box to be changed
 *     adsm_map_add, _only, _remove(map, box, holder);      nothing can fail
 *     adsm_map_release(map);
 *
 * Reserving cuts boxes and changes no set. Between hold and release boxes are
 * cut further but not put together, so a union of reserved boxes can be changed
 * as well, at any time and in any order. The last release joins neighbours that
 * have equal sets; calls that repeat themselves find the cuts that they left.
 *
 * Lock: the object's. Exclusive for changes; readers hold it shared, use no
 * memory and change nothing. Invariant: adsm_map_is_valid().
 */
#ifndef ADSM_RANGE_MAP_H
#define ADSM_RANGE_MAP_H

#include "base/status.h"
#include "range/box.h"

enum {
    ADSM_HOLDER_HOST = 0,
    ADSM_HOLDER_HOME = 1,
    ADSM_HOLDERS = 256,
};

/* A map of more boxes than these is crowded; a test may want fewer. */
#ifndef ADSM_MAP_MOST
#define ADSM_MAP_MOST 4096u
#endif

struct adsm_holder_set {
    uint64_t bits[ADSM_HOLDERS / 64];
};

struct adsm_map_entry {
    adsmBox box;
    struct adsm_holder_set holders;
};

struct adsm_map {
    adsmBox whole;
    struct adsm_map_entry *entries;
    uint32_t count, capacity;
    uint32_t sorted; /* this many first ones ascend by lo[0], lo[1], lo[2] */
    uint32_t holds;
    bool changed; /* since the last release: neighbours may be equal */
};

/** All of a shape, held by `holder`. Return: ADSM_OK; ADSM_E_NOMEM.
 *  Thread: one. Signal: never */
int adsm_map_init(struct adsm_map *map, const adsmBox *whole,
                  unsigned holder) ADSM_MUST_CHECK;

/** Thread: one. Signal: never */
void adsm_map_fini(struct adsm_map *map);

/** Begin again with another shape, all of it held by `holder`; nobody holds
 *  the map. Signal: never */
void adsm_map_reset(struct adsm_map *map, const adsmBox *whole,
                    unsigned holder);

/** From now on nothing is joined, until as many releases. Signal: never */
void adsm_map_hold(struct adsm_map *map);
void adsm_map_release(struct adsm_map *map);

/**
 * Make changes of `box` possible while the map is held.
 *
 * @box  inside the shape; an empty one is reserved already
 * Return: ADSM_OK; ADSM_E_NOMEM (nothing changed)
 * Signal: never
 */
int adsm_map_reserve(struct adsm_map *map, const adsmBox *box) ADSM_MUST_CHECK;

/**
 * Change the holders of a reserved box: one more, this one alone, or one less,
 * which must not be the last (asserted; without assertions it stays).
 *
 * Signal: never
 */
void adsm_map_add(struct adsm_map *map, const adsmBox *box, unsigned holder);
void adsm_map_only(struct adsm_map *map, const adsmBox *box, unsigned holder);
void adsm_map_remove(struct adsm_map *map, const adsmBox *box, unsigned holder);

/** Has the map more boxes than it should? Signal: any handler */
static inline bool adsm_map_is_crowded(const struct adsm_map *map)
{
    return map->count > ADSM_MAP_MOST;
}

/**
 * Bytes of `box` that `holder` has, has not, or has alone.
 *
 * Thread: any that holds the lock shared. Signal: fault path
 */
size_t adsm_map_bytes_with(const struct adsm_map *map, const adsmBox *box,
                           unsigned holder);
size_t adsm_map_bytes_without(const struct adsm_map *map, const adsmBox *box,
                              unsigned holder);
size_t adsm_map_bytes_only(const struct adsm_map *map, const adsmBox *box,
                           unsigned holder);

/** The map's specification; for assertions and tests. */
bool adsm_map_is_valid(const struct adsm_map *map);

/*
 * A walk over the entries that meet a box. Holders may be changed on the way,
 * of entries that lie inside the box; reserving ends it. Signal: fault path
 *
 *     for (struct adsm_map_walk w = adsm_map_walk(map, &box);
 *          adsm_map_next(&w);)
 *         ... w.entry, and w.piece, what of it lies in the box
 */
struct adsm_map_walk {
    const struct adsm_map *map;
    adsmBox within, piece;
    struct adsm_map_entry *entry;
    uint32_t at;
};

/** First entry that a walk over `box` has to look at. */
uint32_t adsm_map_first(const struct adsm_map *map, const adsmBox *box);

static inline struct adsm_map_walk adsm_map_walk(const struct adsm_map *map,
                                                 const adsmBox *box)
{
    struct adsm_map_walk walk = {.map = map, .within = *box};
    walk.at = adsm_box_is_empty(box) ? map->count : adsm_map_first(map, box);
    return walk;
}

static inline bool adsm_map_next(struct adsm_map_walk *walk)
{
    const struct adsm_map *map = walk->map;
    while (walk->at < map->count) {
        struct adsm_map_entry *entry = &map->entries[walk->at++];
        if (walk->at <= map->sorted && entry->box.lo[0] >= walk->within.hi[0]) {
            walk->at = map->sorted;
            continue;
        }
        if (!adsm_box_meets(&entry->box, &walk->within))
            continue;
        walk->entry = entry;
        walk->piece = adsm_box_meet(&entry->box, &walk->within);
        return true;
    }
    return false;
}

/* ---- sets of holders: any thread, any handler ---------------------------- */

static inline bool adsm_holder_set_has(const struct adsm_holder_set *set,
                                       unsigned holder)
{
    return set->bits[holder / 64] >> (holder % 64) & 1;
}

static inline struct adsm_holder_set adsm_holder_set_of(unsigned holder)
{
    struct adsm_holder_set set = {{0}};
    set.bits[holder / 64] = (uint64_t)1 << (holder % 64);
    return set;
}

static inline bool adsm_holder_set_equal(const struct adsm_holder_set *a,
                                         const struct adsm_holder_set *b)
{
    return a->bits[0] == b->bits[0] && a->bits[1] == b->bits[1] &&
           a->bits[2] == b->bits[2] && a->bits[3] == b->bits[3];
}

static inline bool adsm_holder_set_is_only(const struct adsm_holder_set *set,
                                           unsigned holder)
{
    struct adsm_holder_set one = adsm_holder_set_of(holder);
    return adsm_holder_set_equal(set, &one);
}

/** The lowest holder from `from` on; ADSM_HOLDERS when there is none. */
static inline unsigned adsm_holder_set_next(const struct adsm_holder_set *set,
                                            unsigned from)
{
    while (from < ADSM_HOLDERS) {
        uint64_t word = set->bits[from / 64] >> (from % 64);
        if (word)
            return from + (unsigned)__builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return ADSM_HOLDERS;
}

#endif

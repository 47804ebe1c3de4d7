/*
 * The rules of holders: see range/plan.h. What is lost or evicted is in
 * range/plan_evict.c, which copies are wanted in range/plan_want.c.
 */
#include "range/plan_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_LOOK_BACK = 16 }; /* moves that another may become part of */

int adsm_held_init(struct adsm_held *held, const adsmBox *whole,
                   unsigned holder, adsm_plan_direct *direct)
{
    memset(held, 0, sizeof *held);
    held->direct = direct;
    held->top = ADSM_HOLDER_HOME + 1;
    return adsm_map_init(&held->map, whole, holder);
}

void adsm_held_fini(struct adsm_held *held)
{
    adsm_map_fini(&held->map);
}

int adsm_held_enter(struct adsm_held *held, struct adsm_copy *copy)
{
    uint32_t number = ADSM_HOLDER_HOME;
    if (!copy->home)
        for (number++; number < ADSM_HOLDERS && held->copies[number];)
            number++;
    if (number == ADSM_HOLDERS)
        return ADSM_E_LIMIT;
    held->copies[number] = copy;
    copy->holder = (uint8_t)number;
    if (number >= held->top)
        held->top = number + 1;
    return ADSM_OK;
}

struct adsm_copy *adsm_held_oldest(const struct adsm_held *held, uint64_t after)
{
    struct adsm_copy *oldest = NULL;
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (copy && copy->uses == 0 && copy->last_used > after &&
            (!oldest || copy->last_used < oldest->last_used))
            oldest = copy;
    }
    return oldest;
}

struct adsm_copy *adsm_held_passing(const struct adsm_held *held,
                                    const struct adsm_accel *accel,
                                    uint32_t most)
{
    struct adsm_copy *oldest = NULL;
    uint32_t count = 0;
    for (uint32_t i = ADSM_HOLDER_HOME + 1; i < held->top; i++) {
        struct adsm_copy *copy = held->copies[i];
        if (!copy || !copy->passing || copy->accel != accel)
            continue;
        count++;
        if (copy->uses == 0 && (!oldest || copy->last_used < oldest->last_used))
            oldest = copy;
    }
    return count > most ? oldest : NULL;
}

void adsm_held_reshape(struct adsm_held *held, const adsmBox *whole,
                       unsigned holder)
{
    adsm_map_reset(&held->map, whole, holder);
    if (held->copies[ADSM_HOLDER_HOME])
        held->copies[ADSM_HOLDER_HOME]->box = *whole;
}

int adsm_moves_reserve(struct adsm_moves *moves, uint32_t more)
{
    if (more <= moves->capacity - moves->count)
        return ADSM_OK;
    uint32_t capacity = moves->capacity ? moves->capacity : 16;
    while (capacity < moves->count + more)
        capacity *= 2;
    void *items = realloc(moves->items, capacity * sizeof *moves->items);
    if (!items)
        return ADSM_E_NOMEM;
    moves->items = items;
    moves->capacity = capacity;
    return ADSM_OK;
}

uint32_t adsm_moves_add(struct adsm_moves *moves, uint32_t first, unsigned from,
                        unsigned to, const adsmBox *box)
{
    uint32_t most = moves->count - first;
    if (most > PLAN_LOOK_BACK)
        most = PLAN_LOOK_BACK;
    for (uint32_t i = moves->count; i > moves->count - most; i--) {
        struct adsm_move *move = &moves->items[i - 1];
        if (move->from == from && move->to == to &&
            adsm_box_join(&move->box, box, &move->box))
            return i - 1;
    }
    moves->items[moves->count] =
        (struct adsm_move){(uint8_t)from, (uint8_t)to, *box};
    return moves->count++;
}

int adsm_plan_begin(struct adsm_held *held, struct adsm_moves *moves)
{
    if (adsm_map_is_crowded(&held->map)) {
        int status = adsm_plan_thin(held, moves);
        if (status != ADSM_OK)
            return status;
    }
    adsm_map_hold(&held->map);
    return ADSM_OK;
}

void adsm_plan_end(struct adsm_held *held)
{
    adsm_map_release(&held->map);
}

/* Would a fold change anything there? It seldom does. */
static bool fold_is_needed(const struct adsm_map *map, const adsmBox *box,
                           bool alone)
{
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        if (alone
                ? !adsm_holder_set_is_only(&w.entry->holders, ADSM_HOLDER_HOST)
                : !adsm_holder_set_has(&w.entry->holders, ADSM_HOLDER_HOST))
            return true;
    return false;
}

int adsm_plan_fold(struct adsm_held *held, size_t begin, size_t end, bool alone)
{
    struct adsm_map *map = &held->map;
    adsmBox boxes[ADSM_BOX_CUTS];
    bool needed[ADSM_BOX_CUTS];
    int n = adsm_box_of_bytes(&map->whole, begin, end, boxes);
    int status = ADSM_OK;
    adsm_map_hold(map);
    for (int i = 0; i < n && status == ADSM_OK; i++) {
        needed[i] = fold_is_needed(map, &boxes[i], alone);
        if (needed[i])
            status = adsm_map_reserve(map, &boxes[i]);
    }
    for (int i = 0; i < n && status == ADSM_OK; i++) {
        if (!needed[i] || ADSM_PLANTED("no-fold"))
            continue;
        if (alone && !ADSM_PLANTED("fold-dirty-adds"))
            adsm_map_only(map, &boxes[i], ADSM_HOLDER_HOST);
        else
            adsm_map_add(map, &boxes[i], ADSM_HOLDER_HOST);
    }
    adsm_map_release(map);
    return status;
}

/* How good a holder is as a source: the lowest comes first. */
enum source_class { SOURCE_LOCAL, SOURCE_HOST, SOURCE_DIRECT, SOURCE_FAR };

static enum source_class source_class(const struct adsm_held *held,
                                      unsigned holder,
                                      const struct adsm_copy *copy)
{
    if (holder == ADSM_HOLDER_HOST)
        return SOURCE_HOST;
    const struct adsm_accel *from = held->copies[holder]->accel;
    if (from == copy->accel)
        return SOURCE_LOCAL;
    if (ADSM_PLANTED("far-is-direct"))
        return SOURCE_DIRECT;
    return held->direct(from, copy->accel) ? SOURCE_DIRECT : SOURCE_FAR;
}

/* The best source for a copy; a set is never empty. */
static unsigned source_of(const struct adsm_held *held,
                          const struct adsm_holder_set *set,
                          const struct adsm_copy *copy,
                          enum source_class *class)
{
    unsigned best = ADSM_HOLDERS;
    *class = SOURCE_FAR;
    for (unsigned h = adsm_holder_set_next(set, 0); h < ADSM_HOLDERS;
         h = adsm_holder_set_next(set, h + 1)) {
        enum source_class this = source_class(held, h, copy);
        if (best != ADSM_HOLDERS && this >= *class)
            continue;
        best = h;
        *class = this;
        if (this == SOURCE_LOCAL)
            break;
    }
    return best;
}

/* Plan the moves of one piece, which is a whole entry. A part that comes
 * through the host may not leave it before it has come. */
static void read_piece(struct adsm_held *held, struct adsm_map_entry *entry,
                       const struct adsm_copy *copy, struct adsm_moves *moves,
                       uint32_t first)
{
    enum source_class class;
    unsigned from = source_of(held, &entry->holders, copy, &class);
    if (class == SOURCE_FAR) {
        uint32_t down =
            adsm_moves_add(moves, first, from, ADSM_HOLDER_HOST, &entry->box);
        if (!ADSM_PLANTED("upload-before-download"))
            first = down + 1;
        entry->holders.bits[0] |= (uint64_t)1 << ADSM_HOLDER_HOST;
        held->map.changed = true;
        from = ADSM_HOLDER_HOST;
    }
    adsm_moves_add(moves, first, from, copy->holder, &entry->box);
}

static int plan_read(struct adsm_held *held, const struct adsm_copy *copy,
                     const adsmBox *box, bool margin, struct adsm_moves *moves)
{
    struct adsm_map *map = &held->map;
    uint32_t pieces = 0, first = moves->count;
    int status = adsm_map_reserve(map, box);
    if (status != ADSM_OK)
        return status;
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        pieces++;
    status = adsm_moves_reserve(moves, 2 * pieces);
    if (status != ADSM_OK)
        return status;
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        if (margin || !adsm_holder_set_has(&w.entry->holders, copy->holder))
            read_piece(held, w.entry, copy, moves, first);
    if (!margin)
        adsm_map_add(map, box, copy->holder);
    return ADSM_OK;
}

int adsm_plan_read(struct adsm_held *held, struct adsm_copy *copy,
                   const adsmBox *box, struct adsm_moves *moves)
{
    assert(adsm_box_within(box, &copy->box));
    if (adsm_map_bytes_with(&held->map, box, copy->holder) ==
        adsm_box_bytes(box))
        return ADSM_OK;
    adsm_map_hold(&held->map);
    int status = plan_read(held, copy, box, false, moves);
    adsm_map_release(&held->map);
    return status;
}

int adsm_plan_gather(struct adsm_held *held, struct adsm_copy *copy,
                     const adsmBox *box, struct adsm_moves *moves)
{
    adsm_map_hold(&held->map);
    int status = plan_read(held, copy, box, true, moves);
    adsm_map_release(&held->map);
    return status;
}

/* A receiver was never the only holder, so what it lost is elsewhere. A margin
 * was none. */
void adsm_plan_undo(struct adsm_held *held, struct adsm_moves *moves,
                    uint32_t first)
{
    while (moves->count > first) {
        const struct adsm_move *move = &moves->items[--moves->count];
        const struct adsm_copy *copy = held->copies[move->to];
        if (ADSM_PLANTED("no-undo") ||
            (copy && !adsm_box_within(&move->box, &copy->box)))
            continue;
        if (move->from != move->to)
            adsm_map_remove(&held->map, &move->box, move->to);
    }
}

int adsm_plan_reserve(struct adsm_held *held, const adsmBox *box)
{
    return adsm_map_reserve(&held->map, box);
}

void adsm_plan_write(struct adsm_held *held, const struct adsm_copy *copy,
                     const adsmBox *box)
{
    if (ADSM_PLANTED("write-adds"))
        adsm_map_add(&held->map, box, copy->holder);
    else
        adsm_map_only(&held->map, box, copy->holder);
}

/* What the host lacks, from the first who has it. */
int adsm_plan_to_host(struct adsm_held *held, const adsmBox *box,
                      struct adsm_moves *moves)
{
    struct adsm_map *map = &held->map;
    uint32_t pieces = 0, first = moves->count;
    adsm_map_hold(map);
    int status = adsm_map_reserve(map, box);
    for (struct adsm_map_walk w = adsm_map_walk(map, box); adsm_map_next(&w);)
        pieces++;
    if (status == ADSM_OK)
        status = adsm_moves_reserve(moves, pieces);
    if (status == ADSM_OK) {
        for (struct adsm_map_walk w = adsm_map_walk(map, box);
             adsm_map_next(&w);) {
            unsigned from = adsm_holder_set_next(&w.entry->holders, 0);
            if (from != ADSM_HOLDER_HOST)
                adsm_moves_add(moves, first, from, ADSM_HOLDER_HOST, &w.piece);
        }
        adsm_map_add(map, box, ADSM_HOLDER_HOST);
    }
    adsm_map_release(map);
    return status;
}

int adsm_plan_settle(struct adsm_held *held, struct adsm_moves *moves)
{
    struct adsm_copy *home = held->copies[ADSM_HOLDER_HOME];
    return home ? adsm_plan_read(held, home, &held->map.whole, moves)
                : adsm_plan_to_host(held, &held->map.whole, moves);
}

int adsm_plan_discard(struct adsm_held *held, const adsmBox *box)
{
    adsm_map_hold(&held->map);
    int status = adsm_map_reserve(&held->map, box);
    if (status == ADSM_OK)
        adsm_map_only(&held->map, box, ADSM_HOLDER_HOST);
    adsm_map_release(&held->map);
    return status;
}

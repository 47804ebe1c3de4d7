/* Device memory of copies; see memory.h. */
#include "range/memory.h"

#include "accel/error.h"
#include "accel/store.h"
#include "base/stats.h"
#include "mm/state/coherence.h"
#include "range/carry.h"
#include "range/state.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEVICES = 64 };

static struct adsm_lock copies_lock = ADSM_LOCK_INIT(ADSM_RANK_STORE);
static uint64_t clock_of_use; /* copies_lock */
static struct {
    struct adsm_accel *accel;
    struct adsm_copies copies;
} lists[DEVICES]; /* copies_lock */

/* The list of a device; the lock is held. */
static struct adsm_copies *list_of(struct adsm_accel *accel)
{
    uint32_t i = 0;
    while (i < DEVICES - 1 && lists[i].accel && lists[i].accel != accel)
        i++;
    lists[i].accel = accel;
    return &lists[i].copies;
}

/* ---- use ------------------------------------------------------------------- */

void adsm_memory_use(struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    copy->uses++;
    copy->last_used = ++clock_of_use;
    if (!copy->home && !copy->leaving) {
        struct adsm_copies *list = list_of(copy->accel);
        adsm_copies_remove(list, copy);
        adsm_copies_append(list, copy);
    }
    adsm_lock_release(&copies_lock);
}

void adsm_memory_unuse(struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    copy->uses--;
    adsm_lock_release(&copies_lock);
}

bool adsm_memory_is_used(const struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    bool used = copy->uses > 0 || copy->leaving;
    adsm_lock_release(&copies_lock);
    return used;
}

/* ---- eviction -------------------------------------------------------------- */

bool adsm_memory_is_lent(struct adsm_object *object, const adsmBox *box)
{
    size_t begin, end;
    if (adsm_box_is_empty(box))
        return false;
    adsm_carry_host_range(adsm_ranged_shape(object), box, &begin, &end);
    if (end > object->bytes)
        end = object->bytes;
    for (uint32_t i = adsm_block_of(object, begin);
         i <= adsm_block_of(object, end - 1); i++)
        if (atomic_load(&object->blocks[i]) & ADSM_BLOCK_BUSY)
            return true;
    return false;
}

/* The moves from `first` on could not be enqueued: the copy stays, and is again
 * where their bytes are. */
static void take_back(struct adsm_held *held, struct adsm_copy *copy,
                      const struct adsm_moves *moves, uint32_t first)
{
    if (adsm_held_enter(held, copy) != ADSM_OK)
        return; /* its number was just given back */
    for (uint32_t i = first; i < moves->count; i++)
        adsm_map_only(&held->map, &moves->items[i].box, copy->holder);
}

/* Save what only the copy has. The object's lock is held exclusively, but its
 * gate may be another call's: one that is not spread must not become so here. */
static int save(struct adsm_object *object, struct adsm_copy *copy)
{
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    int rc = ADSM_OK;
    if (!adsm_object_is_gathered(object)) /* else the home has everything */
        rc = adsm_ranged_update(object, adsm_ranged_shape(object),
                                ADSM_CAUSE(evict));
    if (rc == ADSM_OK)
        rc = adsm_plan_begin(held, &moves);
    if (rc != ADSM_OK) {
        free(moves.items);
        return rc;
    }
    rc = adsm_ranged_carry(object, &moves, 0, ADSM_CAUSE(evict));
    uint32_t i = moves.count;
    if (rc == ADSM_OK)
        rc = adsm_plan_evict(held, copy, &moves);
    for (; rc == ADSM_OK && i < moves.count; i++) {
        rc = adsm_carry(object, NULL, copy, &moves.items[i].box,
                        ADSM_CAUSE(evict));
        if (rc != ADSM_OK)
            take_back(held, copy, &moves, i);
    }
    adsm_plan_end(held);
    free(moves.items);
    return rc;
}

/* Take the oldest that nobody uses from the list: nobody else evicts it. */
static struct adsm_copy *take_victim(struct adsm_accel *accel)
{
    adsm_lock_acquire(&copies_lock);
    struct adsm_copies *list = list_of(accel);
    struct adsm_copy *copy = adsm_copies_victim(list);
    if (copy) {
        adsm_copies_remove(list, copy);
        copy->leaving = true;
    }
    adsm_lock_release(&copies_lock);
    return copy;
}

/* It stays after all. */
static void keep_victim(struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    copy->leaving = false;
    adsm_copies_append(list_of(copy->accel), copy);
    adsm_lock_release(&copies_lock);
}

static bool is_wanted_again(const struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    bool wanted = copy->uses > 0;
    adsm_lock_release(&copies_lock);
    return wanted;
}

static void give_to_pool(struct adsm_copy *copy)
{
    struct adsm_waits waits = {.count = 0};
    adsm_order_all(&copy->order, &waits);
    adsm_store_free(copy->accel, copy->range, waits.fence, waits.count);
    copy->range = NULL;
}

static void discard(struct adsm_copy *copy)
{
    ADSM_COUNT(copies_evicted, 1);
    give_to_pool(copy);
    free(copy);
}

/* Evict one copy. Return: ADSM_OK; ADSM_E_LIMIT: it is needed where it is; a
 * failure to save it, which it survives */
static int evict(struct adsm_copy *copy)
{
    /* The structure is there as long as the copy is leaving. */
    struct adsm_object *object = copy->object;
    int rc = ADSM_E_LIMIT;
    adsm_rwlock_acquire(&object->lock);
    if (copy->holder == ADSM_HOLDER_HOST) /* it has left its object's map */
        rc = ADSM_OK;
    else if (atomic_load(&object->live) && !is_wanted_again(copy) &&
             !adsm_memory_is_lent(object, &copy->box))
        rc = save(object, copy);
    adsm_rwlock_release(&object->lock);
    if (rc != ADSM_OK) {
        keep_victim(copy);
        return rc;
    }
    discard(copy);
    return ADSM_OK;
}

int adsm_memory_evict_this(struct adsm_object *object, struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    bool may_go = !copy->home && copy->uses == 0 && !copy->leaving;
    if (may_go) {
        adsm_copies_remove(list_of(copy->accel), copy);
        copy->leaving = true;
    }
    adsm_lock_release(&copies_lock);
    if (!may_go)
        return ADSM_E_LIMIT;
    int rc = adsm_memory_is_lent(object, &copy->box) ? ADSM_E_LIMIT
                                                     : save(object, copy);
    if (rc != ADSM_OK)
        keep_victim(copy);
    else
        discard(copy);
    return rc;
}

/* ---- memory ------------------------------------------------------------------ */

static int too_large(struct adsm_accel *accel, size_t wanted, size_t most)
{
    char text[192];
    snprintf(text, sizeof text,
             "a call needs %zu bytes of device %d for its arguments, of which "
             "%zu can be had%s",
             wanted, adsm_accel_device(accel), most,
             wanted <= most ? ", but not in one piece, or the driver has no "
                              "host memory for it"
                            : "");
    return adsm_accel_fail(ADSM_E_DEVICE_NOMEM, text, NULL);
}

size_t adsm_memory_most(struct adsm_accel *accel)
{
    size_t most = 0, total;
    if (adsm_accel_memory(accel, &most, &total) != ADSM_OK)
        return SIZE_MAX; /* whoever asks for memory will hear why */
    most += adsm_store_kept(accel);
    adsm_lock_acquire(&copies_lock);
    most += adsm_copies_free_bytes(list_of(accel));
    adsm_lock_release(&copies_lock);
    return most;
}

/* Evict one of those that can go. Those that cannot just now come round again.
 * Return: ADSM_OK; ADSM_E_LIMIT: there is none; a failure to save it */
static int evict_oldest(struct adsm_accel *accel)
{
    enum { TRIES = 1024 };
    int rc = ADSM_E_LIMIT;
    for (int i = 0; i < TRIES && rc == ADSM_E_LIMIT; i++) {
        struct adsm_copy *victim = take_victim(accel);
        if (!victim)
            return ADSM_E_LIMIT;
        rc = evict(victim);
    }
    return rc;
}

bool adsm_memory_make_room(struct adsm_accel *accel, size_t bytes)
{
    if (adsm_memory_most(accel) < bytes)
        return false;
    return adsm_store_trim(accel, SIZE_MAX) > 0 ||
           (evict_oldest(accel) == ADSM_OK &&
            adsm_store_trim(accel, SIZE_MAX) > 0);
}

static int take(struct adsm_accel *accel, struct adsm_copy *copy)
{
    int rc = adsm_store_alloc(accel, copy->bytes, &copy->range);
    if (rc != ADSM_OK)
        return rc;
    copy->taken = copy->range->bytes;
    copy->at = adsm_daddr_add(copy->range->at, copy->guard);
    for (size_t i = 0; i < copy->range->count; i++)
        adsm_order_written(&copy->order, &copy->room, copy->range->after[i]);
    return ADSM_OK;
}

/* Evict until there is room for one. `left` are the bytes still to be had. */
static int take_evicting(struct adsm_accel *accel, struct adsm_copy *copy,
                         size_t wanted, size_t left)
{
    int rc = take(accel, copy);
    if (rc != ADSM_E_DEVICE_NOMEM)
        return rc;
    size_t most = adsm_memory_most(accel);
    if (most < left)
        return too_large(accel, wanted, wanted - left + most);
    while (rc == ADSM_E_DEVICE_NOMEM) {
        int evicted = evict_oldest(accel);
        if (evicted == ADSM_E_LIMIT)
            return too_large(accel, wanted, wanted - left + most);
        if (evicted != ADSM_OK)
            return evicted;
        rc = take(accel, copy);
    }
    return rc;
}

int adsm_memory_get(struct adsm_accel *accel, struct adsm_copy **copies,
                    uint32_t count)
{
    size_t wanted = 0, had = 0;
    uint32_t n = 0;
    int rc = ADSM_OK;
    for (uint32_t i = 0; i < count; i++)
        wanted += adsm_store_round(copies[i]->bytes);
    /* Before the first is asked for: what is kept would be waited for, and go. */
    if (wanted > adsm_store_kept(accel) && wanted > adsm_memory_most(accel))
        return too_large(accel, wanted, adsm_memory_most(accel));
    for (; n < count && rc == ADSM_OK; n++) {
        rc = take_evicting(accel, copies[n], wanted, wanted - had);
        had += adsm_store_round(copies[n]->bytes);
    }
    if (rc != ADSM_OK) {
        for (uint32_t i = 0; i + 1 < n; i++)
            give_to_pool(copies[i]);
        return rc;
    }
    adsm_lock_acquire(&copies_lock);
    for (uint32_t i = 0; i < count; i++) {
        copies[i]->last_used = ++clock_of_use;
        adsm_copies_append(list_of(accel), copies[i]);
    }
    adsm_lock_release(&copies_lock);
    ADSM_COUNT(copies_made, count);
    return ADSM_OK;
}

void adsm_memory_put(struct adsm_copy *copy)
{
    adsm_lock_acquire(&copies_lock);
    adsm_copies_remove(list_of(copy->accel), copy);
    adsm_lock_release(&copies_lock);
    give_to_pool(copy);
}

/*
 * The lists of objects, and walks over them; see list.h.
 */
#include "mm/object/list.h"

#include "base/system.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"

#include <sys/mman.h>
#include <utlist.h>

/* The lists of all objects and of those near the CPU. */
static struct {
    struct adsm_lock lock; /* rank OBJECT_LIST */
    struct adsm_object *all;
    struct adsm_object *near;
    _Atomic size_t count, near_count;
} lists = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST)};

/* Objects of one walk, copied so that the visitor may take their locks. A visit
 * may wait for a device, so walks over the objects of different homes have
 * tables of their own, as they have gates; the first is for walks over all. */
static struct walk {
    struct adsm_lock lock; /* rank OBJECT_TABLE: one walk at a time */
    struct adsm_object **items;
    _Atomic size_t capacity;
} walks[ADSM_GATES] = {
    [0 ... ADSM_GATES - 1] = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_TABLE)}};

/* Objects that may join while a walk copies the list. */
enum { WALK_MARGIN = 16 };

void adsm_object_list(struct adsm_object *object)
{
    adsm_lock_acquire(&lists.lock);
    DL_APPEND(lists.all, object);
    atomic_fetch_add(&lists.count, 1);
    adsm_lock_release(&lists.lock);
    adsm_object_update_near(object);
}

void adsm_object_unlist(struct adsm_object *object)
{
    adsm_lock_acquire(&lists.lock);
    DL_DELETE(lists.all, object);
    atomic_fetch_sub(&lists.count, 1);
    if (object->on_near_list) {
        DL_DELETE2(lists.near, object, prev_near, next_near);
        object->on_near_list = false;
        atomic_fetch_sub(&lists.near_count, 1);
    }
    adsm_lock_release(&lists.lock);
}

void adsm_object_update_near(struct adsm_object *object)
{
    adsm_lock_acquire(&lists.lock);
    /* Read with the lock held: another thread's block may have changed it. */
    bool near =
        (atomic_load(&object->near) != 0 || !adsm_object_is_gathered(object)) &&
        atomic_load(&object->live);
    if (near && !object->on_near_list) {
        DL_APPEND2(lists.near, object, prev_near, next_near);
        atomic_fetch_add(&lists.near_count, 1);
    } else if (!near && object->on_near_list) {
        DL_DELETE2(lists.near, object, prev_near, next_near);
        atomic_fetch_sub(&lists.near_count, 1);
    }
    object->on_near_list = near;
    adsm_lock_release(&lists.lock);
}

size_t adsm_object_rotate(size_t most, int (*take)(struct adsm_object *object))
{
    size_t taken = 0;
    int rc = ADSM_OK;
    adsm_lock_acquire(&lists.lock);
    size_t left = atomic_load(&lists.count);
    for (struct adsm_object *next, *object = lists.all;
         left > 0 && taken < most && rc != ADSM_E_LIMIT;
         object = next, left--) {
        next = object->next;
        rc = take(object);
        if (rc != ADSM_OK)
            continue;
        /* To the end: the others come first next time. */
        DL_DELETE(lists.all, object);
        DL_APPEND(lists.all, object);
        taken++;
    }
    adsm_lock_release(&lists.lock);
    return taken;
}

/* Make room for `need` pointers; the walk's lock is held. */
static int grow(struct walk *walk, size_t need)
{
    if (need <= walk->capacity)
        return ADSM_OK;
    size_t capacity =
        adsm_system_map_bytes(walk->capacity * sizeof *walk->items) /
        sizeof *walk->items;
    while (capacity < need)
        capacity *= 2;
    void *items = adsm_system_mmap(NULL, capacity * sizeof *walk->items,
                                   PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (items == MAP_FAILED)
        return ADSM_E_NOMEM;
    if (walk->items)
        adsm_system_munmap(walk->items, walk->capacity * sizeof *walk->items);
    walk->items = items;
    walk->capacity = capacity;
    return ADSM_OK;
}

/* Room for all objects there are, and some more. */
static int provide_walk(struct walk *walk)
{
    size_t need = atomic_load(&lists.count) + WALK_MARGIN + 1;
    int rc = ADSM_OK;
    if (need > atomic_load(&walk->capacity)) {
        adsm_lock_acquire(&walk->lock);
        rc = grow(walk, need);
        adsm_lock_release(&walk->lock);
    }
    return rc;
}

int adsm_object_provide_walks(const struct adsm_accel *accel)
{
    int rc = provide_walk(&walks[0]);
    return rc == ADSM_OK ? provide_walk(&walks[adsm_gate_of(accel)]) : rc;
}

/* Copy what there is room for. Return: how many there are */
static size_t copy(struct walk *walk, const struct adsm_accel *accel,
                   bool near_only)
{
    size_t n = 0;
    adsm_lock_acquire(&lists.lock);
    struct adsm_object *object = near_only ? lists.near : lists.all;
    for (; object; object = near_only ? object->next_near : object->next) {
        if (accel && object->home != accel)
            continue;
        if (n < walk->capacity)
            walk->items[n] = object;
        n++;
    }
    adsm_lock_release(&lists.lock);
    return n;
}

/* Copy the list; 0 objects and a status when there is no room for it. */
static int snapshot(struct walk *walk, const struct adsm_accel *accel,
                    bool near_only, size_t *count)
{
    int rc = ADSM_OK;
    while ((*count = copy(walk, accel, near_only)) > walk->capacity &&
           rc == ADSM_OK)
        rc = grow(walk, *count + WALK_MARGIN);
    if (rc != ADSM_OK)
        *count = 0;
    return rc;
}

bool adsm_object_any_near(void)
{
    return atomic_load(&lists.near_count) > 0;
}

int adsm_object_each(struct adsm_accel *accel, bool near_only,
                     adsm_object_visit *visit, void *context)
{
    if (near_only && !adsm_object_any_near())
        return ADSM_OK;
    struct walk *walk = &walks[adsm_gate_of(accel)];
    size_t count;
    adsm_lock_acquire(&walk->lock);
    int rc = snapshot(walk, accel, near_only, &count);
    for (size_t i = 0; i < count && rc == ADSM_OK; i++)
        rc = visit(walk->items[i], context);
    adsm_lock_release(&walk->lock);
    return rc;
}

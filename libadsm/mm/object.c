/* Objects: creation, the two lists, destruction, and which of them give up
 * their mapping at A. Their host pages are in object_host.c. */
#include "mm/object_parts.h"

#include "base/option.h"
#include "base/pool.h"
#include "base/stats.h"
#include "mm/coherence.h"
#include "mm/gate.h"
#include "mm/index.h"
#include "mm/spread.h"
#include "mm/twin.h"
#include "mm/write_back.h"
#include "os/vm.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <utlist.h>

/* Largest number of blocks in one object (the mapping limit is usually 65,530
 * ranges, and each open block next to a closed one costs two). */
enum { BLOCK_BUDGET_SHARE = 3 };

/* Host pages are got and pinned by grains: a tract at once, but of a slab, whose
 * allocations come one after the other, less. 2 MiB take half a millisecond. */
enum { SLAB_GRAIN_SHIFT = 16 };

static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_object), _Alignof(struct adsm_object));

/* The lists of all objects and of those near the CPU. */
static struct {
    struct adsm_lock lock; /* rank OBJECT_LIST */
    struct adsm_object *all;
    struct adsm_object *near;
    _Atomic size_t count, near_count;
} lists = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST)};

/* Objects of one walk, copied so that the visitor may take their locks. */
static struct {
    struct adsm_lock lock; /* rank OBJECT_TABLE: one walk at a time */
    struct adsm_object **items;
    _Atomic size_t capacity;
} walk = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_TABLE)};

/* Objects that may join while a walk copies the list. */
enum { WALK_MARGIN = 16 };

/* Block size by protocol, option and object size. */
static size_t choose_block_bytes(size_t bytes, size_t unit)
{
    size_t page = adsm_vm_page_bytes();
    const struct adsm_options *options = adsm_options_get();
    bool whole = adsm_coherence_protocol()->granularity == ADSM_BY_OBJECT;
    if (whole || unit < options->block_size)
        return (unit + page - 1) / page * page;
    size_t budget = (size_t)options->block_budget;
    if (budget == 0)
        budget = adsm_vm_map_limit() / BLOCK_BUDGET_SHARE;
    size_t block = page;
    while (block < options->block_size || bytes / block > budget)
        block *= 2;
    return block;
}

static int create_blocks(struct adsm_object *object, size_t unit,
                         enum adsm_state first)
{
    size_t block = choose_block_bytes(object->bytes, unit);
    uint32_t count = (uint32_t)((object->bytes + block - 1) / block);
    object->grain_shift =
        unit < object->bytes ? SLAB_GRAIN_SHIFT : ADSM_TRACT_SHIFT;
    size_t words = (adsm_object_grains(object) + 63) / 64;
    object->block_bytes = block;
    object->block_count = count;
    atomic_store(&object->blocks_used, count);
    object->blocks = malloc(count);
    object->sent = calloc(count, sizeof *object->sent);
    object->committed = calloc(words, sizeof *object->committed);
    if (!object->blocks || !object->sent || !object->committed)
        return ADSM_E_NOMEM;
    adsm_block_init(object, first);
    atomic_store(&object->near, first != ADSM_INVALID ? count : 0);
    atomic_store(&object->dirty, 0);
    return ADSM_OK;
}

static void release_blocks(struct adsm_object *object)
{
    adsm_twin_free(object);
    free((void *)object->blocks);
    free(object->sent);
    free((void *)object->committed);
    object->blocks = NULL;
    object->sent = NULL;
    object->committed = NULL;
}

/* A structure from the pool with its lock ready and everything else empty;
 * lock and generation outlive reuse because stale readers look at them. */
static struct adsm_object *take_structure(void)
{
    struct adsm_object *object = adsm_pool_get(&pool);
    if (!object)
        return NULL;
    if (atomic_load(&object->generation) == 0)
        adsm_rwlock_init(&object->lock, ADSM_RANK_OBJECT);
    atomic_fetch_add(&object->generation, 1);
    return object;
}

static void publish(struct adsm_object *object)
{
    adsm_lock_acquire(&lists.lock);
    DL_APPEND(lists.all, object);
    atomic_fetch_add(&lists.count, 1);
    adsm_lock_release(&lists.lock);
    adsm_object_update_near(object);
}

static size_t unmap_some(void);
static int grow_walk(size_t need);

/* What accesses and walks cannot do without where the system grants no more
 * mappings is there before there is an object. */
static int provide(void)
{
    size_t need = atomic_load(&lists.count) + WALK_MARGIN + 1;
    int rc = ADSM_OK;
    while (!adsm_vm_spare_take(ADSM_VM_SPARE)) {
        (void)adsm_vm_spare_release();
        if (unmap_some() > 0)
            continue;
        (void)adsm_vm_spare_take(ADSM_VM_SPARE);
        return ADSM_E_LIMIT;
    }
    if (need > atomic_load(&walk.capacity)) {
        adsm_lock_acquire(&walk.lock);
        rc = grow_walk(need);
        adsm_lock_release(&walk.lock);
    }
    return rc;
}

/* What an object is made of. */
struct ranges {
    struct adsm_span span;          /* addresses, and memory at its home */
    struct adsm_arena_range shadow; /* host memory                       */
};

static void give_ranges(struct adsm_accel *accel, struct ranges *ranges)
{
    adsm_arena_free(&ranges->shadow);
    int freed = adsm_address_free(accel, &ranges->span);
    (void)freed; /* an earlier failure is the one to report */
}

/* A range of the arena may take a file, which an access could not be told that
 * it cannot have: so both are taken at once. */
static int take_ranges(struct adsm_accel *accel, size_t bytes,
                       enum adsm_placement placement, struct ranges *ranges)
{
    int rc =
        placement == ADSM_NO_HOME_MEMORY
            ? adsm_address_reserve(bytes, &ranges->span)
            : adsm_address_alloc(accel, bytes, placement == ADSM_TWO_ADDRESSES,
                                 &ranges->span);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_arena_alloc(&ranges->shadow, ranges->span.bytes);
    if (rc != ADSM_OK)
        give_ranges(accel, ranges);
    return rc;
}

/* All members but the blocks'. The lock is held exclusively. */
static void set_up(struct adsm_object *object, struct adsm_accel *accel,
                   size_t bytes, bool homeless, const struct ranges *ranges)
{
    object->span = ranges->span;
    object->host = ranges->span.host;
    object->device = ranges->span.device;
    object->bytes = bytes;
    object->home = accel;
    object->work = (struct adsm_fence){0};
    object->kernel_count = 0;
    object->homeless = homeless;
    object->spread = NULL;
    object->slab = NULL;
    object->on_near_list = false;
    atomic_store(&object->settled, false);
    object->shadow = ranges->shadow;
    atomic_store(&object->backed, false);
    object->withdrawn = false;
}

/* Give it blocks and enter it in the index: it is found from then on. The lock
 * is held exclusively. Nothing is left of what fails. */
static int bring_to_life(struct adsm_object *object, size_t unit,
                         enum adsm_state first)
{
    int rc = create_blocks(object, unit, first);
    if (rc == ADSM_OK)
        rc = adsm_index_insert(object);
    if (rc == ADSM_OK)
        adsm_coherence_adopt(object);
    else
        release_blocks(object);
    atomic_store(&object->live, rc == ADSM_OK);
    return rc;
}

/* A live object from an empty structure. */
static int make(struct adsm_object *object, struct adsm_accel *accel,
                size_t bytes, size_t unit, enum adsm_state first,
                enum adsm_placement placement)
{
    bool homeless = placement == ADSM_NO_HOME_MEMORY;
    struct ranges ranges;
    int rc = take_ranges(accel, bytes, placement, &ranges);
    if (rc != ADSM_OK)
        return rc;
    atomic_store(&object->gate, adsm_gate_use(homeless ? NULL : accel));
    adsm_rwlock_acquire(&object->lock);
    set_up(object, accel, bytes, homeless, &ranges);
    rc = bring_to_life(object, unit, first);
    adsm_rwlock_release(&object->lock);
    if (rc != ADSM_OK)
        give_ranges(accel, &ranges);
    return rc;
}

int adsm_object_create(struct adsm_accel *accel, size_t bytes, size_t unit,
                       enum adsm_state first, enum adsm_placement placement,
                       struct adsm_object **out)
{
    int rc = provide();
    if (rc != ADSM_OK)
        return rc;
    struct adsm_object *object = take_structure();
    if (!object)
        return ADSM_E_NOMEM;
    rc = make(object, accel, bytes, unit, first, placement);
    if (rc != ADSM_OK) {
        adsm_pool_put(&pool, object);
        return rc;
    }
    publish(object);
    *out = object;
    return ADSM_OK;
}

/* Work that may still read or write the object's device or host memory. */
static void settle(struct adsm_object *object)
{
    /* A lost device ends all its work: go on releasing. */
    (void)adsm_fence_wait(object->work);
    (void)adsm_lane_wait_noted(object->home);
    if (adsm_object_has_pages(object))
        (void)adsm_dma_drain(object->home);
}

void adsm_object_withdraw(struct adsm_object *object)
{
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) && !object->withdrawn &&
        object->span.strategy == ADSM_OVERLAY) {
        adsm_index_remove(object);
        adsm_coherence_abandon(object);
        adsm_object_give_back(object);
        adsm_address_withdraw(&object->span);
        object->withdrawn = true;
    }
    adsm_rwlock_release(&object->lock);
}

int adsm_object_destroy(struct adsm_object *object, uint32_t generation)
{
    adsm_rwlock_acquire(&object->lock);
    if (!atomic_load(&object->live) ||
        atomic_load(&object->generation) != generation) {
        adsm_rwlock_release(&object->lock);
        return ADSM_E_NOT_SHARED;
    }
    atomic_store(&object->live, false);
    atomic_fetch_add(&object->generation, 1);
    if (!object->withdrawn)
        adsm_index_remove(object);
    adsm_coherence_abandon(object);
    adsm_rwlock_release(&object->lock);

    adsm_lock_acquire(&lists.lock);
    DL_DELETE(lists.all, object);
    atomic_fetch_sub(&lists.count, 1);
    if (object->on_near_list) {
        DL_DELETE2(lists.near, object, prev_near, next_near);
        object->on_near_list = false;
        atomic_fetch_sub(&lists.near_count, 1);
    }
    adsm_lock_release(&lists.lock);

    settle(object);
    if (object->spread)
        object->spread->ops->destroy(object);
    adsm_object_release_host(object);
    release_blocks(object);
    int rc = adsm_address_free(object->home, &object->span);
    adsm_pool_put(&pool, object);
    return rc;
}

/* Take the object from A, if it is there and nobody uses it just now. */
static int unmap(struct adsm_object *object)
{
    int rc = ADSM_E_NOT_SHARED;
    if (!adsm_rwlock_try(&object->lock))
        return rc;
    if (atomic_load(&object->live))
        rc = adsm_object_unmap(object);
    adsm_rwlock_release(&object->lock);
    return rc;
}

/* The objects that have been at A longest. Return: how many */
static size_t unmap_some(void)
{
    enum { AT_ONCE = 64 };
    /* Not all: one instruction may need two objects. */
    size_t most = adsm_object_mapped() / 2, taken = 0;
    int rc = ADSM_OK;
    if (most > AT_ONCE)
        most = AT_ONCE;
    adsm_lock_acquire(&lists.lock);
    size_t left = atomic_load(&lists.count);
    for (struct adsm_object *next, *object = lists.all;
         left > 0 && taken < most && rc != ADSM_E_LIMIT;
         object = next, left--) {
        next = object->next;
        rc = unmap(object);
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

bool adsm_object_make_room(void)
{
    size_t spare = adsm_vm_spare_release();
    size_t unmapped = unmap_some();
    (void)adsm_vm_spare_take(ADSM_VM_SPARE_LAST);
    return spare > ADSM_VM_SPARE_LAST || unmapped > 0;
}

void adsm_object_update_near(struct adsm_object *object)
{
    adsm_lock_acquire(&lists.lock);
    /* Read with the lock held: another thread's block may have changed it. */
    bool near =
        (atomic_load(&object->near) != 0 || adsm_object_is_spread(object)) &&
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

void adsm_object_set_spread(struct adsm_object *object, bool is_spread)
{
    int64_t dirty = atomic_load(&object->dirty);
    if (object->spread->is_spread == is_spread)
        return;
    object->spread->is_spread = is_spread;
    adsm_write_back_count(is_spread ? -dirty : dirty);
    atomic_store(&object->settled, false);
    /* What the home has is no twin of anything from here on. */
    for (uint32_t i = 0; i < object->block_count; i++)
        adsm_block_change(object, i, ADSM_BLOCK_TWIN, 0);
    adsm_object_update_near(object);
}

/* Make room for `need` pointers; the walk's lock is held. */
static int grow_walk(size_t need)
{
    if (need <= walk.capacity)
        return ADSM_OK;
    size_t capacity = walk.capacity ? walk.capacity : 512;
    while (capacity < need)
        capacity *= 2;
    void *items =
        mmap(NULL, capacity * sizeof *walk.items, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (items == MAP_FAILED)
        return ADSM_E_NOMEM;
    if (walk.items)
        munmap(walk.items, walk.capacity * sizeof *walk.items);
    walk.items = items;
    walk.capacity = capacity;
    return ADSM_OK;
}

/* Copy the list; 0 objects and a status when there is no room for it. */
static int snapshot(struct adsm_accel *accel, bool near_only, size_t *count)
{
    *count = 0;
    for (;;) {
        size_t need = near_only ? atomic_load(&lists.near_count)
                                : atomic_load(&lists.count);
        int rc = grow_walk(need + WALK_MARGIN);
        if (rc != ADSM_OK)
            return rc;
        struct adsm_object *object;
        size_t n = 0;
        bool fits = true;
        adsm_lock_acquire(&lists.lock);
        object = near_only ? lists.near : lists.all;
        for (; object; object = near_only ? object->next_near : object->next) {
            if (accel && object->home != accel)
                continue;
            fits = n < walk.capacity;
            if (!fits)
                break;
            walk.items[n++] = object;
        }
        adsm_lock_release(&lists.lock);
        if (fits) {
            *count = n;
            return ADSM_OK;
        }
    }
}

int adsm_object_each(struct adsm_accel *accel, bool near_only,
                     adsm_object_visit *visit, void *context)
{
    if (near_only && atomic_load(&lists.near_count) == 0)
        return ADSM_OK;
    size_t count;
    adsm_lock_acquire(&walk.lock);
    int rc = snapshot(accel, near_only, &count);
    for (size_t i = 0; i < count && rc == ADSM_OK; i++)
        rc = visit(walk.items[i], context);
    adsm_lock_release(&walk.lock);
    return rc;
}

bool adsm_object_is_valid(const struct adsm_object *object)
{
    uint32_t near = 0, dirty = 0;
    for (uint32_t i = 0; i < object->block_count; i++) {
        enum adsm_state state = adsm_block_state(object, i);
        if (state >= ADSM_STATES)
            return false;
        near += state != ADSM_INVALID;
        dirty += state == ADSM_DIRTY;
    }
    return object->bytes > 0 && object->span.bytes >= object->bytes &&
           near == atomic_load(&object->near) &&
           dirty == atomic_load(&object->dirty) &&
           (((uintptr_t)object->host | object->span.bytes) &
            (adsm_vm_page_bytes() - 1)) == 0;
}

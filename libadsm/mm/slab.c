/* Slabs: a bitmap of slots and the size of the allocation each one starts. */
#include "mm/slab.h"

#include "base/pool.h"
#include "os/vm.h"

#include <string.h>
#include <utlist.h>

enum {
    SLAB_BYTES = 2 << 20,
    SLOTS = SLAB_BYTES >> ADSM_SLOT_SHIFT,
    WORDS = SLOTS / 64,
};

struct adsm_slab {
    struct adsm_object *object;
    enum adsm_state first;
    bool safe;
    uint32_t unit;         /* slots an allocation starts at a multiple of */
    uint32_t used;         /* slots */
    uint32_t hint;         /* no free slot below it */
    uint64_t taken[WORDS]; /* bit per slot */
    uint32_t bytes[SLOTS]; /* of the allocation that starts here, else 0 */
    struct adsm_slab *prev, *next;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_API);
static struct adsm_slab *slabs; /* newest first */
static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_slab), _Alignof(struct adsm_slab));

static bool is_taken(const struct adsm_slab *slab, uint32_t slot)
{
    return slab->taken[slot / 64] >> (slot % 64) & 1;
}

static void mark(struct adsm_slab *slab, uint32_t first, uint32_t count,
                 bool taken)
{
    for (uint32_t s = first; s < first + count; s++) {
        uint64_t bit = UINT64_C(1) << (s % 64);
        if (taken)
            slab->taken[s / 64] |= bit;
        else
            slab->taken[s / 64] &= ~bit;
    }
}

/* First run of `count` free slots at a multiple of the unit; SLOTS when there
 * is none. */
static uint32_t find_free(struct adsm_slab *slab, uint32_t count)
{
    uint32_t run = 0;
    bool first_free = true;
    for (uint32_t s = slab->hint; s < SLOTS; s++) {
        if (run == 0 && s % 64 == 0 && slab->taken[s / 64] == UINT64_MAX) {
            s += 63;
            continue;
        }
        if (is_taken(slab, s) || (run == 0 && s % slab->unit != 0)) {
            run = 0;
            continue;
        }
        if (first_free)
            slab->hint = s;
        first_free = false;
        if (++run == count)
            return s + 1 - count;
    }
    return SLOTS;
}

static int new_slab(struct adsm_accel *accel, uint32_t unit,
                    enum adsm_state first, bool safe, struct adsm_slab **out)
{
    struct adsm_slab *slab = adsm_pool_get(&pool);
    if (!slab)
        return ADSM_E_NOMEM;
    memset(slab, 0, sizeof *slab);
    int rc =
        adsm_object_create(accel, SLAB_BYTES, (size_t)unit << ADSM_SLOT_SHIFT,
                           first, safe, &slab->object);
    if (rc != ADSM_OK) {
        adsm_pool_put(&pool, slab);
        return rc;
    }
    slab->unit = unit;
    slab->first = first;
    slab->safe = safe;
    slab->object->slab = slab;
    atomic_store(&slab->object->blocks_used, 0);
    DL_PREPEND(slabs, slab);
    *out = slab;
    return ADSM_OK;
}

static void *take(struct adsm_slab *slab, uint32_t slot, uint32_t count,
                  size_t bytes)
{
    mark(slab, slot, count, true);
    slab->bytes[slot] = (uint32_t)bytes;
    slab->used += count;
    struct adsm_object *object = slab->object;
    size_t end = (size_t)(slot + count) << ADSM_SLOT_SHIFT;
    uint32_t used = adsm_block_of(object, end - 1) + 1;
    if (used > atomic_load(&object->blocks_used))
        atomic_store(&object->blocks_used, used);
    return slab->object->host + ((size_t)slot << ADSM_SLOT_SHIFT);
}

static bool serves(const struct adsm_slab *slab, struct adsm_accel *accel,
                   uint32_t unit, enum adsm_state first, bool safe,
                   uint32_t count)
{
    return slab->object->home == accel && slab->unit == unit &&
           slab->first == first && slab->safe == safe &&
           slab->used + count <= SLOTS;
}

static uint32_t slots_for(size_t bytes)
{
    return (uint32_t)((bytes + (1 << ADSM_SLOT_SHIFT) - 1) >> ADSM_SLOT_SHIFT);
}

/* Small allocations share what cannot be protected apart anyway. */
static uint32_t unit_for(uint32_t count)
{
    uint32_t unit = 1;
    while (unit < count)
        unit *= 2;
    return unit <= adsm_vm_page_bytes() >> ADSM_SLOT_SHIFT ? 1 : unit;
}

int adsm_slab_alloc(struct adsm_accel *accel, size_t bytes,
                    enum adsm_state first, bool safe, void **host)
{
    uint32_t count = slots_for(bytes), unit = unit_for(count);
    struct adsm_slab *slab;
    int rc = ADSM_OK;
    adsm_lock_acquire(&lock);
    DL_FOREACH(slabs, slab)
    {
        if (!serves(slab, accel, unit, first, safe, count))
            continue;
        uint32_t slot = find_free(slab, count);
        if (slot < SLOTS) {
            *host = take(slab, slot, count, bytes);
            break;
        }
    }
    if (!slab) {
        rc = new_slab(accel, unit, first, safe, &slab);
        if (rc == ADSM_OK)
            *host = take(slab, 0, count, bytes);
    }
    adsm_lock_release(&lock);
    return rc;
}

static bool is_last_of_kind(const struct adsm_slab *slab)
{
    struct adsm_slab *other;
    DL_FOREACH(slabs, other)
    if (other != slab && serves(other, slab->object->home, slab->unit,
                                slab->first, slab->safe, 0))
        return false;
    return true;
}

int adsm_slab_free(struct adsm_object *object, void *host)
{
    size_t offset = (size_t)((uint8_t *)host - object->host);
    uint32_t slot = (uint32_t)(offset >> ADSM_SLOT_SHIFT);
    int rc = ADSM_E_NOT_SHARED;
    bool is_empty = false;
    adsm_lock_acquire(&lock);
    /* Under the lock: the slab may be gone since the caller looked. */
    struct adsm_slab *slab = object->slab;
    if (slab && offset % (1 << ADSM_SLOT_SHIFT) == 0 && slot < SLOTS &&
        slab->bytes[slot] != 0) {
        uint32_t count = slots_for(slab->bytes[slot]);
        mark(slab, slot, count, false);
        slab->bytes[slot] = 0;
        slab->used -= count;
        if (slot < slab->hint)
            slab->hint = slot;
        rc = ADSM_OK;
        is_empty = slab->used == 0 && !is_last_of_kind(slab);
        if (is_empty)
            DL_DELETE(slabs, slab);
    }
    adsm_lock_release(&lock);
    /* Without the lock: it may have to wait for a kernel. Nobody allocates from
     * the slab any more, and no slot of it can be freed again. */
    if (is_empty) {
        rc = adsm_object_destroy(object, atomic_load(&object->generation));
        adsm_pool_put(&pool, slab);
    }
    return rc;
}

/* First slot of the allocation that `offset` lies in; SLOTS when in none. */
static uint32_t slot_at(const struct adsm_slab *slab, size_t offset)
{
    uint32_t slot = (uint32_t)(offset >> ADSM_SLOT_SHIFT);
    uint32_t s = slot;
    if (!slab || slot >= SLOTS)
        return SLOTS;
    while (s > 0 && slab->bytes[s] == 0)
        s--;
    bool inside = slab->bytes[s] != 0 && slot - s < slots_for(slab->bytes[s]);
    return inside ? s : SLOTS;
}

int adsm_slab_range(struct adsm_object *object, const void *address,
                    void **base, size_t *bytes)
{
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    adsm_lock_acquire(&lock);
    uint32_t s = slot_at(object->slab, offset);
    if (s < SLOTS) {
        *base = object->host + ((size_t)s << ADSM_SLOT_SHIFT);
        *bytes = object->slab->bytes[s];
    }
    adsm_lock_release(&lock);
    return s < SLOTS ? ADSM_OK : ADSM_E_NOT_SHARED;
}

bool adsm_slab_blocks(struct adsm_object *object, const void *address,
                      uint32_t *first, uint32_t *count)
{
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    adsm_lock_acquire(&lock);
    struct adsm_slab *slab = object->slab;
    uint32_t s = slot_at(slab, offset);
    bool alone =
        s < SLOTS && slab->unit << ADSM_SLOT_SHIFT >= object->block_bytes;
    if (s < SLOTS) {
        size_t at = (size_t)s << ADSM_SLOT_SHIFT;
        *first = adsm_block_of(object, at);
        *count = adsm_block_of(object, at + slab->bytes[s] - 1) + 1 - *first;
    }
    adsm_lock_release(&lock);
    return alone;
}

void adsm_slab_forget(struct adsm_accel *accel)
{
    struct adsm_slab *slab, *next;
    adsm_lock_acquire(&lock);
    DL_FOREACH_SAFE(slabs, slab, next)
    {
        if (slab->object->home != accel)
            continue;
        DL_DELETE(slabs, slab);
        (void)adsm_object_destroy(slab->object,
                                  atomic_load(&slab->object->generation));
        adsm_pool_put(&pool, slab);
    }
    adsm_lock_release(&lock);
}

/* Slabs: a bitmap of slots and the size of the allocation each one starts. */
#include "mm/heap/slab.h"

#include "accel/granule.h"
#include "base/pool.h"
#include "mm/heap/life.h"
#include "mm/object/block.h"
#include "os/vm.h"

#include <string.h>
#include <utlist.h>

enum {
    SLOT_BYTES = 512, /* a slot's size is a multiple of it */
    MOST_BYTES = 2 << 20,
    LEAST_BYTES = 512 << 10, /* the first slab of a kind; then twice that */
    MOST_SLOTS = MOST_BYTES / SLOT_BYTES,
};

/* How the slots of a slab lie in its blocks: from the start of each on. */
struct layout {
    uint32_t block_bytes;
    uint32_t slots; /* in a block */
    uint32_t slot_bytes;
};

struct adsm_slab {
    struct adsm_object *object;
    enum adsm_state first;
    const struct adsm_kind *memory;
    struct layout layout;
    struct adsm_granules slots;
    uint64_t words[ADSM_GRANULE_WORDS(MOST_SLOTS)];
    uint32_t bytes[MOST_SLOTS]; /* of the allocation that starts here, else 0 */
    struct adsm_slab *prev, *next;
};

/* What an allocation asks for, and which slabs can serve it. */
struct kind {
    struct adsm_accel *accel;
    enum adsm_state first;
    const struct adsm_kind *memory;
    struct layout layout;
};

static struct {
    struct adsm_lock lock;
    struct adsm_slab *first; /* newest first */
    struct adsm_pool pool;
} slabs = {
    .lock = ADSM_LOCK_INIT(ADSM_RANK_API),
    .pool =
        ADSM_POOL_INIT(sizeof(struct adsm_slab), _Alignof(struct adsm_slab)),
};

static struct layout layout_of(size_t block_bytes, size_t slots)
{
    size_t slot = block_bytes / slots / SLOT_BYTES * SLOT_BYTES;
    return (struct layout){(uint32_t)block_bytes, (uint32_t)slots,
                           (uint32_t)slot};
}

/* A block for each allocation; below a page, slots of which one takes some. */
static struct layout layout_alone(size_t bytes)
{
    size_t page = adsm_vm_page_bytes();
    size_t slots = bytes <= page ? page / SLOT_BYTES : 1;
    return layout_of((bytes + page - 1) / page * page, slots);
}

/* The smallest block that whole allocations fill to twelve thirteenths. */
static struct layout layout_packed(size_t bytes)
{
    size_t page = adsm_vm_page_bytes();
    size_t slot = (bytes + SLOT_BYTES - 1) / SLOT_BYTES * SLOT_BYTES;
    size_t block = page;
    if (bytes <= page)
        return layout_alone(bytes);
    while (block / slot * slot * 13 < block * 12)
        block += page;
    return layout_of(block, block / slot);
}

static bool is_same(struct layout a, struct layout b)
{
    return a.block_bytes == b.block_bytes && a.slots == b.slots;
}

static bool serves(const struct adsm_slab *slab, const struct kind *kind)
{
    return slab->object->home == kind->accel && slab->first == kind->first &&
           slab->memory->take == kind->memory->take &&
           is_same(slab->layout, kind->layout);
}

static size_t slots_in(const struct layout *layout, size_t bytes)
{
    return bytes / layout->block_bytes * layout->slots;
}

static size_t slots_for(const struct layout *layout, size_t bytes)
{
    return (bytes + layout->slot_bytes - 1) / layout->slot_bytes;
}

static size_t offset_of(const struct layout *layout, size_t slot)
{
    return slot / layout->slots * layout->block_bytes +
           slot % layout->slots * layout->slot_bytes;
}

/* The slot that `offset` lies in, which may be behind the last of its block. */
static size_t slot_of(const struct layout *layout, size_t offset)
{
    return offset / layout->block_bytes * layout->slots +
           offset % layout->block_bytes / layout->slot_bytes;
}

static struct adsm_slab *take_structure(const struct kind *kind, size_t bytes)
{
    size_t slots = slots_in(&kind->layout, bytes);
    struct adsm_slab *slab = adsm_pool_get(&slabs.pool);
    if (!slab)
        return NULL;
    memset(slab->words, 0, sizeof slab->words);
    adsm_granules_init_in(&slab->slots, slab->words, slots);
    memset(slab->bytes, 0, slots * sizeof *slab->bytes);
    slab->first = kind->first;
    slab->memory = kind->memory;
    slab->layout = kind->layout;
    return slab;
}

static int new_slab(const struct kind *kind, size_t bytes,
                    struct adsm_slab **out)
{
    struct adsm_slab *slab = take_structure(kind, bytes);
    if (!slab)
        return ADSM_E_NOMEM;
    int rc = adsm_object_create(kind->accel, bytes, kind->layout.block_bytes,
                                kind->first, kind->memory, &slab->object);
    if (rc != ADSM_OK) {
        adsm_pool_put(&slabs.pool, slab);
        return rc;
    }
    slab->object->slab = slab;
    atomic_store(&slab->object->blocks_used, 0);
    DL_PREPEND(slabs.first, slab);
    *out = slab;
    return ADSM_OK;
}

static size_t count(const struct kind *kind)
{
    size_t n = 0;
    struct adsm_slab *slab;
    DL_FOREACH(slabs.first, slab)
    n += serves(slab, kind);
    return n;
}

/* A slab twice as large as the last one, or as large as there is memory for. */
static int grow(const struct kind *kind, struct adsm_slab **out)
{
    size_t block = kind->layout.block_bytes, bytes = LEAST_BYTES;
    for (size_t n = count(kind); n > 0 && bytes < MOST_BYTES; n--)
        bytes *= 2;
    bytes = bytes < block ? block : bytes / block * block;
    int rc = new_slab(kind, bytes, out);
    while (rc == ADSM_E_DEVICE_NOMEM && bytes > block) {
        bytes = (bytes / block + 1) / 2 * block;
        rc = new_slab(kind, bytes, out);
    }
    return rc;
}

static void *take(struct adsm_slab *slab, size_t bytes)
{
    size_t n = slots_for(&slab->layout, bytes);
    size_t slot = adsm_granules_take(&slab->slots, n);
    if (slot == SIZE_MAX)
        return NULL;
    slab->bytes[slot] = (uint32_t)bytes;
    struct adsm_object *object = slab->object;
    size_t offset = offset_of(&slab->layout, slot);
    uint32_t used = adsm_block_of(object, offset + bytes - 1) + 1;
    if (used > atomic_load(&object->blocks_used))
        atomic_store(&object->blocks_used, used);
    return object->host + offset;
}

/* From the slabs there are. *found says whether there was one of the kind. */
static void *take_from(const struct kind *kind, size_t bytes, bool *found)
{
    void *host = NULL;
    struct adsm_slab *slab;
    *found = false;
    DL_FOREACH(slabs.first, slab)
    {
        if (!serves(slab, kind))
            continue;
        *found = true;
        if ((host = take(slab, bytes)))
            break;
    }
    return host;
}

int adsm_slab_alloc(struct adsm_accel *accel, size_t bytes,
                    enum adsm_state first, const struct adsm_kind *memory,
                    void **host)
{
    struct kind kind = {accel, first, memory, layout_alone(bytes)};
    struct adsm_slab *slab;
    bool found;
    int rc = ADSM_OK;
    adsm_lock_acquire(&slabs.lock);
    *host = take_from(&kind, bytes, &found);
    if (!*host && found) {
        kind.layout = layout_packed(bytes);
        *host = take_from(&kind, bytes, &found);
    }
    if (!*host) {
        rc = grow(&kind, &slab);
        if (rc == ADSM_OK)
            *host = take(slab, bytes);
    }
    adsm_lock_release(&slabs.lock);
    return rc;
}

static bool is_last_of_kind(const struct adsm_slab *slab)
{
    struct kind kind = {slab->object->home, slab->first, slab->memory,
                        slab->layout};
    return count(&kind) == 1;
}

/* Slabs that have left the list: without the lock, because it may have to wait
 * for a kernel. Nobody allocates from them any more, and no slot of theirs can
 * be freed again. */
static int destroy(struct adsm_slab *list)
{
    int rc = ADSM_OK;
    struct adsm_slab *slab, *next;
    DL_FOREACH_SAFE(list, slab, next)
    {
        rc = adsm_object_destroy(slab->object,
                                 atomic_load(&slab->object->generation));
        adsm_pool_put(&slabs.pool, slab);
    }
    return rc;
}

int adsm_slab_free(struct adsm_object *object, void *host)
{
    size_t offset = (size_t)((uint8_t *)host - object->host);
    int rc = ADSM_E_NOT_SHARED;
    struct adsm_slab *leaving = NULL;
    adsm_lock_acquire(&slabs.lock);
    /* Under the lock: the slab may be gone since the caller looked. */
    struct adsm_slab *slab = object->slab;
    size_t slot = slab ? slot_of(&slab->layout, offset) : SIZE_MAX;
    if (slab && slot < slab->slots.count && slab->bytes[slot] != 0 &&
        offset == offset_of(&slab->layout, slot)) {
        (void)adsm_granules_give(&slab->slots, slot,
                                 slots_for(&slab->layout, slab->bytes[slot]));
        slab->bytes[slot] = 0;
        rc = ADSM_OK;
        if (slab->slots.in_use == 0 && !is_last_of_kind(slab)) {
            DL_DELETE(slabs.first, slab);
            DL_APPEND(leaving, slab);
        }
    }
    adsm_lock_release(&slabs.lock);
    return leaving ? destroy(leaving) : rc;
}

/* First slot of the allocation that `offset` lies in; SIZE_MAX in none. */
static size_t start_of(const struct adsm_slab *slab, size_t offset)
{
    size_t slot = slab ? slot_of(&slab->layout, offset) : SIZE_MAX;
    if (!slab || slot >= slab->slots.count)
        return SIZE_MAX;
    while (slot > 0 && slab->bytes[slot] == 0)
        slot--;
    size_t begin = offset_of(&slab->layout, slot);
    size_t room =
        slots_for(&slab->layout, slab->bytes[slot]) * slab->layout.slot_bytes;
    return offset - begin < room ? slot : SIZE_MAX;
}

int adsm_slab_range(struct adsm_object *object, const void *address,
                    void **base, size_t *bytes)
{
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    adsm_lock_acquire(&slabs.lock);
    size_t slot = start_of(object->slab, offset);
    size_t begin = 0, all = 0;
    if (slot != SIZE_MAX) {
        begin = offset_of(&object->slab->layout, slot);
        all = object->slab->bytes[slot];
    }
    adsm_lock_release(&slabs.lock);
    *base = object->host + begin;
    *bytes = all;
    /* Not what its last slot has behind it. */
    return offset - begin < all ? ADSM_OK : ADSM_E_NOT_SHARED;
}

/* The blocks in which bytes [at, at + bytes) of an object lie. */
static void cover(struct adsm_use *use, size_t at, size_t bytes)
{
    const struct adsm_object *object = use->object;
    size_t first = adsm_block_of(object, at) * object->block_bytes;
    uint32_t last = adsm_block_of(object, at + bytes - 1);
    use->bytes =
        adsm_block_begin(object, last) + adsm_block_bytes(object, last) - first;
    use->at = object->host + first;
}

bool adsm_slab_blocks(struct adsm_use *use, const void *address)
{
    size_t offset = (size_t)((const uint8_t *)address - use->at);
    bool alone = false;
    adsm_lock_acquire(&slabs.lock);
    const struct adsm_slab *slab =
        adsm_use_fits(use) ? use->object->slab : NULL;
    size_t slot = start_of(slab, offset);
    if (slot != SIZE_MAX) {
        cover(use, offset_of(&slab->layout, slot), slab->bytes[slot]);
        /* Smaller blocks than the slab's may have been asked for. */
        alone = slab->layout.slots == 1 &&
                slab->layout.block_bytes % use->object->block_bytes == 0;
    }
    adsm_lock_release(&slabs.lock);
    return alone;
}

/* Destroy the slabs of `accel`, all or those without an allocation. */
static bool drop(struct adsm_accel *accel, bool all)
{
    struct adsm_slab *slab, *next, *leaving = NULL;
    adsm_lock_acquire(&slabs.lock);
    DL_FOREACH_SAFE(slabs.first, slab, next)
    {
        if (slab->object->home != accel || (!all && slab->slots.in_use > 0))
            continue;
        DL_DELETE(slabs.first, slab);
        DL_APPEND(leaving, slab);
    }
    adsm_lock_release(&slabs.lock);
    bool any = leaving != NULL;
    (void)destroy(leaving);
    return any;
}

bool adsm_slab_trim(struct adsm_accel *accel)
{
    return drop(accel, false);
}

void adsm_slab_forget(struct adsm_accel *accel)
{
    (void)drop(accel, true);
}

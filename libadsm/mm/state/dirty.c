/* How many blocks are DIRTY, how many may be, and in which order they became so;
 * see dirty.h. */
#include "mm/state/dirty.h"

#include "base/system.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"
#include "mm/watch/sparse.h"
#include "protocols/rolling_size.h"

#include <sys/mman.h>

enum { QUEUE_ENTRIES = 1 << 16, SENT_ENTRIES = 1 << 14 };

static struct {
    struct adsm_lock lock;
    struct adsm_dirty_queue queue; /* lock; without ring: none leave early */
    struct adsm_rolling_size size; /* lock */
    _Atomic uint32_t limit;        /* size.limit, readable without it */
    _Atomic int64_t dirty;         /* how many are DIRTY now */
} dirty_blocks = {.lock = ADSM_LOCK_INIT(ADSM_RANK_DIRTY_QUEUE)};

/* The queue, and blocks that left it, in one mapping. */
struct storage {
    struct adsm_dirty_entry ring[QUEUE_ENTRIES];
    struct adsm_sent_block sent[SENT_ENTRIES];
};

bool adsm_dirty_init(const struct adsm_options *options)
{
    static struct storage *storage;
    if (!storage)
        storage = adsm_system_mmap(
            NULL, sizeof *storage, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (storage == MAP_FAILED)
        return false;
    adsm_dirty_queue_init(&dirty_blocks.queue, storage->ring, QUEUE_ENTRIES);
    adsm_rolling_size_init(&dirty_blocks.size, (uint32_t)options->rolling_size,
                           (uint32_t)options->rolling_factor, QUEUE_ENTRIES,
                           options->rolling_learn ? storage->sent : NULL,
                           SENT_ENTRIES);
    atomic_store(&dirty_blocks.limit, dirty_blocks.size.limit);
    return true;
}

static void end_of_change(void)
{
    atomic_store(&dirty_blocks.limit, dirty_blocks.size.limit);
    adsm_lock_release(&dirty_blocks.lock);
}

void adsm_dirty_grow(uint32_t blocks)
{
    adsm_lock_acquire(&dirty_blocks.lock);
    while (blocks-- > 0)
        adsm_rolling_size_grow(&dirty_blocks.size);
    end_of_change();
}

void adsm_dirty_called(void)
{
    if (!dirty_blocks.queue.ring)
        return;
    adsm_lock_acquire(&dirty_blocks.lock);
    adsm_rolling_size_called(&dirty_blocks.size);
    end_of_change();
}

uint32_t adsm_dirty_limit(void)
{
    return dirty_blocks.queue.ring ? atomic_load(&dirty_blocks.limit)
                                   : UINT32_MAX;
}

int64_t adsm_dirty_excess(void)
{
    return dirty_blocks.queue.ring
               ? atomic_load(&dirty_blocks.dirty) -
                     (int64_t)atomic_load(&dirty_blocks.limit)
               : INT64_MIN;
}

/* Early write-backs are about what the home lacks. */
void adsm_dirty_count(const struct adsm_object *object, int64_t more)
{
    if (adsm_object_is_gathered(object) && !object->direct)
        atomic_fetch_add(&dirty_blocks.dirty, more);
}

/* Block `i` stands in the queue now. Return: it did before */
static bool mark(struct adsm_object *object, uint32_t i)
{
    return adsm_block_change(object, i, 0, ADSM_BLOCK_QUEUED) &
           ADSM_BLOCK_QUEUED;
}

void adsm_dirty_enqueue(struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    if (!adsm_object_is_gathered(object))
        return;
    adsm_lock_acquire(&dirty_blocks.lock);
    for (uint32_t i = first; i < first + count; i++) {
        if (adsm_sparse_is_watched(object, i) || mark(object, i))
            continue;
        struct adsm_dirty_entry entry = {object,
                                         atomic_load(&object->generation), i};
        adsm_rolling_size_dirtied(&dirty_blocks.size, &entry);
        if (!adsm_dirty_queue_push(&dirty_blocks.queue, entry))
            /* Full: the block stays dirty until the next call flushes it. */
            (void)adsm_block_change(object, i, ADSM_BLOCK_QUEUED, 0);
    }
    end_of_change();
}

void adsm_dirty_unwatch(struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    for (uint32_t n, i = first; i < first + count; i += n) {
        n = adsm_sparse_run(object, i, first + count - i);
        if (!adsm_sparse_is_watched(object, i))
            continue;
        adsm_sparse_unwatch(object, i, n);
        adsm_dirty_count(object, n);
        if (dirty_blocks.queue.ring)
            adsm_dirty_enqueue(object, i, n);
    }
}

/* Pass the gate of a queued block, which may be stale, besides `passed`. */
static bool pass_gate(const struct adsm_dirty_entry *entry, uint32_t passed,
                      uint32_t *gate)
{
    const struct adsm_object *object = entry->owner;
    *gate = atomic_load(&object->gate);
    return *gate == passed || adsm_gate_try_enter(*gate);
}

/* Does the grain go on behind `n` blocks that were taken from it? They went
 * there together, and leave so: closing a part would split a huge page. Not
 * where the rolling size is so small that the youngest block would be among
 * them. */
static bool is_in_grain(const struct adsm_dirty_entry *oldest, uint32_t n)
{
    const struct adsm_object *object = oldest->owner;
    /* Relaxed: the object may be gone, and be made anew as another. */
    uint32_t blocks =
        atomic_load_explicit(&object->reach, memory_order_relaxed);
    return blocks > 1 && (oldest->block + n) % blocks != 0 &&
           dirty_blocks.size.limit >= 2 * blocks;
}

uint32_t adsm_dirty_take(struct adsm_dirty_entry *oldest, uint32_t most,
                         uint32_t passed, uint32_t *gate)
{
    adsm_lock_acquire(&dirty_blocks.lock);
    uint32_t n = adsm_dirty_queue_pop(&dirty_blocks.queue, oldest) ? 1 : 0;
    if (n > 0 && !pass_gate(oldest, passed, gate)) {
        /* To the end: there is room, and the others come first. */
        (void)adsm_dirty_queue_push(&dirty_blocks.queue, *oldest);
        n = 0;
    }
    while (n > 0 && (n < most || is_in_grain(oldest, n)) &&
           adsm_dirty_queue_pop_next(&dirty_blocks.queue, oldest->owner,
                                     oldest->generation, oldest->block + n))
        n++;
    adsm_lock_release(&dirty_blocks.lock);
    return n;
}

void adsm_dirty_sent(struct adsm_object *object, uint32_t first, uint32_t count)
{
    struct adsm_dirty_entry block = {object, atomic_load(&object->generation),
                                     first};
    adsm_lock_acquire(&dirty_blocks.lock);
    for (; block.block < first + count; block.block++)
        adsm_rolling_size_sent(&dirty_blocks.size, &block);
    adsm_lock_release(&dirty_blocks.lock);
}

/* Ranges whose first pages are there before they are wanted; see ready.h. */
#include "mm/object/ready.h"

#include "base/lock.h"

enum {
    MOST = 4,      /* kept at a time: 8 MiB                               */
    LEAST = 65536, /* what has less in its first grain has its pages soon */
};

static struct {
    struct adsm_lock lock;
    struct adsm_ready kept[MOST]; /* lock; the oldest first               */
    _Atomic size_t count;         /* lock for changes                      */
} ready = {.lock = ADSM_LOCK_INIT(ADSM_RANK_READY)};

static size_t granules(size_t bytes)
{
    return (bytes + ADSM_ARENA_GRANULE_BYTES - 1) / ADSM_ARENA_GRANULE_BYTES;
}

static size_t granule_of(size_t offset)
{
    return offset / ADSM_ARENA_GRANULE_BYTES * ADSM_ARENA_GRANULE_BYTES;
}

/* What an object of `bytes` that is accessed there needs to have ready. */
static struct adsm_ready need(size_t bytes, size_t touch, bool huge)
{
    struct adsm_ready one = {.at = granule_of(touch), .huge = huge};
    one.range.bytes = granules(bytes) * ADSM_ARENA_GRANULE_BYTES;
    one.bytes = bytes - one.at < ADSM_ARENA_GRANULE_BYTES
                    ? bytes - one.at
                    : ADSM_ARENA_GRANULE_BYTES;
    return one;
}

/* Has it no page that the object has no bytes for? */
static bool serves(const struct adsm_ready *one, const struct adsm_ready *need)
{
    return one->range.bytes == need->range.bytes && one->at == need->at &&
           one->bytes <= need->bytes;
}

/* The lock is held. */
static struct adsm_ready remove_at(size_t i)
{
    struct adsm_ready one = ready.kept[i];
    size_t count = atomic_load(&ready.count) - 1;
    for (; i < count; i++)
        ready.kept[i] = ready.kept[i + 1];
    atomic_store(&ready.count, count);
    return one;
}

/* The lock is held. Return: its place; how many there are: none serves */
static size_t find(const struct adsm_ready *need)
{
    size_t i = 0;
    while (i < atomic_load(&ready.count) && !serves(&ready.kept[i], need))
        i++;
    return i;
}

int adsm_ready_take(size_t bytes, size_t touch, bool huge,
                    struct adsm_ready *out)
{
    *out = (struct adsm_ready){.bytes = 0};
    adsm_lock_acquire(&ready.lock);
    struct adsm_ready needed = need(bytes, touch, huge);
    size_t i = find(&needed);
    if (i < atomic_load(&ready.count))
        *out = remove_at(i);
    adsm_lock_release(&ready.lock);
    if (out->range.segment)
        return ADSM_OK;
    int rc = adsm_arena_alloc(&out->range, bytes);
    if (rc == ADSM_OK || adsm_ready_count() == 0)
        return rc;
    adsm_ready_clear();
    return adsm_arena_alloc(&out->range, bytes);
}

void adsm_ready_put(struct adsm_ready *one)
{
    struct adsm_ready old = {.bytes = 0};
    if (one->bytes < LEAST) {
        adsm_arena_free(&one->range);
        return;
    }
    size_t end = one->at + one->bytes;
    adsm_arena_decommit(&one->range, 0, one->at);
    adsm_arena_decommit(&one->range, end, one->range.bytes - end);
    adsm_lock_acquire(&ready.lock);
    if (atomic_load(&ready.count) == MOST)
        old = remove_at(0);
    ready.kept[atomic_fetch_add(&ready.count, 1)] = *one;
    adsm_lock_release(&ready.lock);
    adsm_arena_free(&old.range);
}

void adsm_ready_clear(void)
{
    for (bool more = true; more;) {
        struct adsm_ready old = {.bytes = 0};
        adsm_lock_acquire(&ready.lock);
        more = atomic_load(&ready.count) > 0;
        if (more)
            old = remove_at(0);
        adsm_lock_release(&ready.lock);
        adsm_arena_free(&old.range);
    }
}

size_t adsm_ready_count(void)
{
    return atomic_load(&ready.count);
}

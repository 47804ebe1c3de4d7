/*
 * Host pages of objects: mapping at A, committing and pinning by grains, and
 * giving all of it back; see object.h. Lock: host_lock, under the object's.
 */
#include "mm/object/host.h"

#include "accel/pinned.h"
#include "base/clock.h"
#include "base/log.h"
#include "mm/object/index.h"
#include "mm/object/paging.h"
#include "mm/object/ready.h"
#include "os/fault_range.h"

_Static_assert(ADSM_ARENA_GRANULE_BYTES % (1 << ADSM_TRACT_SHIFT) == 0,
               "the last grain of an object ends in its own range");

/* Backing and committing under a shared object lock. */
static struct {
    struct adsm_lock lock;
    _Atomic size_t mapped; /* objects at A */
    _Atomic bool any;      /* some were committed, at any time */
} host_pages = {.lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST)};

/* Initial-exec: the fault handler must not allocate on first use. */
static __thread uint64_t memory_ns __attribute__((tls_model("initial-exec")));

/* The last one may be cut short. */
size_t adsm_object_grains(const struct adsm_object *object)
{
    return ((object->span.bytes - 1) >> object->grain_shift) + 1;
}

static size_t grain_bytes(const struct adsm_object *object)
{
    return (size_t)1 << object->grain_shift;
}

static bool is_committed(const struct adsm_object *object, size_t grain)
{
    /* Acquire: pairs with commit_grains, the pages are there. */
    return atomic_load_explicit(&object->committed[grain / 64],
                                memory_order_acquire) >>
               (grain % 64) &
           1;
}

bool adsm_object_any_pages(void)
{
    return atomic_load_explicit(&host_pages.any, memory_order_acquire);
}

bool adsm_object_has_pages(const struct adsm_object *object)
{
    size_t g = 0;
    while (g < adsm_object_grains(object) && !is_committed(object, g))
        g++;
    return g < adsm_object_grains(object);
}

void adsm_object_adopt_pages(struct adsm_object *object)
{
    for (size_t g = 0; g < adsm_object_grains(object); g++)
        atomic_fetch_or(&object->committed[g / 64], UINT64_C(1) << (g % 64));
    atomic_store_explicit(&host_pages.any, true, memory_order_release);
}

int adsm_object_unmap(struct adsm_object *object)
{
    if (object->withdrawn || object->direct || !atomic_load(&object->backed))
        return ADSM_E_NOT_SHARED;
    int rc =
        adsm_fault_range_detach((uintptr_t)object->host, object->span.bytes);
    if (rc != ADSM_OK)
        return rc;
    for (uint32_t i = 0; i < object->block_count; i++)
        (void)adsm_block_change(object, i, ADSM_BLOCK_MAPPED, 0);
    adsm_paging_unmapped(object);
    atomic_store(&object->backed, false);
    atomic_fetch_sub(&host_pages.mapped, 1);
    return ADSM_OK;
}

size_t adsm_object_mapped(void)
{
    return atomic_load(&host_pages.mapped);
}

/* Bytes of grains [0, grain) in the span; those behind have no pages. */
static size_t grains_end(const struct adsm_object *object, size_t grain)
{
    size_t end = grain * grain_bytes(object);
    return object->span.bytes < end ? object->span.bytes : end;
}

/* Whoever adopts next has no use for what is in the pages, but for them. */
static void give_shadow(struct adsm_object *object)
{
    if (object->given.shadow) {
        adsm_given_back(&object->given);
        object->shadow = (struct adsm_arena_range){.bytes = 0};
        return;
    }
    struct adsm_ready ready = {.range = object->shadow, .at = object->ready_at};
    size_t g = object->ready_at >> object->grain_shift;
    if (object->span.strategy == ADSM_ADOPTED && is_committed(object, g)) {
        ready.bytes = grains_end(object, g + 1) - object->ready_at;
        ready.huge = adsm_paging_is_huge(object, g);
    }
    adsm_ready_put(&ready);
    object->shadow = (struct adsm_arena_range){.bytes = 0};
}

void adsm_object_release_host(struct adsm_object *object)
{
    size_t bytes = grain_bytes(object);
    if (object->direct) {
        /* The driver may hand out the pages again. */
        if (adsm_fault_range_protect((uintptr_t)object->host,
                                     object->span.bytes,
                                     ADSM_PROT_READ_WRITE) != ADSM_OK)
            adsm_log(ADSM_LOG_ERROR,
                     "%zu bytes that the device shares are "
                     "given back closed",
                     object->span.bytes);
        return;
    }
    for (size_t g = 0; g < adsm_object_grains(object); g++)
        if (is_committed(object, g))
            adsm_unpin(object->home, object->shadow.shadow + g * bytes, bytes);
    give_shadow(object);
}

/* A core file gets the object once, at A, and no page that is not there. */
static void dump_committed(struct adsm_object *object, size_t first,
                           size_t last)
{
    size_t bytes = grain_bytes(object);
    for (size_t end, g = first; g < last; g = end) {
        for (end = g; end < last && is_committed(object, end);)
            end++;
        if (end > g)
            adsm_fault_range_dump((uintptr_t)object->host + g * bytes,
                                  grains_end(object, end) - g * bytes);
        else
            end++;
    }
}

int adsm_object_map(struct adsm_object *object)
{
    int rc = ADSM_OK;
    adsm_lock_acquire(&host_pages.lock);
    if (!atomic_load_explicit(&object->backed, memory_order_relaxed)) {
        rc = adsm_fault_range_attach((uintptr_t)object->host,
                                     object->span.bytes, object->shadow.shadow);
        if (rc == ADSM_OK) {
            atomic_fetch_add(&host_pages.mapped, 1);
            dump_committed(object, 0, adsm_object_grains(object));
            atomic_store_explicit(&object->backed, true, memory_order_release);
        }
    }
    adsm_lock_release(&host_pages.lock);
    return rc;
}

/* Whole grains, of which one may be ready. */
static int get_pages(struct adsm_object *object, size_t at, size_t bytes)
{
    const struct adsm_arena_range *shadow = &object->shadow;
    size_t begin = object->ready_at, end = begin + object->ready;
    if (object->given.shadow)
        return ADSM_OK; /* it came with them */
    adsm_paging_make(object, at, bytes);
    if (end <= at || begin >= at + bytes)
        return adsm_arena_commit(shadow, at, bytes);
    int rc = adsm_arena_commit(shadow, at, begin - at);
    if (rc == ADSM_OK)
        rc = adsm_arena_commit(shadow, end, at + bytes - end);
    return rc;
}

/* Commit and pin grains [first, last) that are not yet; host_lock is held. */
static int commit_grains(struct adsm_object *object, size_t first, size_t last)
{
    for (size_t g = first; g < last;) {
        size_t end = g;
        while (end < last && !is_committed(object, end))
            end++;
        if (end == g) {
            g++;
            continue;
        }
        size_t at = g * grain_bytes(object);
        size_t bytes = grains_end(object, end) - at;
        int rc = get_pages(object, at, bytes);
        if (rc != ADSM_OK)
            return rc;
        adsm_pin(object->home, object->shadow.shadow + at, bytes);
        if (atomic_load(&object->backed))
            adsm_fault_range_dump((uintptr_t)object->host + at, bytes);
        for (; g < end; g++)
            atomic_fetch_or_explicit(&object->committed[g / 64],
                                     UINT64_C(1) << (g % 64),
                                     memory_order_release);
    }
    return ADSM_OK;
}

/* Behind the last grain of [offset, +bytes), and the first that is missing. */
static size_t missing(const struct adsm_object *object, size_t offset,
                      size_t bytes, size_t *last)
{
    size_t g = offset >> object->grain_shift;
    *last = (offset + bytes + grain_bytes(object) - 1) >> object->grain_shift;
    while (g < *last && is_committed(object, g))
        g++;
    return g;
}

bool adsm_object_has(const struct adsm_object *object, size_t offset,
                     size_t bytes)
{
    size_t last;
    return missing(object, offset, bytes, &last) == last;
}

int adsm_object_commit(struct adsm_object *object, size_t offset, size_t bytes)
{
    size_t last, g = missing(object, offset, bytes, &last);
    if (g == last)
        return ADSM_OK;
    uint64_t began = adsm_now_ns();
    /* Before the pages, which the access that asks for them fills. */
    atomic_store_explicit(&host_pages.any, true, memory_order_release);
    adsm_lock_acquire(&host_pages.lock);
    int rc = commit_grains(object, g, last);
    adsm_lock_release(&host_pages.lock);
    memory_ns += adsm_now_ns() - began;
    return rc;
}

uint64_t adsm_object_memory_ns(void)
{
    return memory_ns;
}

void adsm_object_memory_add(uint64_t ns)
{
    memory_ns += ns;
}

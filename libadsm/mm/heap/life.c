/* Objects: creation and destruction. Their host pages are in object/host.c,
 * the lists of them in object/list.c. */
#include "mm/heap/life.h"

#include "accel/early.h"
#include "accel/poke.h"
#include "base/log.h"
#include "base/option.h"
#include "base/pool.h"
#include "mm/heap/between.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/object/movable.h"
#include "mm/object/paging.h"
#include "mm/object/placeholder.h"
#include "mm/object/ready.h"
#include "mm/state/coherence.h"
#include "mm/state/direct.h"
#include "mm/state/mapping.h"
#include "mm/state/run.h"
#include "mm/state/write_back.h"
#include "mm/watch/scatter.h"
#include "mm/watch/watch.h"
#include "os/fault.h"
#include "os/fault_range.h"
#include "os/huge.h"

#include <stdlib.h>
#include <time.h>

/* Largest number of blocks in one object (the mapping limit is usually 65,530
 * ranges, and each open block next to a closed one costs two). */
enum { BLOCK_BUDGET_SHARE = 3 };

/* Host pages are got and pinned by grains: a tract at once, but of a slab, whose
 * allocations come one after the other, less. 2 MiB take half a millisecond. */
enum { SLAB_GRAIN_SHIFT = 16 };

static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_object), _Alignof(struct adsm_object));

/* Block size by protocol, option and object size. */
static size_t choose_block_bytes(const struct adsm_object *object, size_t unit)
{
    size_t page = adsm_vm_page_bytes(), bytes = object->bytes;
    const struct adsm_options *options = adsm_options_get();
    bool whole = adsm_coherence_protocol()->granularity == ADSM_BY_OBJECT;
    size_t budget = (size_t)options->block_budget;
    if (budget == 0)
        budget = adsm_vm_map_limit() / BLOCK_BUDGET_SHARE;
    if (object->direct)
        return adsm_direct_block_bytes(bytes, (unit + page - 1) / page * page,
                                       budget);
    if (whole || unit < options->block_size)
        return (unit + page - 1) / page * page;
    size_t block = page;
    while (block < options->block_size || bytes / block > budget)
        block *= 2;
    return block;
}

/* What is known of blocks that are sent and fetched. */
static int for_transfers(struct adsm_object *object, bool alone)
{
    int rc = ADSM_OK;
    object->paging = NULL;
    if (!object->given.shadow)
        rc = adsm_paging_init(object, alone);
    return rc == ADSM_OK
               ? adsm_watch_begin(object, alone, adsm_coherence_protocol())
               : rc;
}

/* What the device shares is not: its pages are there, and open. */
static int no_transfers(struct adsm_object *object)
{
    object->paging = NULL;
    adsm_watch_nothing(object);
    adsm_object_adopt_pages(object);
    return ADSM_OK;
}

static int create_blocks(struct adsm_object *object, size_t unit,
                         enum adsm_state first)
{
    size_t block = choose_block_bytes(object, unit);
    uint32_t count = (uint32_t)((object->bytes + block - 1) / block);
    bool alone = unit >= object->bytes; /* no slab */
    object->grain_shift = alone ? ADSM_TRACT_SHIFT : SLAB_GRAIN_SHIFT;
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
    return object->direct ? no_transfers(object) : for_transfers(object, alone);
}

static void free_blocks(struct adsm_object *object)
{
    adsm_watch_end(object);
    adsm_paging_fini(object);
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
    atomic_store(&object->unwaited, false);
    return object;
}

/* What an object is made of. */
struct ranges {
    struct adsm_span span;   /* addresses, and memory at its home        */
    struct adsm_ready ready; /* host memory, which may have pages        */
    struct adsm_given given; /* or this                                  */
};

static void give_ranges(struct adsm_accel *accel, struct ranges *ranges)
{
    if (ranges->given.shadow)
        adsm_given_back(&ranges->given);
    else if (ranges->span.strategy != ADSM_DIRECT)
        adsm_ready_put(&ranges->ready);
    int freed = adsm_address_free(accel, &ranges->span);
    (void)freed; /* an earlier failure is the one to report */
}

/* A range of the arena may take a file, which an access could not be told that
 * it cannot have: so both are taken at once. */
static int take_shadow(struct adsm_accel *accel, struct ranges *ranges)
{
    ranges->ready = (struct adsm_ready){.range = {.shadow = ranges->span.host}};
    if (ranges->span.strategy == ADSM_DIRECT)
        return ADSM_OK; /* that memory is the host's already */
    int rc = adsm_arena_alloc(&ranges->ready.range, ranges->span.bytes);
    if (rc != ADSM_OK)
        give_ranges(accel, ranges);
    return rc;
}

/* The same for memory that the device alone has so far. */
static int take_ready(struct adsm_accel *accel, struct ranges *ranges,
                      size_t touch)
{
    size_t grain = touch / ADSM_HUGE_BYTES * ADSM_HUGE_BYTES;
    bool huge = (uintptr_t)ranges->span.host % ADSM_HUGE_BYTES == 0 &&
                ranges->span.bytes - grain >= ADSM_HUGE_BYTES;
    int rc = adsm_ready_take(ranges->span.bytes, touch, huge, &ranges->ready);
    if (rc != ADSM_OK)
        give_ranges(accel, ranges);
    ranges->ready.at = grain;
    return rc;
}

static int take_ranges(struct adsm_accel *accel, size_t bytes,
                       const struct adsm_kind *kind, struct ranges *ranges)
{
    ranges->given.shadow = NULL;
    int rc = kind->take(accel, bytes, &ranges->span);
    return rc == ADSM_OK ? take_shadow(accel, ranges) : rc;
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
    object->holders = NULL;
    atomic_store(&object->pins, 0);
    atomic_store(&object->holds, false);
    object->slab = NULL;
    object->on_near_list = false;
    atomic_store(&object->settled, false);
    object->shadow = ranges->ready.range;
    object->given = ranges->given;
    object->ready_at = ranges->ready.at;
    object->ready = ranges->ready.bytes;
    object->direct = ranges->span.strategy == ADSM_DIRECT;
    atomic_store(&object->lent, 0);
    atomic_store(&object->loans, 0);
    atomic_store(&object->backed, object->direct);
    object->withdrawn = false;
}

/* Give it blocks and enter it in the index: it is found from then on. The lock
 * is held exclusively. Nothing is left of what fails. */
static int bring_to_life(struct adsm_object *object, size_t unit,
                         enum adsm_state first, bool huge)
{
    int rc = create_blocks(object, unit, first);
    /* All of its pages are there: who asks whether any is, is told so. */
    if (rc == ADSM_OK && object->given.shadow)
        rc = adsm_object_commit(object, 0, 1);
    if (rc == ADSM_OK && huge)
        adsm_paging_found(object, object->ready_at / ADSM_HUGE_BYTES);
    if (rc == ADSM_OK && adsm_object_is_movable(object))
        rc = adsm_holders_adopt(object);
    /* The driver gives it open. */
    if (rc == ADSM_OK && object->direct)
        rc = adsm_run_protect(object, 0, object->block_count, first);
    if (rc == ADSM_OK)
        rc = adsm_index_insert(object);
    /* Found already when the first access comes. */
    if (rc == ADSM_OK && adsm_fault_range_is_lasting()) {
        rc = adsm_mapping_back(object);
        if (rc != ADSM_OK)
            adsm_index_remove(object);
    }
    if (rc == ADSM_OK) {
        adsm_coherence_adopt(object);
    } else {
        adsm_holders_destroy(object);
        free_blocks(object);
    }
    atomic_store(&object->live, rc == ADSM_OK);
    return rc;
}

/* A live object from an empty structure, over ranges that are given back where
 * it fails. */
static int make(struct adsm_object *object, struct adsm_accel *accel,
                size_t bytes, size_t unit, enum adsm_state first, bool homeless,
                struct ranges *ranges)
{
    atomic_store(&object->gate, adsm_gate_use(homeless ? NULL : accel));
    adsm_rwlock_acquire(&object->lock);
    set_up(object, accel, bytes, homeless, ranges);
    int rc = bring_to_life(object, unit, first, ranges->ready.huge);
    adsm_rwlock_release(&object->lock);
    if (rc != ADSM_OK)
        give_ranges(accel, ranges);
    return rc;
}

/* What is to be there before any range is taken. NULL with *rc. */
static struct adsm_object *prepare(struct adsm_accel *accel, int *rc)
{
    struct adsm_object *object = NULL;
    *rc = adsm_mapping_provide();
    if (*rc == ADSM_OK)
        *rc = adsm_object_provide_walks(accel);
    if (*rc == ADSM_OK && !(object = take_structure()))
        *rc = ADSM_E_NOMEM;
    return object;
}

/* It is in the lists from now on, or was never there. */
static int finish(struct adsm_object *object, int rc, struct adsm_object **out)
{
    if (rc != ADSM_OK) {
        adsm_pool_put(&pool, object);
        return rc;
    }
    adsm_object_list(object);
    *out = object;
    return ADSM_OK;
}

int adsm_object_create(struct adsm_accel *accel, size_t bytes, size_t unit,
                       enum adsm_state first, const struct adsm_kind *kind,
                       struct adsm_object **out)
{
    int rc;
    struct ranges ranges;
    struct adsm_object *object = prepare(accel, &rc);
    if (!object)
        return rc;
    adsm_between_begin();
    rc = take_ranges(accel, bytes, kind, &ranges);
    if (rc == ADSM_OK)
        rc = make(object, accel, bytes, unit, first, kind->homeless, &ranges);
    adsm_between_end();
    return finish(object, rc, out);
}

/* How many objects there are with variables. */
static _Atomic uint32_t of_variables;

bool adsm_object_any_variable(void)
{
    return atomic_load_explicit(&of_variables, memory_order_acquire) > 0;
}

/* Of memory with several allocations nobody has said what they all are. Counted
 * from before the object is found to behind that. */
static void with_variables(struct adsm_object *object,
                           const struct adsm_span *span)
{
    object->variables =
        span->extents ||
        adsm_placeholder_has_variable((uintptr_t)span->host, span->bytes);
    if (object->variables)
        atomic_fetch_add(&of_variables, 1);
}

static void without_variables(struct adsm_object *object)
{
    if (object->variables)
        atomic_fetch_sub(&of_variables, 1);
    object->variables = false;
}

int adsm_object_adopt(struct adsm_accel *accel, const struct adsm_span *span,
                      size_t bytes, size_t touch, bool waited,
                      struct adsm_object **out)
{
    int rc;
    struct ranges ranges = {.span = *span};
    struct adsm_object *object = prepare(accel, &rc);
    if (!object) {
        (void)!adsm_address_free(accel, &ranges.span);
        return rc;
    }
    with_variables(object, span);
    atomic_store(&object->unwaited, !waited);
    rc = take_ready(accel, &ranges, touch);
    if (rc == ADSM_OK)
        rc = make(object, accel, bytes, bytes, ADSM_INVALID, false, &ranges);
    if (rc != ADSM_OK)
        without_variables(object);
    return finish(object, rc, out);
}

int adsm_object_give(struct adsm_accel *accel, void *host, size_t bytes,
                     bool homeless, const char **why, struct adsm_object **out)
{
    int rc;
    struct ranges ranges = {.given.shadow = NULL};
    struct adsm_object *object = prepare(accel, &rc);
    *why = NULL;
    if (!object)
        return rc;
    adsm_between_begin();
    rc = adsm_address_give(accel, host, bytes, !homeless, &ranges.span);
    if (rc == ADSM_OK) {
        rc = adsm_given_take(host, bytes, &ranges.given, why);
        ranges.ready.range = (struct adsm_arena_range){
            .shadow = ranges.given.shadow, .bytes = bytes};
        if (rc != ADSM_OK)
            (void)!adsm_address_free(accel, &ranges.span);
    }
    if (rc == ADSM_OK)
        rc = make(object, accel, bytes, bytes, ADSM_DIRTY, homeless, &ranges);
    if (rc == ADSM_E_SYSTEM && !ranges.given.is_private &&
        adsm_fault_is_remote()) {
        *why = "the fault engine uffd cannot watch shared mappings of such "
               "files; others can (ADSM_FAULT_ENGINE), and private mappings it "
               "can, too";
        rc = ADSM_E_UNSUPPORTED;
    }
    adsm_between_end();
    return finish(object, rc, out);
}

/* Work that may still read or write the object's device or host memory. */
static void settle(struct adsm_object *object)
{
    /* A lost device ends all its work: go on releasing. */
    (void)adsm_fence_wait(object->work);
    (void)adsm_lane_wait_noted(object->home);
    adsm_early_forget(object->home, object->device, object->bytes);
    adsm_early_await(object->home);
    if ((adsm_object_has_pages(object) || adsm_scatter_has_sent(object)) &&
        adsm_dma_drain(object->home) != ADSM_OK)
        adsm_poke_forget(object->home, object->device, object->bytes);
}

/* Who waits for a kernel, which may never end, has the lock until the end of the
 * context wakes it. Everybody else has it for a short while. */
static bool take_in_time(struct adsm_object *object)
{
    enum { TRIES = 200, PAUSE_NS = 1000 * 1000 };
    for (int i = 0; i < TRIES; i++) {
        if (adsm_rwlock_try(&object->lock))
            return true;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return false;
}

void adsm_object_withdraw(struct adsm_object *object)
{
    if (!take_in_time(object))
        return;
    if (atomic_load(&object->live) && !object->withdrawn &&
        (object->span.strategy == ADSM_OVERLAY ||
         adsm_object_is_adopted(object))) {
        adsm_index_remove(object);
        adsm_coherence_abandon(object);
        adsm_mapping_give_back(object);
        adsm_address_withdraw(&object->span);
        object->withdrawn = true;
    }
    adsm_rwlock_release(&object->lock);
}

/* As for a call that may write all of it: the device gets what it has not, no
 * block stays open, and the CPU's next access faults. */
static void write_back(struct adsm_object *object)
{
    int rc = atomic_load(&object->dirty)
                 ? adsm_coherence_apply_all(object, 0, object->block_count,
                                            ADSM_CALL, ADSM_CAUSE(own))
                 : ADSM_OK;
    if (rc != ADSM_OK)
        adsm_log_signal_address(ADSM_LOG_ERROR,
                                "what the CPU wrote is lost, the device does "
                                "not take it back at",
                                (uintptr_t)object->host);
}

/* Take the lock of an object that is to go; where it is kept, with no bytes of
 * it in the hands of a call, unless that lasts.
 * Return: false: it has gone already */
static bool take(struct adsm_object *object, uint32_t generation, bool keep)
{
    enum { TRIES = 200, PAUSE_NS = 50 * 1000 };
    for (int i = 0;; i++) {
        adsm_rwlock_acquire(&object->lock);
        bool is = atomic_load(&object->live) &&
                  atomic_load(&object->generation) == generation;
        if (is && (!keep || !atomic_load(&object->loans) || i == TRIES))
            return true;
        adsm_rwlock_release(&object->lock);
        if (!is)
            return false;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
}

/* In `loans`: the object has ended. */
#define ENDED (UINT32_C(1) << 31)

static void bury(struct adsm_object *object)
{
    free_blocks(object);
    adsm_pool_put(&pool, object);
}

/* Nobody uses its host pages any more, which outlasted the rest. */
static void bury_lent(struct adsm_object *object)
{
    adsm_object_release_host(object);
    bury(object);
}

void adsm_object_take_back(struct adsm_object *object)
{
    if (atomic_fetch_sub(&object->loans, 1) == ENDED + 1)
        bury_lent(object);
}

static int end(struct adsm_object *object, uint32_t generation, bool keep)
{
    if (!take(object, generation, keep))
        return ADSM_E_NOT_SHARED;
    adsm_between_begin();
    if (keep)
        write_back(object);
    object->goes_on = keep;
    atomic_store(&object->live, false);
    atomic_fetch_add(&object->generation, 1);
    if (!object->withdrawn)
        adsm_index_remove(object);
    adsm_coherence_abandon(object);
    adsm_rwlock_release(&object->lock);

    adsm_object_unlist(object);
    without_variables(object);
    settle(object);
    adsm_holders_destroy(object);
    adsm_mapping_give_back(object);
    /* What is lent is used by its address at S, which nobody else gets. */
    bool lent = atomic_load(&object->loans) > 0;
    if (!lent)
        adsm_object_release_host(object);
    /* A copy: who looks without the lock still finds what kind it was of. */
    struct adsm_span span = object->span;
    int rc = adsm_address_free(object->home, &span);
    adsm_between_end();
    if (!lent)
        bury(object);
    else if (atomic_fetch_or(&object->loans, ENDED) == 0)
        bury_lent(object);
    return rc;
}

int adsm_object_destroy(struct adsm_object *object, uint32_t generation)
{
    return end(object, generation, false);
}

int adsm_object_give_back(struct adsm_object *object, uint32_t generation)
{
    return end(object, generation, true);
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

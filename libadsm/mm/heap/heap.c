/* Allocation: whole objects, or slots of slabs below ADSM_SLAB_MAX. */
#include "mm/heap/heap.h"

#include "accel/fence.h"
#include "base/log.h"
#include "base/option.h"
#include "base/stats.h"
#include "base/trace.h"
#include "mm/heap/between.h"
#include "mm/heap/life.h"
#include "mm/heap/slab.h"
#include "mm/object/awaited.h"
#include "mm/object/holders.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/object/movable.h"
#include "mm/object/passing.h"
#include "mm/state/coherence.h"
#include "mm/state/direct.h"
#include "mm/state/dirty.h"
#include "mm/watch/keep.h"

/* End a span about an object, whose state is nobody's business here. */
static void traced(const char *name, uint64_t start,
                   const struct adsm_accel *accel, const void *host,
                   size_t bytes)
{
    struct adsm_cause whose = {
        .why = ADSM_WHYS, .object = (uintptr_t)host, .object_bytes = bytes};
    if (start != 0)
        adsm_trace_end(ADSM_TRACE_memory, name, start,
                       accel ? adsm_accel_device(accel) : -1, &whose);
}

static _Atomic size_t live;
static _Atomic bool adopted; /* some were, at any time */

/* Work of the program passes the runtime by only while there is none. */
static void come(void)
{
    atomic_fetch_add(&adsm_passing_barred, 1);
    atomic_fetch_add(&live, 1);
}

static void go(void)
{
    atomic_fetch_sub(&live, 1);
    atomic_fetch_sub(&adsm_passing_barred, 1);
}

static bool may_move(struct adsm_accel *accel, size_t bytes)
{
    if (!adsm_options_get()->oversubscribe || bytes < ADSM_MOVABLE_LEAST)
        return false;
    enum adsm_strategy strategy = adsm_address_strategy(accel, NULL);
    if (strategy == ADSM_WINDOW)
        return true;
    adsm_log_once(ADSM_LOG_WARN,
                  "ADSM_OVERSUBSCRIBE changes nothing here: with the address "
                  "strategy %s addresses go with their memory, it takes window",
                  adsm_strategy_name(strategy));
    return false;
}

static bool is_movable(struct adsm_accel *accel, size_t bytes,
                       const struct adsm_kind *kind)
{
    return kind->movable && may_move(accel, bytes);
}

/* It gets memory where there is room; otherwise it is away. */
static int settle(struct adsm_object *object, uint32_t generation)
{
    int rc = ADSM_OK;
    adsm_between_begin();
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == generation)
        rc = adsm_object_gather(object, ADSM_CAUSE(call));
    adsm_rwlock_release(&object->lock);
    if (rc != ADSM_OK)
        adsm_address_trim(object->home);
    adsm_between_end();
    return rc == ADSM_E_DEVICE_NOMEM ? ADSM_OK : rc;
}

static int create_movable(struct adsm_accel *accel, size_t bytes,
                          const struct adsm_kind *kind,
                          struct adsm_object **object)
{
    int rc = adsm_object_create(
        accel, bytes, bytes, adsm_kind_first(kind, adsm_coherence_protocol()),
        kind, object);
    if (rc != ADSM_OK)
        return rc;
    uint32_t generation = atomic_load(&(*object)->generation);
    rc = settle(*object, generation);
    if (rc != ADSM_OK)
        (void)!adsm_object_destroy(*object,
                                   generation); /* the first one counts */
    return rc;
}

static int allocate(struct adsm_accel *accel, size_t bytes,
                    const struct adsm_kind *kind, void **host, uint32_t *reach)
{
    const struct adsm_protocol *protocol = adsm_coherence_protocol();
    *reach = 1;
    if (adsm_direct_serves(accel)) {
        kind = kind->apart ? kind->apart : kind;
        protocol = kind->shares ? &adsm_protocol_direct : protocol;
    }
    enum adsm_state first = adsm_kind_first(kind, protocol);
    if (bytes <= adsm_options_get()->slab_max && kind->small)
        return adsm_slab_alloc(accel, bytes, first, kind, host);
    struct adsm_object *object;
    int rc =
        is_movable(accel, bytes, kind)
            ? create_movable(accel, bytes, kind->movable, &object)
            : adsm_object_create(accel, bytes, bytes, first, kind, &object);
    if (rc == ADSM_OK) {
        *host = object->host;
        *reach = object->reach;
    }
    return rc;
}

int adsm_heap_alloc(struct adsm_accel *accel, size_t bytes,
                    const struct adsm_kind *kind, void **host)
{
    uint32_t reach;
    uint64_t start = adsm_trace_begin();
    int rc = allocate(accel, bytes, kind, host, &reach);
    if (rc == ADSM_E_DEVICE_NOMEM && adsm_slab_trim(accel))
        rc = allocate(accel, bytes, kind, host, &reach);
    /* What moves needs no room; what stays may have that of something else. */
    while (rc == ADSM_E_DEVICE_NOMEM && !is_movable(accel, bytes, kind) &&
           adsm_holders_make_room(accel, bytes))
        rc = allocate(accel, bytes, kind, host, &reach);
    if (rc != ADSM_OK)
        return rc;
    adsm_dirty_grow(reach);
    come();
    ADSM_COUNT(allocs, 1);
    traced("alloc", start, accel, *host, bytes);
    return ADSM_OK;
}

/* The live object at `host` and its generation, so that what follows can tell
 * whether another thread freed it meanwhile. */
static struct adsm_object *object_at(const void *host, uint32_t *generation)
{
    struct adsm_object *object = adsm_index_acquire(host);
    if (object) {
        *generation = atomic_load(&object->generation);
        adsm_rwlock_release_shared(&object->lock);
    }
    return object;
}

static bool any_is_shared(uintptr_t at, size_t bytes)
{
    uintptr_t end = at + bytes;
    while (at && at < end && !adsm_index_find((const void *)at))
        at = adsm_index_border(at);
    return at && at < end;
}

int adsm_heap_give(struct adsm_accel *accel, void *host, size_t bytes,
                   bool homeless, const char **why)
{
    struct adsm_object *object;
    int rc;
    if (any_is_shared((uintptr_t)host, bytes)) {
        *why = "some of it is shared already";
        return ADSM_E_INVALID;
    }
    do
        rc = adsm_object_give(accel, host, bytes, homeless, why, &object);
    while (rc == ADSM_E_DEVICE_NOMEM &&
           (adsm_slab_trim(accel) || adsm_holders_make_room(accel, bytes)));
    if (rc != ADSM_OK)
        return rc;
    adsm_dirty_grow(object->reach);
    come();
    ADSM_COUNT(allocs, 1);
    return ADSM_OK;
}

size_t adsm_heap_given(const void *address)
{
    struct adsm_object *object = adsm_index_acquire(address);
    if (!object)
        return 0;
    size_t bytes =
        object->given.shadow && object->host == address ? object->bytes : 0;
    adsm_rwlock_release_shared(&object->lock);
    return bytes;
}

int adsm_heap_adopt(struct adsm_accel *accel, const struct adsm_span *span,
                    size_t bytes, size_t touch, bool waited)
{
    struct adsm_object *object;
    uint64_t start = adsm_trace_begin();
    atomic_store(&adopted, true);
    int rc = adsm_object_adopt(accel, span, bytes, touch, waited, &object);
    if (rc != ADSM_OK)
        return rc;
    adsm_dirty_grow(object->reach);
    come();
    ADSM_COUNT(adoptions, 1);
    traced("adopt", start, accel, object->host, bytes);
    return ADSM_OK;
}

int adsm_heap_disown(const void *host, bool keep)
{
    uint32_t generation;
    struct adsm_object *object = object_at(host, &generation);
    if (!object || !adsm_object_is_adopted(object))
        return ADSM_E_NOT_SHARED;
    int rc = keep ? adsm_object_give_back(object, generation)
                  : adsm_object_destroy(object, generation);
    if (rc != ADSM_E_NOT_SHARED)
        go();
    return rc;
}

/* What is allocated next in its slot is something else. */
static void forget_slot(struct adsm_object *object, uint32_t generation,
                        void *host)
{
    void *base;
    size_t bytes;
    if (adsm_slab_range(object, host, &base, &bytes) != ADSM_OK || base != host)
        return;
    size_t offset = (size_t)((uint8_t *)host - object->host);
    adsm_rwlock_acquire(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == generation) {
        adsm_keep_drop(object, offset, bytes);
        adsm_holders_forget(object, offset, bytes);
    }
    adsm_rwlock_release(&object->lock);
}

int adsm_heap_free(void *host)
{
    uint32_t generation;
    uint64_t start = adsm_trace_begin();
    struct adsm_object *object = object_at(host, &generation);
    if (!object || adsm_object_is_adopted(object))
        return ADSM_E_NOT_SHARED;
    adsm_await_tasks(host, SIZE_MAX, true);
    int rc = ADSM_E_NOT_SHARED;
    if (object->slab) {
        /* The slot may be used by work that is still running. */
        (void)adsm_lane_wait_noted(object->home);
        forget_slot(object, generation, host);
        rc = adsm_slab_free(object, host);
    } else if (object->host == host) {
        rc = adsm_object_destroy(object, generation);
    }
    if (rc == ADSM_E_NOT_SHARED)
        return rc;
    go();
    ADSM_COUNT(frees, 1);
    traced("free", start, NULL, host, 0);
    return rc;
}

int adsm_heap_range(const void *address, void **base, size_t *bytes)
{
    uint32_t generation;
    struct adsm_object *object = object_at(address, &generation);
    if (!object)
        return ADSM_E_NOT_SHARED;
    if (object->slab)
        return adsm_slab_range(object, address, base, bytes);
    *base = object->host;
    *bytes = object->bytes;
    return ADSM_OK;
}

int adsm_heap_device(const void *address, struct adsm_daddr *device)
{
    struct adsm_object *object = adsm_index_acquire(address);
    if (!object) {
        device->at = (uintptr_t)address;
        return ADSM_E_NOT_SHARED;
    }
    *device = adsm_daddr_add(
        object->device, (uint64_t)((const uint8_t *)address - object->host));
    bool homeless = object->homeless;
    adsm_rwlock_release_shared(&object->lock);
    return homeless ? ADSM_E_UNSUPPORTED : ADSM_OK;
}

static int find_first(struct adsm_object *object, void *found)
{
    *(struct adsm_object **)found = object;
    return ADSM_E_LIMIT; /* stop the walk */
}

static int withdraw(struct adsm_object *object, void *unused)
{
    (void)unused;
    adsm_object_withdraw(object);
    return ADSM_OK;
}

void adsm_heap_withdraw(struct adsm_accel *accel)
{
    /* Elsewhere no object is looked at: its lock may be held by a thread that
     * waits for a kernel, which the end of the context will wake. */
    if (atomic_load(&adopted) || adsm_address_is(accel, ADSM_OVERLAY))
        (void)adsm_object_each(accel, false, withdraw, NULL);
}

void adsm_heap_forget(struct adsm_accel *accel)
{
    adsm_slab_forget(accel);
    for (;;) {
        struct adsm_object *object = NULL;
        (void)adsm_object_each(accel, false, find_first, &object);
        if (!object)
            return;
        if (adsm_object_destroy(object, atomic_load(&object->generation)) !=
            ADSM_E_NOT_SHARED)
            go();
    }
}

size_t adsm_heap_count(void)
{
    return atomic_load(&live);
}

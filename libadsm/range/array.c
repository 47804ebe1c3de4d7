/* Arrays that the program names, and hints about them; see spread.h. */
#include "range/spread.h"

#include "mm/heap/heap.h"
#include "mm/object/gate.h"
#include "mm/object/index.h"
#include "range/carry.h"
#include "range/memory.h"
#include "range/prepare.h"
#include "range/state.h"

#include <stdlib.h>

/* ---- names --------------------------------------------------------------------- */

/* The gate of an array's object, for a change of who has what. */
static uint32_t close_gate(const struct adsm_array *array)
{
    uint32_t gates = UINT32_C(1) << atomic_load(&array->object->gate);
    adsm_gate_close(gates);
    return gates;
}

static struct adsm_named *find_named(const struct adsm_object *object,
                                     size_t origin)
{
    struct adsm_named *named =
        object->holders ? adsm_ranged(object)->named : NULL;
    while (named && named->origin != origin)
        named = named->next;
    return named;
}

/* The lock is held. */
static int name_array(const struct adsm_array *array)
{
    int rc = adsm_ranged_make(array->object);
    if (rc != ADSM_OK)
        return rc;
    struct adsm_named *named = find_named(array->object, array->origin);
    if (!named) {
        named = malloc(sizeof *named);
        if (!named)
            return ADSM_E_NOMEM;
        named->next = adsm_ranged(array->object)->named;
        adsm_ranged(array->object)->named = named;
    }
    named->origin = array->origin;
    named->elem = array->elem;
    named->shape = array->shape;
    return ADSM_OK;
}

int adsm_spread_shape(const struct adsm_array *array)
{
    int rc = adsm_array_lock(array);
    if (rc != ADSM_OK)
        return rc;
    rc = name_array(array);
    adsm_array_unlock(array);
    return rc;
}

int adsm_spread_array(const void *address, struct adsm_array *array)
{
    struct adsm_object *object = adsm_index_acquire(address);
    if (!object)
        return ADSM_E_NOT_SHARED;
    array->object = object;
    array->direct = object->direct ? address : NULL;
    array->generation = atomic_load(&object->generation);
    array->origin = (size_t)((const uint8_t *)address - object->host);
    array->used = adsm_daddr_add(object->device, array->origin);
    const struct adsm_named *named = find_named(object, array->origin);
    if (named) {
        array->elem = named->elem;
        array->shape = named->shape;
    }
    adsm_rwlock_release_shared(&object->lock);
    return named ? ADSM_OK : ADSM_E_NOT_FOUND;
}

/* A new object without a home. */
static int begin_without(void *host)
{
    struct adsm_array array;
    (void)adsm_spread_array(host, &array);
    int rc = adsm_array_lock(&array);
    if (rc == ADSM_OK) {
        rc = adsm_ranged_make(array.object);
        adsm_array_unlock(&array);
    }
    if (rc != ADSM_OK)
        (void)adsm_heap_free(host); /* the first failure is the one to tell */
    return rc;
}

int adsm_spread_alloc(struct adsm_accel *accel, size_t bytes, void **host)
{
    int rc = adsm_heap_alloc(accel, bytes, &adsm_kind_homeless, host);
    return rc == ADSM_OK ? begin_without(*host) : rc;
}

int adsm_spread_give(struct adsm_accel *accel, void *host, size_t bytes,
                     const char **why)
{
    int rc = adsm_heap_give(accel, host, bytes, true, why);
    return rc == ADSM_OK ? begin_without(host) : rc;
}

/* ---- hints ----------------------------------------------------------------------- */

/* A box of an array as one that is read, in the shape of its object's map. */
static int prepare(const struct adsm_array *array, const adsmBox *box,
                   struct adsm_want *want)
{
    *want = (struct adsm_want){
        .array = *array, .read = *box, .write = *box, .around = *box};
    adsmBox shape = adsm_prepare_shape(array, array->object->bytes);
    int rc = adsm_ranged_update(array->object, &shape, ADSM_CAUSE(part));
    return rc == ADSM_OK
               ? adsm_prepare_want(want, adsm_ranged_shape(array->object))
               : rc;
}

/* Close what a want uses, in the shape that the map has; see adsm_spread_claim. */
static int claim(struct adsm_want *want)
{
    struct adsm_object *object = want->array.object;
    adsmBox shape = adsm_prepare_shape(&want->array, object->bytes);
    if (!adsm_object_is_gathered(object))
        shape = *adsm_ranged_shape(object);
    int rc = adsm_ranged_update(object, &shape, ADSM_CAUSE(part));
    if (rc == ADSM_OK)
        rc = adsm_prepare_want(want, &shape);
    if (rc != ADSM_OK)
        return rc;
    bool fits = want->reads.nd == shape.nd;
    if (!adsm_box_is_empty(&want->reads))
        rc = adsm_ranged_sent(object, fits ? &want->reads : &shape);
    if (rc != ADSM_OK || adsm_box_is_empty(&want->writes))
        return rc;
    if (!fits)
        return adsm_ranged_close(object, &shape);
    for (struct adsm_stretches s = adsm_prepare_writes(want);
         rc == ADSM_OK && adsm_stretches_next(&s);)
        rc = adsm_ranged_close(object, &s.stretch);
    return rc;
}

int adsm_spread_claim(struct adsm_want *want)
{
    uint32_t gates = close_gate(&want->array);
    int rc = adsm_array_lock(&want->array);
    if (rc == ADSM_OK) {
        rc = claim(want);
        adsm_array_unlock(&want->array);
    }
    adsm_gate_open(gates);
    return rc;
}

/* What the host lacks of a box, enqueued behind those that make it. */
static int bring_to_host(struct adsm_want *want,
                         const struct adsm_accel *unused)
{
    (void)unused;
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    if (adsm_memory_is_lent(object, &want->reads))
        return ADSM_OK; /* it was but a hint */
    int rc = adsm_plan_begin(held, &moves);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_plan_to_host(held, &want->reads, &moves);
    if (rc == ADSM_OK)
        rc = adsm_ranged_carry(object, &moves, 0, ADSM_CAUSE(part));
    adsm_plan_end(held);
    free(moves.items);
    return rc;
}

/* Do `work` on a box of an array, between calls and CPU accesses. */
static int with_box(const struct adsm_array *array, const adsmBox *box,
                    int work(struct adsm_want *want,
                             const struct adsm_accel *accel),
                    const struct adsm_accel *accel)
{
    struct adsm_want want;
    uint32_t gates = close_gate(array);
    int rc = adsm_array_lock(array);
    if (rc == ADSM_OK) {
        rc = prepare(array, box, &want);
        if (rc == ADSM_OK)
            rc = work(&want, accel);
        adsm_array_unlock(array);
    }
    adsm_gate_open(gates);
    return rc;
}

int adsm_spread_prefetch(const struct adsm_array *array, const adsmBox *box,
                         struct adsm_accel *accel)
{
    struct adsm_want want = {.array = *array, .read = *box, .around = *box};
    struct adsm_part part = {.accel = accel, .wants = &want, .count = 1};
    int failed;
    if (array->direct)
        return ADSM_OK; /* it is everywhere */
    if (!accel)
        return with_box(array, box, bring_to_host, NULL);
    int rc = adsm_spread_begin(&part, 1, &failed);
    if (rc == ADSM_OK)
        adsm_spread_end(&part, 1);
    return rc;
}

/* Evict what lies in the box and nobody uses. */
static int drop_in(struct adsm_want *want, const struct adsm_accel *accel)
{
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    int rc = ADSM_OK;
    for (uint32_t i = held->top; rc == ADSM_OK && --i > ADSM_HOLDER_HOME;) {
        struct adsm_copy *copy = held->copies[i];
        if (copy && copy->accel == accel &&
            (adsm_box_is_empty(&copy->box) ||
             adsm_box_within(&copy->box, &want->reads)))
            rc = adsm_memory_evict_this(object, copy);
        if (rc == ADSM_E_LIMIT)
            rc = ADSM_OK; /* a call needs it just now: it was but a hint */
    }
    return rc;
}

int adsm_spread_drop(const struct adsm_array *array, const adsmBox *box,
                     struct adsm_accel *accel)
{
    return array->direct ? ADSM_OK : with_box(array, box, drop_in, accel);
}

/* The host's bytes, whatever they are, are the value; nothing is sent. */
static int discard(struct adsm_want *want, const struct adsm_accel *unused)
{
    (void)unused;
    struct adsm_held *held = &adsm_ranged(want->array.object)->held;
    int rc = ADSM_OK;
    for (struct adsm_stretches s = adsm_prepare_writes(want);
         rc == ADSM_OK && adsm_stretches_next(&s);)
        rc = adsm_plan_discard(held, &s.stretch);
    return rc;
}

int adsm_spread_discard(const struct adsm_array *array, const adsmBox *box)
{
    return array->direct ? ADSM_OK : with_box(array, box, discard, NULL);
}

/* What uses a box of an object that is spread. */
static void add_users(const struct adsm_ranged *ranged, const adsmBox *box,
                      bool writes, struct adsm_waits *waits)
{
    const struct adsm_held *held = &ranged->held;
    for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
        const struct adsm_copy *copy = held->copies[i];
        if (!copy || !adsm_box_meets(&copy->box, box))
            continue; /* its readers may be those of another array */
        if (writes)
            adsm_order_before_write(&copy->order, box, waits);
        else
            adsm_order_before_read(&copy->order, box, waits);
    }
}

int adsm_spread_wait(const struct adsm_array *array, const adsmBox *box,
                     bool writes)
{
    struct adsm_want want = {
        .array = *array, .read = *box, .write = *box, .around = *box};
    struct adsm_waits waits = {.count = 0};
    int rc = adsm_array_lock(array);
    if (rc != ADSM_OK)
        return rc;
    if (adsm_object_is_gathered(array->object)) {
        adsm_waits_add(&waits, array->object->work);
    } else {
        const struct adsm_ranged *ranged = adsm_ranged(array->object);
        const adsmBox *whole = &ranged->held.map.whole;
        rc = adsm_prepare_want(&want, whole);
        /* Of a map with another shape than the array's, all of it. */
        bool fits = rc == ADSM_OK && want.reads.nd == whole->nd;
        add_users(ranged, fits ? &want.reads : whole, writes, &waits);
    }
    adsm_array_unlock(array);
    return adsm_waits_wait(&waits);
}

/* ---- what there is ------------------------------------------------------------- */

/* A box of the map in elements of the array. */
static adsmBox in_elements(const struct adsm_array *array, adsmBox box)
{
    long elem = (long)array->elem;
    int d = box.nd - 1;
    if (box.nd == 1) {
        box.lo[0] -= (long)array->origin;
        box.hi[0] -= (long)array->origin;
    }
    box.lo[d] /= elem;
    box.hi[d] = (box.hi[d] + elem - 1) / elem;
    return box;
}

/* Those of the object: its array's last row may end behind it. */
static size_t bytes_in(const struct adsm_object *object,
                       const struct adsm_copy *copy,
                       size_t count(const struct adsm_map *map,
                                    const adsmBox *box, unsigned holder))
{
    const struct adsm_map *map = &adsm_ranged(object)->held.map;
    adsmBox real[ADSM_BOX_CUTS];
    int n = adsm_box_of_bytes(&map->whole, 0, object->bytes, real);
    size_t bytes = 0;
    for (int i = 0; i < n; i++) {
        adsmBox piece = adsm_box_meet(&real[i], &copy->box);
        bytes += count(map, &piece, copy->holder);
    }
    return bytes;
}

size_t adsm_spread_there(const struct adsm_array *array, const adsmBox *box,
                         const struct adsm_accel *accel)
{
    struct adsm_want want = {.array = *array, .read = *box, .around = *box};
    size_t bytes = 0;
    if (array->direct || adsm_array_lock(array) != ADSM_OK)
        return 0;
    const struct adsm_held *held = adsm_object_is_gathered(array->object)
                                       ? NULL
                                       : &adsm_ranged(array->object)->held;
    const adsmBox *whole = held ? &held->map.whole : NULL;
    bool fits = whole && adsm_prepare_want(&want, whole) == ADSM_OK &&
                want.reads.nd == whole->nd;
    for (uint32_t i = ADSM_HOLDER_HOME; fits && i < held->top; i++) {
        const struct adsm_copy *copy = held->copies[i];
        if (!copy || copy->accel != accel)
            continue;
        adsmBox piece = adsm_box_meet(&copy->box, &want.reads);
        if (!adsm_box_is_empty(&piece))
            bytes += adsm_map_bytes_with(&held->map, &piece, copy->holder);
    }
    adsm_array_unlock(array);
    return bytes;
}

int adsm_spread_copies(const struct adsm_array *array, adsmCopyInfo *out,
                       int most)
{
    struct adsm_object *object = array->object;
    int n = 0;
    if (array->direct)
        return 0;
    if (adsm_array_lock(array) != ADSM_OK)
        return -1;
    if (!adsm_object_is_gathered(object) &&
        adsm_ranged_update(object, adsm_ranged_shape(object),
                           ADSM_CAUSE(part)) == ADSM_OK) {
        const struct adsm_held *held = &adsm_ranged(object)->held;
        for (uint32_t i = ADSM_HOLDER_HOME; i < held->top; i++) {
            const struct adsm_copy *copy = held->copies[i];
            if (!copy || adsm_box_is_empty(&copy->box) || n++ >= most)
                continue;
            out[n - 1] = (adsmCopyInfo){
                .device = adsm_accel_device(copy->accel),
                .box = in_elements(array, copy->box),
                .bytes = copy->bytes,
                .valid = bytes_in(object, copy, adsm_map_bytes_with),
                .only = bytes_in(object, copy, adsm_map_bytes_only),
                .in_use = !adsm_order_is_idle(&copy->order)};
        }
    }
    adsm_array_unlock(array);
    return n;
}

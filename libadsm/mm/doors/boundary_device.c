/* Copies and sets that the program asks of the device itself: ranges of one
 * object after the other change hands; see boundary.h. */
#include "mm/doors/boundary.h"

#include "accel/early.h"
#include "mm/doors/turn.h"
#include "mm/heap/life.h"
#include "mm/object/awaited.h"
#include "mm/object/holders.h"
#include "mm/object/index.h"
#include "mm/object/list.h"
#include "mm/object/movable.h"
#include "mm/state/coherence.h"
#include "mm/watch/keep.h"

/* Bytes of a live object whose lock is held, and the blocks they lie in. */
struct part {
    struct adsm_object *object;
    size_t from, bytes;
    uint32_t first, count;
    uint32_t gate; /* of adsm_turn_take, or none */
};

/* [address, +bytes), as far as it lies in the object. `bytes` is not 0. */
static struct part part_of(struct adsm_object *object, const void *address,
                           size_t bytes)
{
    size_t from = (size_t)((const uint8_t *)address - object->host);
    size_t left = object->bytes - from;
    size_t here = bytes < left ? bytes : left;
    uint32_t first = adsm_block_of(object, from);
    uint32_t end = adsm_block_of(object, from + here - 1) + 1;
    return (struct part){object, from, here, first, end - first, ADSM_NO_GATE};
}

/* The beginning of [address, +bytes), of which the object's lock is held
 * exclusively then, to be sent. Return: false: it is not shared, or `bytes` is 0 */
static bool take_part(const void *address, size_t bytes, struct part *part)
{
    uint32_t gate;
    struct adsm_object *object = bytes ? adsm_turn_take(address, &gate) : NULL;
    if (!object)
        return false;
    *part = part_of(object, address, bytes);
    part->gate = gate;
    return true;
}

static void give_part(const struct part *p)
{
    adsm_rwlock_release(&p->object->lock);
    adsm_turn_sent(p->gate);
}

int adsm_boundary_device_read(const void *address, size_t bytes,
                              adsm_stream stream)
{
    const uint8_t *at = address;
    int rc = ADSM_OK;
    adsm_await_tasks(address, bytes, true);
    for (struct part p; rc == ADSM_OK && take_part(at, bytes, &p);
         at += p.bytes, bytes -= p.bytes) {
        rc = adsm_object_gather(p.object, ADSM_CAUSE(own));
        if (rc == ADSM_OK && atomic_load(&p.object->dirty))
            rc = adsm_coherence_apply_all(p.object, p.first, p.count,
                                          ADSM_DEVICE_READ, ADSM_CAUSE(own));
        if (rc == ADSM_OK)
            rc = adsm_dma_order_uploads(p.object->home, stream);
        give_part(&p);
    }
    return rc;
}

/* Give [from, to) of an object to the device, lock held exclusively. Partly
 * covered blocks keep what the CPU wrote beside the range: they are flushed. */
static int give_range(struct adsm_object *object, size_t from, size_t to,
                      const struct adsm_cause *cause)
{
    uint32_t first = adsm_block_of(object, from);
    uint32_t last = adsm_block_of(object, to - 1) + 1;
    int rc = ADSM_OK;
    if (!atomic_load(&object->near))
        return ADSM_OK;
    if (from != adsm_block_begin(object, first)) {
        rc = adsm_coherence_apply_all(object, first, 1, ADSM_CALL, cause);
        first++;
    }
    if (rc == ADSM_OK && last > first && to < object->bytes &&
        to != adsm_block_begin(object, last)) {
        rc = adsm_coherence_apply_all(object, last - 1, 1, ADSM_CALL, cause);
        last--;
    }
    if (rc == ADSM_OK && last > first)
        rc = adsm_coherence_apply_all(object, first, last - first,
                                      ADSM_DEVICE_WRITE, cause);
    return rc;
}

int adsm_boundary_device_write(const void *address, size_t bytes,
                               adsm_stream stream,
                               struct adsm_device_write *write,
                               const struct adsm_cause *cause)
{
    struct part p;
    write->object = NULL;
    adsm_await_tasks(address, bytes, true);
    if (!take_part(address, bytes, &p))
        return ADSM_OK;
    int rc =
        p.bytes < bytes ? ADSM_E_INVALID : adsm_object_gather(p.object, cause);
    if (rc == ADSM_OK)
        adsm_object_written(p.object);
    if (rc == ADSM_OK)
        adsm_keep_drop(p.object, p.from, p.bytes);
    if (rc == ADSM_OK)
        rc = give_range(p.object, p.from, p.from + bytes, cause);
    if (rc == ADSM_OK)
        rc = adsm_dma_order_uploads(p.object->home, stream);
    if (rc == ADSM_OK)
        *write = (struct adsm_device_write){p.object, p.gate};
    else
        give_part(&p);
    return rc;
}

int adsm_boundary_device_write_parts(const void *address, size_t bytes,
                                     adsm_stream stream,
                                     const struct adsm_device_write *write)
{
    struct adsm_object *object = write->object;
    if (!object || bytes == 0)
        return ADSM_OK;
    size_t from = (size_t)((const uint8_t *)address - object->host);
    if (from > object->bytes || bytes > object->bytes - from)
        return ADSM_E_INVALID;
    if (!atomic_load(&object->near))
        return ADSM_OK;
    struct part p = part_of(object, address, bytes);
    int rc = adsm_coherence_apply_all(object, p.first, p.count, ADSM_CALL,
                                      ADSM_CAUSE(own));
    return rc == ADSM_OK ? adsm_dma_order_uploads(object->home, stream) : rc;
}

void adsm_boundary_device_written(struct adsm_device_write *write)
{
    if (write->object) {
        adsm_rwlock_release(&write->object->lock);
        adsm_turn_sent(write->gate);
    }
    write->object = NULL;
}

/* ---- memory that others use ------------------------------------------------ */

/* Lock held exclusively. First what is dirty, so that nothing written is lost. */
static int yield_part(const struct part *p)
{
    if (!adsm_object_is_adopted(p->object) || !atomic_load(&p->object->near))
        return ADSM_OK;
    int rc = adsm_coherence_apply_all(p->object, p->first, p->count,
                                      ADSM_DEVICE_READ, ADSM_CAUSE(call));
    return rc == ADSM_OK
               ? adsm_coherence_apply_all(p->object, p->first, p->count,
                                          ADSM_DEVICE_WRITE, ADSM_CAUSE(call))
               : rc;
}

/* The object is taken, and is given back. */
static int yield_taken(const struct part *p)
{
    struct adsm_accel *accel = p->object->home;
    int rc = yield_part(p);
    give_part(p);
    return rc == ADSM_OK ? adsm_dma_drain(accel) : rc;
}

/* The object at an address, as far as the range goes. */
static int yield_at(const void *address, size_t bytes)
{
    struct part p;
    return take_part(address, bytes, &p) ? yield_taken(&p) : ADSM_OK;
}

int adsm_boundary_yield(const void *address, size_t bytes)
{
    uintptr_t begin = (uintptr_t)address, end = begin + bytes;
    int rc = ADSM_OK;
    for (uintptr_t c = begin; rc == ADSM_OK && c && c < end;
         c = adsm_index_border(c))
        rc = yield_at((const void *)c, end - c);
    return rc;
}

/* In a walk no gate can be passed. */
static int yield_object(struct adsm_object *object, void *argument)
{
    (void)argument;
    if (!adsm_object_is_adopted(object))
        return ADSM_OK;
    const void *host = object->host;
    size_t bytes = object->bytes;
    adsm_early_forget(object->home, object->device, bytes);
    struct adsm_object *there = adsm_index_acquire_alone(host);
    if (!there)
        return ADSM_OK;
    struct part p = part_of(there, host, bytes);
    return yield_taken(&p);
}

int adsm_boundary_yield_all(void)
{
    struct adsm_accel *accel;
    while ((accel = adsm_turn_ahead(UINT32_MAX)))
        adsm_turn_wait(accel);
    /* Of one that is not near a store may be on its way. */
    return adsm_object_each(NULL, false, yield_object, NULL);
}

/* Not on the host, and held by nobody: who holds a block may have opened it, and
 * a thread stored there, before its state says so. One look for both. */
static bool block_is_far(const struct adsm_object *object, uint32_t i)
{
    enum { SEEN = ADSM_BLOCK_STATE | ADSM_BLOCK_BUSY };
    return (atomic_load(&object->blocks[i]) & SEEN) == ADSM_INVALID;
}

bool adsm_boundary_is_far(const void *address, size_t bytes)
{
    struct adsm_object *object = bytes ? adsm_index_acquire(address) : NULL;
    if (!object)
        return true;
    struct part p = part_of(object, address, bytes);
    bool far = p.bytes == bytes && adsm_object_is_gathered(object);
    for (uint32_t i = p.first; i < p.first + p.count && far; i++)
        far = block_is_far(object, i);
    adsm_rwlock_release_shared(&object->lock);
    return far;
}

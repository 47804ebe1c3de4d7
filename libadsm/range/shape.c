/* Names by address, in uthash; see shape.h. */
#include "range/shape.h"

#include "base/lock.h"
#include "mm/direct.h"

#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { LEAST_SWEPT = 256 }; /* names, before old ones are looked for */

struct shape {
    const uint8_t *at; /* the key */
    uint64_t allocation;
    size_t elem;
    adsmBox shape;
    UT_hash_handle hh;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static struct shape *shapes;
static unsigned sweep_at = LEAST_SWEPT;

static bool is_alive(const struct shape *shape)
{
    struct adsm_direct direct;
    return adsm_direct_find(shape->at, &direct) &&
           direct.id == shape->allocation;
}

/* Drop those of memory that has been freed; the lock is held. */
static void sweep(void)
{
    struct shape *shape, *next;
    HASH_ITER(hh, shapes, shape, next)
    {
        if (is_alive(shape))
            continue;
        HASH_DEL(shapes, shape);
        free(shape);
    }
    sweep_at = 2 * HASH_COUNT(shapes);
    if (sweep_at < LEAST_SWEPT)
        sweep_at = LEAST_SWEPT;
}

/* The name of an address, made if it has none; the lock is held. */
static struct shape *name(const uint8_t *at)
{
    struct shape *shape;
    HASH_FIND(hh, shapes, &at, sizeof at, shape);
    if (shape)
        return shape;
    if (HASH_COUNT(shapes) >= sweep_at)
        sweep();
    shape = calloc(1, sizeof *shape);
    if (!shape)
        return NULL;
    shape->at = at;
    HASH_ADD(hh, shapes, at, sizeof shape->at, shape);
    if (shape->hh.tbl)
        return shape;
    free(shape);
    return NULL;
}

int adsm_shape_say(const struct adsm_array *array)
{
    struct adsm_direct direct;
    if (!adsm_direct_find(array->direct, &direct))
        return ADSM_E_NOT_SHARED;
    adsm_lock_acquire(&lock);
    struct shape *shape = name(array->direct);
    if (shape) {
        shape->allocation = direct.id;
        shape->elem = array->elem;
        shape->shape = array->shape;
    }
    adsm_lock_release(&lock);
    return shape ? ADSM_OK : ADSM_E_NOMEM;
}

int adsm_shape_find(const void *address, struct adsm_array *array)
{
    struct adsm_direct direct;
    struct shape *shape;
    if (!adsm_direct_find(address, &direct))
        return ADSM_E_NOT_SHARED;
    array->object = NULL;
    array->generation = 0;
    array->origin = 0;
    array->direct = address;
    adsm_lock_acquire(&lock);
    HASH_FIND(hh, shapes, &array->direct, sizeof array->direct, shape);
    bool said = shape && shape->allocation == direct.id;
    if (said) {
        array->elem = shape->elem;
        array->shape = shape->shape;
    }
    adsm_lock_release(&lock);
    return said ? ADSM_OK : ADSM_E_NOT_FOUND;
}

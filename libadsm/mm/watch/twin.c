/* Heat, differences, and the memory of twins; see twin.h. */
#include "mm/watch/twin.h"

#include "base/option.h"
#include "base/stats.h"
#include "mm/object/holders.h"

#include <stdlib.h>
#include <string.h>

/* Heat of a block, two bits of its byte: how many calls one after the other
 * have found it written. One that is kept open loses one with each call that
 * finds it unchanged, and is closed when it is no longer warm. */
enum { COLD = 0, WARM = 2, HOT = 3, HEAT_SHIFT = 6 };

static _Atomic size_t bytes_in_use;

static unsigned heat_of(const struct adsm_object *object, uint32_t i)
{
    return adsm_block_flags(object, i, ADSM_BLOCK_HEAT) >> HEAT_SHIFT;
}

static void set_heat(struct adsm_object *object, uint32_t i, unsigned heat)
{
    if (heat != heat_of(object, i))
        (void)adsm_block_change(object, i, ADSM_BLOCK_HEAT,
                                (uint8_t)(heat << HEAT_SHIFT));
}

/* Room for a twin, which may be there from an earlier time. */
static bool make_room(struct adsm_object *object, uint32_t i)
{
    size_t bytes = adsm_block_bytes(object, i);
    if (!object->twins)
        object->twins = calloc(object->block_count, sizeof *object->twins);
    if (!object->twins)
        return false;
    if (object->twins[i])
        return true;
    if (atomic_fetch_add(&bytes_in_use, bytes) + bytes <= ADSM_TWIN_BYTES_MAX)
        object->twins[i] = malloc(bytes);
    if (!object->twins[i])
        atomic_fetch_sub(&bytes_in_use, bytes);
    return object->twins[i];
}

static void give_room(struct adsm_object *object, uint32_t i)
{
    if (!object->twins || !object->twins[i])
        return;
    free(object->twins[i]);
    object->twins[i] = NULL;
    atomic_fetch_sub(&bytes_in_use, adsm_block_bytes(object, i));
}

bool adsm_twin_keeps(struct adsm_object *object, uint32_t i)
{
    unsigned heat = heat_of(object, i);
    if (!adsm_object_is_gathered(object) || heat < WARM ||
        (heat < HOT && !adsm_twin_is_there(object, i)) ||
        adsm_block_bytes(object, i) > adsm_options_get()->keep_open)
        return false;
    if (adsm_dma_is_clear(object->home, object->work))
        return make_room(object, i);
    /* Not asked again at once, which costs as much as half a fault. */
    set_heat(object, i, COLD);
    return false;
}

/* Narrow [*from, *to) by pieces of `step` bytes that are equal on both sides. */
static void skip_equal(const uint8_t *a, const uint8_t *b, size_t step,
                       size_t *from, size_t *to)
{
    while (*to - *from >= step && memcmp(a + *from, b + *from, step) == 0)
        *from += step;
    while (*to - *from >= step &&
           memcmp(a + *to - step, b + *to - step, step) == 0)
        *to -= step;
}

int adsm_twin_send(struct adsm_object *object, uint32_t i,
                   const struct adsm_cause *cause)
{
    size_t offset = adsm_block_begin(object, i);
    const uint8_t *host = object->shadow.shadow + offset;
    uint8_t *twin = object->twins[i];
    size_t from = 0, to = adsm_block_bytes(object, i);
    ADSM_COUNT(kept_open, 1);
    if (adsm_twin_is_there(object, i)) {
        skip_equal(host, twin, 2048, &from, &to);
        skip_equal(host, twin, 64, &from, &to);
        if (to - from < 64 && memcmp(host + from, twin + from, to - from) == 0)
            to = from;
    }
    if (from == to) {
        set_heat(object, i, heat_of(object, i) - 1);
        return ADSM_OK;
    }
    memcpy(twin + from, host + from, to - from);
    struct adsm_cause its = adsm_object_cause(object, cause);
    struct adsm_fence done;
    ADSM_COUNT(flushes, 1);
    int rc = adsm_dma_upload(object->home,
                             adsm_daddr_add(object->device, offset + from),
                             twin + from, to - from, object->work, &done, &its);
    set_heat(object, i, HOT);
    (void)adsm_block_change(object, i, ADSM_BLOCK_TWIN,
                            rc == ADSM_OK ? ADSM_BLOCK_TWIN : 0);
    return rc;
}

static void close_one(struct adsm_object *object, uint32_t i, bool written)
{
    unsigned heat = heat_of(object, i);
    if (written && !adsm_twin_is_there(object, i)) {
        set_heat(object, i, heat < HOT ? heat + 1 : HOT);
    } else if (heat != COLD) {
        give_room(object, i);
        (void)adsm_block_change(object, i, ADSM_BLOCK_HEAT | ADSM_BLOCK_TWIN,
                                0);
    }
}

uint32_t adsm_twin_close(struct adsm_object *object, uint32_t first,
                         uint32_t count, bool written)
{
    uint32_t ended = adsm_twin_count(object, first, count);
    for (uint32_t i = first; i < first + count; i++)
        close_one(object, i, written);
    return ended - adsm_twin_count(object, first, count);
}

uint32_t adsm_twin_count(const struct adsm_object *object, uint32_t first,
                         uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = first; object->twins && i < first + count; i++)
        n += adsm_twin_is_there(object, i);
    return n;
}

void adsm_twin_free(struct adsm_object *object)
{
    for (uint32_t i = 0; object->twins && i < object->block_count; i++)
        give_room(object, i);
    free(object->twins);
    object->twins = NULL;
}

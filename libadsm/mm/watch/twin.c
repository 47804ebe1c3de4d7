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

enum {
    PAGE = 4096,
    /* Of one block. Each costs as much as sending 8 pages more. */
    RUNS_MOST = 8,
    /* Of an object one of whose large blocks stays open. */
    DIRTY_MOST = 32,
    /* One is tried after 8 calls that close all that is dirty now, then 64, 512. */
    LEVEL_MOST = 3,
    LEVEL_SHIFT = 3,
};

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

/* ---- memory --------------------------------------------------------------- */

static struct adsm_twins *make_twins(struct adsm_object *object)
{
    struct adsm_twins *twins = object->twins;
    if (!twins)
        twins = calloc(1, sizeof *twins +
                              object->block_count * sizeof twins->of[0]);
    object->twins = twins;
    return twins;
}

/* Room for a twin, which may be there from an earlier time. */
static bool make_room(struct adsm_object *object, uint32_t i)
{
    size_t bytes = adsm_block_bytes(object, i);
    if (!make_twins(object))
        return false;
    struct adsm_twin *twin = &object->twins->of[i];
    if (twin->bytes)
        return true;
    if (atomic_fetch_add(&bytes_in_use, bytes) + bytes <= ADSM_TWIN_BYTES_MAX)
        twin->bytes = malloc(bytes);
    if (!twin->bytes)
        atomic_fetch_sub(&bytes_in_use, bytes);
    return twin->bytes;
}

static void give_room(struct adsm_object *object, uint32_t i)
{
    if (!object->twins || !object->twins->of[i].bytes)
        return;
    free(object->twins->of[i].bytes);
    object->twins->of[i] = (struct adsm_twin){0};
    atomic_fetch_sub(&bytes_in_use, adsm_block_bytes(object, i));
}

/* ---- which stay open ------------------------------------------------------ */

/* Large block `i` has no twin: is it its turn to be tried? One at a time, as
 * long as nobody knows that blocks of this object are written sparsely. One that
 * was closed meanwhile by something else tells nothing. */
static bool is_its_turn(const struct adsm_object *object, uint32_t i)
{
    const struct adsm_twins *twins = object->twins;
    if (!twins || twins->trusted)
        return true;
    return twins->wait == 0 &&
           (!twins->trying || twins->tried == i ||
            adsm_block_state(object, twins->tried) != ADSM_DIRTY);
}

void adsm_twin_call(struct adsm_object *object)
{
    object->crowded = atomic_load(&object->dirty) > DIRTY_MOST;
}

/* What was tried is written densely, or nothing can be told. */
static void distrust(struct adsm_object *object, uint32_t i)
{
    struct adsm_twins *twins = object->twins;
    set_heat(object, i, COLD);
    twins->of[i].whole = 0;
    if (!twins->trusted && !(twins->trying && twins->tried == i))
        return; /* another was the first to be found so */
    twins->trusted = twins->trying = false;
    twins->level += twins->level < LEVEL_MOST;
    twins->wait = atomic_load(&object->dirty) << LEVEL_SHIFT * twins->level;
}

/* Was it filled last time, and closed before it was compared? */
static bool was_closed_unseen(const struct adsm_object *object, uint32_t i)
{
    return object->twins && object->twins->of[i].whole > 0;
}

/* Where many blocks are dirty one change of protection closes them all, if none
 * of them stays open; and where pages are watched nothing need be compared. */
static bool may_stay(struct adsm_object *object, uint32_t i)
{
    if (!adsm_twin_is_large(object, i))
        return true;
    if (object->sparse)
        return false;
    if (adsm_twin_is_there(object, i))
        return !object->crowded;
    if (was_closed_unseen(object, i)) {
        distrust(object, i);
        return false;
    }
    return !object->crowded && is_its_turn(object, i);
}

bool adsm_twin_keeps(struct adsm_object *object, uint32_t i)
{
    unsigned heat = heat_of(object, i);
    if (!adsm_object_is_gathered(object) || heat < WARM ||
        (heat < HOT && !adsm_twin_is_there(object, i)) ||
        adsm_block_bytes(object, i) > adsm_options_get()->keep_open ||
        !may_stay(object, i))
        return false;
    if (adsm_dma_is_clear(object->home, object->work))
        return make_room(object, i);
    /* Not asked again at once, which costs as much as half a fault. */
    set_heat(object, i, COLD);
    return false;
}

static void trust(struct adsm_object *object)
{
    struct adsm_twins *twins = object->twins;
    twins->trusted = true;
    twins->trying = false;
    twins->level = 0;
    twins->wait = 0;
}

/* Block `i` was compared, and so much of it was to be sent. */
static void learn(struct adsm_object *object, uint32_t i, size_t changed)
{
    struct adsm_twin *twin = &object->twins->of[i];
    bool dense = adsm_twin_is_large(object, i) &&
                 changed > adsm_block_bytes(object, i) / 2;
    bool first = twin->whole > 0 && changed > 0;
    if (first)
        twin->whole = 0;
    if (changed == 0 || (dense && !first))
        set_heat(object, i, heat_of(object, i) - 1);
    else if (dense)
        distrust(object, i);
    else
        set_heat(object, i, HOT);
    if (first && !dense && !object->twins->trusted)
        trust(object);
}

/* A block goes as a whole, its twin begins. */
static void begin(struct adsm_object *object, uint32_t i)
{
    struct adsm_twins *twins = object->twins;
    if (!adsm_twin_is_large(object, i))
        return;
    if (!twins->trusted) {
        twins->trying = true;
        twins->tried = i;
    }
    twins->of[i].whole++;
}

/* ---- what is sent --------------------------------------------------------- */

/* Narrow [*from, *to) by pieces of 64 bytes that are equal on both sides. */
static void skip_equal(const uint8_t *a, const uint8_t *b, size_t *from,
                       size_t *to)
{
    enum { STEP = 64 };
    while (*to - *from >= STEP && memcmp(a + *from, b + *from, STEP) == 0)
        *from += STEP;
    while (*to - *from >= STEP &&
           memcmp(a + *to - STEP, b + *to - STEP, STEP) == 0)
        *to -= STEP;
}

static bool page_differs(const uint8_t *a, const uint8_t *b, size_t at,
                         size_t bytes)
{
    size_t n = bytes - at < PAGE ? bytes - at : PAGE;
    return memcmp(a + at, b + at, n) != 0;
}

/* Runs of pages of `bytes` that differ, without what is equal at their ends.
 * Return: how many; of more than RUNS_MOST the last has the rest */
static size_t differences(const uint8_t *host, const uint8_t *twin,
                          size_t bytes, struct adsm_dma_part *parts)
{
    size_t count = 0, next = 0;
    for (size_t at = 0; at < bytes; at = next) {
        next = at + PAGE;
        if (!page_differs(host, twin, at, bytes))
            continue;
        while (next < bytes && page_differs(host, twin, next, bytes))
            next += PAGE;
        size_t from = count < RUNS_MOST ? at : parts[count - 1].offset;
        size_t to = next < bytes ? next : bytes;
        count += count < RUNS_MOST;
        skip_equal(host, twin, &from, &to);
        parts[count - 1] = (struct adsm_dma_part){from, to - from};
    }
    return count;
}

static size_t copy_parts(uint8_t *twin, const uint8_t *host,
                         const struct adsm_dma_part *parts, size_t count)
{
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++) {
        memcpy(twin + parts[k].offset, host + parts[k].offset, parts[k].bytes);
        bytes += parts[k].bytes;
    }
    return bytes;
}

int adsm_twin_send(struct adsm_object *object, uint32_t i,
                   const struct adsm_cause *cause)
{
    size_t offset = adsm_block_begin(object, i);
    const uint8_t *host = object->shadow.shadow + offset;
    uint8_t *twin = object->twins->of[i].bytes;
    struct adsm_dma_part parts[RUNS_MOST] = {{0, adsm_block_bytes(object, i)}};
    size_t count = 1;
    ADSM_COUNT(kept_open, 1);
    if (adsm_twin_is_there(object, i))
        count = differences(host, twin, parts[0].bytes, parts);
    size_t bytes = copy_parts(twin, host, parts, count);
    if (adsm_twin_is_there(object, i)) {
        learn(object, i, bytes);
    } else {
        set_heat(object, i, HOT);
        begin(object, i);
    }
    if (count == 0)
        return ADSM_OK;
    struct adsm_cause its = adsm_object_cause(object, offset, cause);
    struct adsm_fence done;
    ADSM_COUNT(flushes, 1);
    /* More of plain memory drivers do not take without waiting. */
    bool staged = bytes > ADSM_TWIN_SMALL_BYTES;
    int rc = adsm_dma_upload_parts(
        object->home, adsm_daddr_add(object->device, offset), twin, parts,
        count, staged, object->work, &done, &its);
    (void)adsm_block_change(object, i, ADSM_BLOCK_TWIN,
                            rc == ADSM_OK ? ADSM_BLOCK_TWIN : 0);
    return rc;
}

/* ---- their ends ----------------------------------------------------------- */

static void close_one(struct adsm_object *object, uint32_t i, bool written)
{
    unsigned heat = heat_of(object, i);
    if (written && adsm_twin_is_large(object, i) && object->twins &&
        object->twins->wait > 0)
        object->twins->wait--;
    if (written && !adsm_twin_is_there(object, i)) {
        set_heat(object, i, heat < HOT ? heat + 1 : HOT);
    } else if (heat != COLD || adsm_twin_is_there(object, i)) {
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

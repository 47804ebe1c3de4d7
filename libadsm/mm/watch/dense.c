/* How much of 2 MiB is dirty, and how much of that is needed; see dense.h. */
#include "mm/watch/dense.h"

#include "base/option.h"
#include "mm/object/index.h"
#include "mm/watch/sparse.h"

#include <stdlib.h>

enum {
    STRETCH_BYTES = 1 << ADSM_TRACT_SHIFT,
    LEAST = 32,      /* blocks of a stretch worth the trouble           */
    LEAST_OPEN = 16, /* ... that are opened together                    */
    TRUST_MOST = 2,  /* ... and a quarter of the evidence for each step */
    OPENINGS = 8,    /* until the evidence must be half of them again   */
};

/* Of a stretch. Relaxed throughout: torn, it misleads one fault or two. */
struct adsm_dense {
    _Atomic uint16_t faults; /* since it was looked at, and what was dirty */
    _Atomic uint8_t trust;
    _Atomic uint8_t openings;
};

static uint32_t stretch_blocks(const struct adsm_object *object)
{
    return (uint32_t)(STRETCH_BYTES / object->block_bytes);
}

int adsm_dense_init(struct adsm_object *object)
{
    object->dense = NULL;
    if (object->block_count < LEAST ||
        object->block_bytes > STRETCH_BYTES / LEAST ||
        !adsm_options_get()->rolling_learn)
        return ADSM_OK;
    object->dense = calloc(object->block_count / stretch_blocks(object) + 1,
                           sizeof *object->dense);
    return object->dense ? ADSM_OK : ADSM_E_NOMEM;
}

void adsm_dense_fini(struct adsm_object *object)
{
    free(object->dense);
    object->dense = NULL;
}

static uint32_t load8(const _Atomic uint8_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void set8(_Atomic uint8_t *at, uint32_t value)
{
    atomic_store_explicit(at, (uint8_t)value, memory_order_relaxed);
}

static void set_faults(struct adsm_dense *dense, uint32_t faults)
{
    atomic_store_explicit(&dense->faults, (uint16_t)faults,
                          memory_order_relaxed);
}

static uint32_t dirty_in(const struct adsm_object *object, uint32_t first,
                         uint32_t count)
{
    uint32_t dirty = 0;
    for (uint32_t i = first; i < first + count; i++)
        dirty += adsm_block_state(object, i) == ADSM_DIRTY &&
                 !adsm_sparse_is_watched(object, i);
    return dirty;
}

/* A stretch of so many blocks has been opened for what was found in it. */
static void note_opening(struct adsm_dense *dense)
{
    uint32_t trust = load8(&dense->trust), n = load8(&dense->openings);
    if (trust < TRUST_MOST) {
        set8(&dense->trust, trust + 1);
        set8(&dense->openings, 0);
    } else if (n + 1 < OPENINGS) {
        set8(&dense->openings, n + 1);
    } else {
        set8(&dense->trust, 0);
    }
    set_faults(dense, 0);
}

/* Early write-backs would close at once what is beyond. */
static uint32_t most_open(uint32_t blocks, uint32_t limit)
{
    while (blocks > limit / 2)
        blocks /= 2;
    return blocks;
}

uint32_t adsm_dense_reach(struct adsm_object *object, uint32_t i,
                          uint32_t limit, uint32_t *first)
{
    if (!object->dense)
        return 0;
    uint32_t blocks = stretch_blocks(object);
    struct adsm_dense *dense = &object->dense[i / blocks];
    uint32_t begin = i / blocks * blocks, here = object->block_count - begin;
    here = here < blocks ? here : blocks;
    uint32_t enough = (here / 2 >> 2 * load8(&dense->trust)) + 1;
    uint32_t faults =
        1u + atomic_fetch_add_explicit(&dense->faults, 1, memory_order_relaxed);
    uint32_t open = most_open(blocks, limit);
    if (faults < enough || here < LEAST || open < LEAST_OPEN)
        return 0;
    uint32_t dirty = dirty_in(object, begin, here) + 1;
    if (dirty < enough) {
        /* Closed in between: few for each call. Or others are being opened. */
        if (dirty <= enough / 2)
            set8(&dense->trust, 0);
        set_faults(dense, dirty);
        return 0;
    }
    note_opening(dense);
    *first = i / open * open;
    uint32_t end = *first + open;
    return (end < object->block_count ? end : object->block_count) - *first;
}

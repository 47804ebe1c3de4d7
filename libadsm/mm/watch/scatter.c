/* Rounds, counts by block, and what was in vain; see scatter.h. */
#include "mm/watch/scatter.h"

#include "base/option.h"
#include "mm/object/holders.h"
#include "mm/object/movable.h"

#include <stdlib.h>

enum {
    /* What opening a block costs, in stores served: each some 4 us on a machine
     * with a GPU. More than that may come, so up to twice as many are. */
    LEAST = 8,
    BYTES_FOR_ONE = 32 << 10,
    /* Smaller blocks are counted together, by so many bytes. */
    PATCH_BYTES = 256 << 10,
    /* One that goes on from the last is no scattered one; nor is it the first of
     * many where it is the second half of a pair. */
    PAIR = 1,
    /* Of openings that may be put off one in 8 is, and then one in 64. */
    LEVEL_MOST = 2,
    LEVEL_SHIFT = 3,
    /* A patch's word: stores, and the round they were served in. */
    STORES_BITS = 9,
    STORES_MOST = (1 << STORES_BITS) - 1,
};

struct adsm_scatter {
    _Atomic uint32_t round;   /* of the last store served            */
    _Atomic size_t end;       /* behind it                           */
    _Atomic uint8_t run;      /* stores that went on from one another */
    _Atomic uint8_t level;    /* times it was in vain                */
    _Atomic uint8_t skip;     /* openings to be let pass             */
    _Atomic uint32_t served;  /* stores in this round                */
    _Atomic uint32_t vain;    /* of these, into blocks that were opened */
    uint32_t blocks;          /* of a patch                          */
    uint32_t most;            /* stores to be served of one          */
    _Atomic uint16_t patch[]; /* of each: round and stores           */
};

static _Atomic uint32_t calls;

#define load(from)       atomic_load_explicit(from, memory_order_relaxed)
#define store(at, value) atomic_store_explicit(at, value, memory_order_relaxed)

int adsm_scatter_init(struct adsm_object *object,
                      const struct adsm_protocol *protocol)
{
    const struct adsm_cell *cell =
        &protocol->cell[ADSM_WRITE_FAULT][ADSM_INVALID];
    uint32_t blocks = object->block_bytes < PATCH_BYTES
                          ? (uint32_t)(PATCH_BYTES / object->block_bytes)
                          : 1;
    size_t most = LEAST + blocks * object->block_bytes / BYTES_FOR_ONE;
    object->scatter = NULL;
    if (!adsm_options_get()->serve_stores || object->homeless ||
        adsm_object_is_movable(object) || !(cell->actions & ADSM_DO_FETCH))
        return ADSM_OK;
    struct adsm_scatter *made =
        calloc(1, sizeof *made +
                      (object->block_count / blocks + 1) * sizeof *made->patch);
    if (!made)
        return ADSM_E_NOMEM;
    made->blocks = blocks;
    made->most = most < STORES_MOST ? (uint32_t)most : STORES_MOST;
    object->scatter = made;
    return ADSM_OK;
}

void adsm_scatter_fini(struct adsm_object *object)
{
    free(object->scatter);
    object->scatter = NULL;
}

bool adsm_scatter_may(const struct adsm_object *object, uint32_t i)
{
    /* Bytes that stay with the CPU are not sent, and none is where something
     * else has what the host has not. */
    return object->scatter && adsm_block_state(object, i) == ADSM_INVALID &&
           !object->holders && !object->kept;
}

/* The round's part of a patch's word. */
static uint16_t tag(uint32_t round)
{
    return (uint16_t)(round << STORES_BITS);
}

static _Atomic uint16_t *patch_of(struct adsm_scatter *scatter, uint32_t i)
{
    return &scatter->patch[i / scatter->blocks];
}

/* Stores around the block that were served in this round. */
static uint32_t served(struct adsm_scatter *scatter, uint32_t i)
{
    uint16_t word = load(patch_of(scatter, i));
    return (word & ~STORES_MOST) == tag(load(&calls)) ? word & STORES_MOST : 0;
}

/* What was served in the last one was not in vain. */
static void begin_round(struct adsm_scatter *scatter, uint32_t round)
{
    if (load(&scatter->round) == round)
        return;
    store(&scatter->round, round);
    store(&scatter->run, 0);
    if (load(&scatter->served) > 0)
        store(&scatter->level, 0);
    store(&scatter->served, 0);
    store(&scatter->vain, 0);
}

/* Does it go on from the last? */
static bool goes_on(struct adsm_scatter *scatter, size_t from, size_t to)
{
    uint8_t run = load(&scatter->end) == from ? load(&scatter->run) + 1 : 0;
    store(&scatter->end, to);
    store(&scatter->run, run);
    return run > PAIR;
}

bool adsm_scatter_wants(struct adsm_object *object, uint32_t i, size_t from,
                        size_t to)
{
    struct adsm_scatter *scatter = object->scatter;
    uint32_t round = load(&calls), count = served(scatter, i);
    uint8_t skip = load(&scatter->skip);
    begin_round(scatter, round);
    if (count == 0 && skip > 0) {
        store(&scatter->skip, skip - 1);
        return false;
    }
    if (count >= scatter->most || goes_on(scatter, from, to))
        return false;
    store(patch_of(scatter, i), (uint16_t)(tag(round) | (count + 1)));
    store(&scatter->served, load(&scatter->served) + 1);
    return true;
}

void adsm_scatter_opened(struct adsm_object *object, uint32_t i)
{
    struct adsm_scatter *scatter = object->scatter;
    uint32_t count = scatter ? served(scatter, i) : 0;
    if (count == 0)
        return;
    uint32_t vain = load(&scatter->vain) + count;
    uint8_t level = load(&scatter->level);
    store(patch_of(scatter, i), 0);
    store(&scatter->vain, vain);
    if (2 * vain < load(&scatter->served))
        return;
    level += level < LEVEL_MOST;
    store(&scatter->level, level);
    store(&scatter->skip, (uint8_t)((1u << LEVEL_SHIFT * level) - 1));
    store(&scatter->served, 0);
    store(&scatter->vain, 0);
}

bool adsm_scatter_has_sent(const struct adsm_object *object)
{
    return object->scatter && load(&object->scatter->end) > 0;
}

void adsm_scatter_called(void)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

/* How many blocks may be dirty; see rolling_size.h. */
#include "protocols/rolling_size.h"

enum { PATIENCE_LEAST = 8, PATIENCE_MOST = 1024, ONE_IN = 8 };

void adsm_rolling_size_init(struct adsm_rolling_size *size, uint32_t given,
                            uint32_t factor, uint32_t most,
                            struct adsm_sent_block *sent, uint32_t room)
{
    *size = (struct adsm_rolling_size){
        .limit = given,
        .least = given,
        .most = given > most ? given : most,
        .factor = given ? 0 : factor,
        .sent = sent,
        .room = room,
        .patience = PATIENCE_LEAST,
    };
}

static uint32_t more(const struct adsm_rolling_size *size, uint32_t than,
                     uint32_t by)
{
    return size->most - than < by ? size->most : than + by;
}

void adsm_rolling_size_grow(struct adsm_rolling_size *size)
{
    size->least = more(size, size->least, size->factor);
    size->limit = more(size, size->limit, size->factor);
}

/* Bits of a block's name that depend on all of it (Steele and others'
 * splitmix64). */
static uint64_t mix(const struct adsm_dirty_entry *block)
{
    uint64_t x = (uint64_t)(uintptr_t)block->owner +
                 ((uint64_t)block->generation << 32) + block->block;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The block's place, and its name since the last call. */
static struct adsm_sent_block *place(const struct adsm_rolling_size *size,
                                     const struct adsm_dirty_entry *block,
                                     uint32_t *name)
{
    uint64_t bits = mix(block);
    *name = ((uint32_t)(bits >> 32) ^ size->calls * UINT32_C(0x9e3779b9)) | 1;
    return &size->sent[(uint32_t)bits & (size->room - 1)];
}

void adsm_rolling_size_sent(struct adsm_rolling_size *size,
                            const struct adsm_dirty_entry *block)
{
    uint32_t name;
    if (!size->sent)
        return;
    struct adsm_sent_block *sent = place(size, block, &name);
    sent->name = name;
    sent->since = size->ever - size->limit;
}

static bool many_come_back(const struct adsm_rolling_size *size)
{
    return size->back > 0 && size->back >= size->dirtied / ONE_IN;
}

/* A block would have stayed under a size of `enough`. */
static void approach(struct adsm_rolling_size *size, uint32_t enough)
{
    if (enough <= size->limit || !many_come_back(size))
        return;
    uint32_t by = (enough - size->limit + 3) / 4;
    size->limit = more(size, size->limit, by < size->limit ? by : size->limit);
}

void adsm_rolling_size_dirtied(struct adsm_rolling_size *size,
                               const struct adsm_dirty_entry *block)
{
    uint32_t name;
    if (!size->sent)
        return;
    struct adsm_sent_block *sent = place(size, block, &name);
    size->ever++;
    size->dirtied++;
    if (sent->name != name)
        return;
    sent->name = 0;
    size->back++;
    approach(size, size->ever - sent->since);
}

/* Few came back for long: would less do? */
static void try_less(struct adsm_rolling_size *size)
{
    if (size->trying && size->patience > PATIENCE_LEAST)
        size->patience /= 2; /* the last time it did */
    size->limit -= (size->limit - size->least + 3) / 4;
    size->trying = true;
    size->calm = 0;
}

static void learn(struct adsm_rolling_size *size)
{
    if (many_come_back(size)) {
        if (size->trying && size->patience < PATIENCE_MOST)
            size->patience *= 2;
        size->trying = false;
        size->calm = 0;
    } else if (++size->calm >= size->patience && size->limit > size->least) {
        try_less(size);
    }
}

void adsm_rolling_size_called(struct adsm_rolling_size *size)
{
    /* Where nothing was written a call says nothing. */
    if (size->dirtied == 0)
        return;
    learn(size);
    size->calls++;
    size->dirtied = 0;
    size->back = 0;
}

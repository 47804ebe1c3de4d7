/*
 * What the suites about fetching ahead share: one object, rounds of a kernel and
 * reads, and the wait for what comes.
 */
#ifndef TESTS_MM_AHEAD_ROUNDS_H
#define TESTS_MM_AHEAD_ROUNDS_H

#include "base/stats.h"
#include "fixture.h"
#include "mm/object/block.h"
#include "mm/watch/ahead.h"

#include <sched.h>
#include <stdlib.h>

enum { BLOCK = 64 << 10, BLOCKS = 64, BYTES = BLOCK * BLOCKS };

static struct fixture f;
static uint32_t round_number;

static inline uint64_t count(enum adsm_stat stat)
{
    return adsm_stats_get(stat);
}

static inline uint8_t *make(void)
{
    uint8_t *p = adsmAlloc(BYTES);
    ck_assert_ptr_nonnull(p);
    return p;
}

static inline void fill(adsmKernel *kernel, uint8_t *p)
{
    device_fill(kernel, p, BYTES, ++round_number);
}

static inline void must_read(const uint8_t *p, uint32_t block)
{
    uint32_t at = block * BLOCK + 77 * block;
    ck_assert_uint_eq(((const volatile uint8_t *)p)[at],
                      filled(at, round_number));
}

/* What is expected has come: `n` blocks, of which none was accessed. */
static inline void await_ahead(const uint8_t *p, uint32_t n)
{
    const struct adsm_object *object = adsm_index_find(p);
    while (atomic_load(&object->ahead->unseen) < n)
        sched_yield();
    /* Held to the end: who passes them finds nobody. */
    for (uint32_t i = 0; i < object->block_count; i++)
        while (adsm_block_is_held(object, i))
            sched_yield();
    ck_assert_uint_eq(atomic_load(&object->ahead->unseen), n);
}

/* A launch, a return, and every `step`th block read from `first` on. */
static inline void run_round(uint8_t *p, uint32_t first, uint32_t step)
{
    fill(f.fill, p);
    must(adsmSync());
    for (uint32_t i = first; i < BLOCKS; i += step)
        must_read(p, i);
}

/* A round, and the next one up to its return: all is there. */
static inline uint8_t *make_expected(uint32_t first, uint32_t step, uint32_t n)
{
    uint8_t *p = make();
    run_round(p, first, step);
    fill(f.fill, p);
    must(adsmSync());
    await_ahead(p, n);
    return p;
}

#endif

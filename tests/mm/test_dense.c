/*
 * Stretches that are written all over: when a write opens all of one, and when
 * no more. Wants ADSM_PROTOCOL=rolling, blocks of 4 KiB and no early
 * write-backs.
 */
#include "fixture.h"
#include "base/stats.h"
#include "mm/state/coherence.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 4096,
    STRETCH = 2 << 20,
    BLOCKS = STRETCH / BLOCK,
    HALF = BLOCKS / 2 + 1, /* what is evidence at first   */
    EIGHTH = BLOCKS / 8 + 1,
    LITTLE = BLOCKS / 32 + 1, /* ... and in the end */
    OPENINGS = 8,             /* with that little    */
};

static uint64_t faults(void)
{
    return adsm_stats_get(ADSM_STAT_faults_write);
}

static uint64_t openings(void)
{
    return adsm_stats_get(ADSM_STAT_dense_openings);
}

static uint8_t *make(size_t bytes)
{
    uint8_t *p = adsmAlloc(bytes);
    ck_assert_ptr_nonnull(p);
    return p;
}

static uint32_t dirty_in(const uint8_t *p)
{
    struct adsm_object *object = adsm_index_find(p);
    uint32_t dirty = 0, at = adsm_block_of(object, (size_t)(p - object->host));
    for (uint32_t i = at; i < at + BLOCKS; i++)
        dirty += adsm_block_state(object, i) == ADSM_DIRTY;
    return dirty;
}

/* The n-th block of a stretch, far from the one before: 5 * 205 = 2 * 512 + 1 */
static size_t scattered(uint32_t n)
{
    return (size_t)(n * 205 % BLOCKS) * BLOCK;
}

/* Write a byte in each of `n` blocks. Return: faults that took. */
static uint64_t write_some(uint8_t *p, uint32_t n)
{
    uint64_t before = faults();
    for (uint32_t i = 0; i < n; i++)
        p[scattered(i)] = (uint8_t)(i + 1);
    return faults() - before;
}

/* A kernel may have changed all of it. */
static void call(struct fixture *f, uint8_t *p)
{
    must(adsmLaunch(f->mix_only, adsmDim1(1), adsmDim1(64), 0, adsmInOut(p),
                    adsmIn(p), adsmVal((uint32_t){0}), adsmVal((uint32_t){0})));
    must(adsmSync());
}

START_TEST(more_than_half_of_a_stretch_opens_the_rest)
{
    (void)fixture_up();
    uint8_t *p = make(2 * STRETCH);
    ck_assert_uint_eq(write_some(p, HALF - 1), HALF - 1);
    ck_assert_uint_eq(dirty_in(p), HALF - 1);
    ck_assert_uint_eq(write_some(p, BLOCKS), 1);
    ck_assert_uint_eq(dirty_in(p), BLOCKS);
    ck_assert_uint_eq(openings(), 1);
    ck_assert_uint_eq(dirty_in(p + STRETCH), 0);
    must(adsmFree(p));
}
END_TEST

START_TEST(calls_that_go_on_so_need_less_evidence)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(STRETCH);
    for (int round = 0; round < 2; round++) {
        ck_assert_uint_eq(write_some(p, BLOCKS), HALF);
        call(&f, p);
        ck_assert_uint_eq(write_some(p, BLOCKS), EIGHTH);
        call(&f, p);
        for (int i = 0; i < OPENINGS; i++) {
            ck_assert_uint_eq(write_some(p, BLOCKS), LITTLE);
            call(&f, p);
        }
    }
    must(adsmFree(p));
}
END_TEST

START_TEST(sparse_writes_send_what_they_write)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(2 * STRETCH);
    for (int round = 0; round < 10; round++) {
        uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
        ck_assert_uint_eq(write_some(p, HALF - 1), HALF - 1);
        ck_assert_uint_eq(write_some(p + STRETCH, LITTLE), LITTLE);
        call(&f, p);
        ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up) - before,
                          (HALF - 1 + LITTLE) * BLOCK);
    }
    ck_assert_uint_eq(openings(), 0);
    must(adsmFree(p));
}
END_TEST

START_TEST(writes_that_become_sparse_are_noticed)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(STRETCH);
    for (int round = 0; round < 4; round++) {
        write_some(p, BLOCKS);
        call(&f, p);
    }
    ck_assert_uint_eq(openings(), 4);
    for (int round = 0; round < 20; round++) {
        ck_assert_uint_eq(write_some(p, LITTLE / 3), LITTLE / 3);
        call(&f, p);
    }
    ck_assert_uint_eq(openings(), 4);
    ck_assert_uint_eq(write_some(p, HALF - 1), HALF - 1);
    ck_assert_uint_eq(openings(), 4);
    must(adsmFree(p));
}
END_TEST

/* What the device has made of the blocks that nobody wrote comes along. */
START_TEST(what_only_the_device_has_is_fetched)
{
    struct fixture f = fixture_up();
    uint32_t bytes = 2 * STRETCH - 5 * BLOCK - 77;
    uint8_t *p = make(bytes), *copy = malloc(bytes);
    for (uint32_t round = 0; round < 6; round++) {
        device_fill(f.fill_only, p, bytes, round);
        for (uint32_t i = 0; i < bytes; i++)
            copy[i] = filled(i, round);
        must(adsmSync());
        for (uint32_t i = 0; i < HALF; i++) {
            p[scattered(i)] = (uint8_t)i;
            copy[scattered(i)] = (uint8_t)i;
        }
        ck_assert_uint_eq(openings(), 2 * round + 1);
        for (uint32_t i = STRETCH; i < STRETCH + HALF * BLOCK; i += BLOCK) {
            p[i] = (uint8_t)i;
            copy[i] = (uint8_t)i;
        }
        ck_assert_mem_eq(p, copy, bytes);
        call(&f, p);
        ck_assert_mem_eq(p, copy, bytes);
    }
    free(copy);
    must(adsmFree(p));
}
END_TEST

START_TEST(sizes_that_stay_as_given_open_one_block)
{
    setenv("ADSM_ROLLING_LEARN", "0", 1);
    (void)fixture_up();
    uint8_t *p = make(STRETCH);
    ck_assert_uint_eq(write_some(p, BLOCKS), BLOCKS);
    ck_assert_uint_eq(openings(), 0);
    must(adsmFree(p));
}
END_TEST

START_TEST(large_blocks_open_one_by_one)
{
    setenv("ADSM_BLOCK_SIZE", "128K", 1);
    (void)fixture_up();
    uint8_t *p = make(4 * STRETCH);
    uint64_t before = faults();
    for (size_t at = 0; at < 4 * STRETCH; at += 128 << 10)
        p[at] = 1;
    ck_assert_uint_eq(faults() - before, 4 * STRETCH / (128 << 10));
    must(adsmFree(p));
}
END_TEST

/* Half of a small rolling size at a time, so that write-backs find others. */
START_TEST(no_more_opens_than_may_be_dirty)
{
    setenv("ADSM_ROLLING_SIZE", "300", 1);
    (void)fixture_up();
    uint8_t *p = make(2 * STRETCH);
    write_some(p, HALF - 1);
    ck_assert_uint_eq(dirty_in(p), HALF - 1);
    p[scattered(HALF - 1)] = 1;
    ck_assert_uint_eq(openings(), 1);
    ck_assert_uint_gt(dirty_in(p), HALF);
    ck_assert_uint_le(dirty_in(p), 300);
    ck_assert_uint_lt(adsm_stats_get(ADSM_STAT_bytes_up), 128 * BLOCK);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("dense", 120, more_than_half_of_a_stretch_opens_the_rest,
           calls_that_go_on_so_need_less_evidence,
           sparse_writes_send_what_they_write,
           writes_that_become_sparse_are_noticed,
           what_only_the_device_has_is_fetched,
           sizes_that_stay_as_given_open_one_block,
           large_blocks_open_one_by_one, no_more_opens_than_may_be_dirty)

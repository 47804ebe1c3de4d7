/*
 * Blocks that the host writes before every call: left open when they are small
 * and the device is idle, sent as differences, and never out of date.
 */
#include "accel/fence.h"
#include "base/option.h"
#include "base/stats.h"
#include "fixture.h"
#include "mm/doors/boundary.h"
#include "mm/doors/bulk.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"
#include "mm/watch/twin.h"

#include <string.h>

enum { BYTES = 20000, LARGE = 1 << 20 };

enum { WARM_UP = 5, ROUNDS = 12 };

/* A kernel that reads `in` and changes `out`, and the host's idea of both. */
struct pair {
    struct fixture f;
    uint8_t *in, *out;
    uint32_t bytes;
    uint8_t *ref_in, *ref_out;
    uint32_t calls;
};

static struct pair pair_make(struct fixture f, uint32_t bytes)
{
    struct pair pair = {f,     adsmAlloc(bytes), adsmAlloc(bytes),
                        bytes, malloc(bytes),    malloc(bytes),
                        0};
    for (uint32_t i = 0; i < bytes; i++) {
        pair.in[i] = pair.ref_in[i] = filled(i, 1);
        pair.out[i] = pair.ref_out[i] = filled(i, 2);
    }
    return pair;
}

static void pair_free(struct pair *pair)
{
    must(adsmFree(pair->in));
    must(adsmFree(pair->out));
    free(pair->ref_in);
    free(pair->ref_out);
}

static void pair_store(struct pair *pair, uint32_t at, uint8_t value)
{
    pair->in[at] = value;
    pair->ref_in[at] = value;
}

static void pair_launch(struct pair *pair)
{
    uint32_t seed = pair->calls++;
    must(adsmLaunch(pair->f.mix_only, adsmDim1((pair->bytes + 63) / 64),
                    adsmDim1(64), 0, adsmInOut(pair->out), adsmIn(pair->in),
                    adsmVal(pair->bytes), adsmVal(seed)));
    host_mix(pair->ref_out, pair->ref_in, pair->bytes, seed);
}

static void pair_call(struct pair *pair)
{
    pair_launch(pair);
    must(adsmSync());
}

static void pair_check(const struct pair *pair)
{
    ck_assert_mem_eq(pair->out, pair->ref_out, pair->bytes);
    ck_assert_mem_eq(pair->in, pair->ref_in, pair->bytes);
}

/* Write one byte before each of `rounds` calls. */
static void pair_rounds(struct pair *pair, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        pair_store(pair, (pair->calls * 1237 + 11) % pair->bytes,
                   (uint8_t)(pair->calls + 77));
        pair_call(pair);
    }
}

static uint64_t count(enum adsm_stat stat)
{
    return adsm_stats_get(stat);
}

/* Batch watches no accesses: nothing to save. */
static bool is_watched(void)
{
    return adsm_coherence_protocol()->first != ADSM_DIRTY;
}

START_TEST(block_written_before_every_call_stays_open)
{
    struct pair pair = pair_make(fixture_up(), BYTES);
    pair_rounds(&pair, WARM_UP);
    uint64_t faults = count(ADSM_STAT_faults_write);
    uint64_t kept = count(ADSM_STAT_kept_open);
    uint64_t up = count(ADSM_STAT_bytes_up);
    pair_rounds(&pair, ROUNDS);
    if (is_watched()) {
        ck_assert_uint_eq(count(ADSM_STAT_faults_write), faults);
        ck_assert_uint_eq(count(ADSM_STAT_kept_open), kept + ROUNDS);
        ck_assert_uint_le(count(ADSM_STAT_bytes_up) - up, ROUNDS * 64);
    } else {
        ck_assert_uint_eq(count(ADSM_STAT_kept_open), 0);
    }
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

START_TEST(first_and_last_bytes_are_sent)
{
    static const uint32_t at[] = {0,    BYTES - 1,  63,         64,       2047,
                                  2048, BYTES - 64, BYTES - 65, BYTES / 2};
    struct pair pair = pair_make(fixture_up(), BYTES);
    pair_rounds(&pair, WARM_UP);
    for (uint32_t i = 0; i < sizeof at / sizeof *at; i++) {
        pair_store(&pair, at[i], (uint8_t)(200 + i));
        pair_call(&pair);
        pair_store(&pair, at[i], (uint8_t)(100 + i));
        pair_store(&pair, BYTES - 1 - at[i], (uint8_t)i);
        pair_call(&pair);
    }
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

START_TEST(block_that_is_written_no_more_is_closed)
{
    struct pair pair = pair_make(fixture_up(), BYTES);
    pair_rounds(&pair, WARM_UP);
    for (int i = 0; i < 4; i++)
        pair_call(&pair);
    uint64_t faults = count(ADSM_STAT_faults_write);
    uint64_t kept = count(ADSM_STAT_kept_open);
    uint64_t up = count(ADSM_STAT_bytes_up);
    for (int i = 0; i < 4; i++)
        pair_call(&pair);
    ck_assert_uint_eq(count(ADSM_STAT_kept_open), kept);
    if (is_watched()) {
        ck_assert_uint_eq(count(ADSM_STAT_bytes_up), up);
        pair_store(&pair, 5, 5);
        ck_assert_uint_eq(count(ADSM_STAT_faults_write), faults + 1);
        pair_call(&pair);
    }
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* ---- large blocks --------------------------------------------------------- */

enum { BLOCK = 256 << 10, PAGE = 4096, FEW = 5, LEARN = 16 };

/* Are blocks of the usual size left open? */
static bool large_stay_open(void)
{
    return is_watched() &&
           adsm_coherence_protocol()->granularity == ADSM_BY_BLOCK &&
           adsm_options_get()->keep_open >= BLOCK;
}

/* Write first and last byte of a few pages of each block, each time of others,
 * before each call. */
static void few_rounds(struct pair *pair, uint32_t rounds)
{
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t at = 0; at < pair->bytes; at += BLOCK)
            for (uint32_t k = 0; k < FEW; k++) {
                uint32_t page = (pair->calls * 7 + k * 12 + at / BLOCK) % 64;
                uint8_t value = (uint8_t)(pair->calls + k + 1);
                pair_store(pair, at + page * PAGE, value);
                pair_store(pair, at + page * PAGE + PAGE - 1, value);
            }
        pair_call(pair);
    }
}

/* Write all of it before each call. */
static void full_rounds(struct pair *pair, uint32_t rounds)
{
    for (uint32_t r = 0; r < rounds; r++) {
        uint8_t value = (uint8_t)(pair->calls + 1);
        memset(pair->in, value, pair->bytes);
        memset(pair->ref_in, value, pair->bytes);
        pair_call(pair);
    }
}

START_TEST(a_few_pages_of_each_block_send_their_bytes)
{
    struct pair pair = pair_make(fixture_up(), LARGE);
    few_rounds(&pair, LEARN);
    uint64_t faults = count(ADSM_STAT_faults_write);
    uint64_t kept = count(ADSM_STAT_kept_open);
    uint64_t up = count(ADSM_STAT_bytes_up);
    few_rounds(&pair, ROUNDS);
    if (large_stay_open()) {
        uint64_t written = ROUNDS * (LARGE / BLOCK) * FEW * (uint64_t)PAGE;
        ck_assert_uint_eq(count(ADSM_STAT_faults_write), faults);
        ck_assert_uint_le(count(ADSM_STAT_bytes_up) - up, written * 3 / 2);
    } else {
        ck_assert_uint_eq(count(ADSM_STAT_kept_open), kept);
    }
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

static void page_store(struct pair *pair, uint32_t page, uint8_t value)
{
    pair_store(pair, page * PAGE, value);
    pair_store(pair, page * PAGE + PAGE - 1, value);
}

/* Of several pages, and more of them than go one by one. */
START_TEST(runs_of_pages_arrive)
{
    enum { RUNS = 6, PAGES = BLOCK / PAGE };
    struct pair pair = pair_make(fixture_up(), LARGE);
    few_rounds(&pair, LEARN);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        for (uint32_t run = 1; run <= RUNS; run++)
            for (uint32_t k = 0; k < run; k++)
                page_store(&pair, run * 9 + k, (uint8_t)(r + 1));
        pair_call(&pair);
        for (uint32_t page = r % 3; page < PAGES; page += 3)
            page_store(&pair, PAGES + page, (uint8_t)(r + 2));
        pair_call(&pair);
        pair_check(&pair);
    }
    pair_free(&pair);
}
END_TEST

/* Closed by one change of protection as long as none stays open. */
START_TEST(of_many_dirty_blocks_none_stays_open)
{
    struct pair pair = pair_make(fixture_up(), 64 * BLOCK);
    for (uint32_t i = 0; i < LEARN; i++) {
        for (uint32_t at = 0; at < pair.bytes; at += BLOCK)
            pair_store(&pair, at + i, (uint8_t)i);
        pair_call(&pair);
    }
    ck_assert_uint_eq(count(ADSM_STAT_kept_open), 0);
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* One is compared now and then, and the others are as if nobody did. */
START_TEST(blocks_written_all_over_fault_and_send_as_ever)
{
    enum { MANY = 100 };
    struct pair pair = pair_make(fixture_up(), LARGE);
    full_rounds(&pair, 1);
    uint64_t faults = count(ADSM_STAT_faults_write);
    full_rounds(&pair, 1);
    uint64_t each = count(ADSM_STAT_faults_write) - faults;
    uint64_t kept = count(ADSM_STAT_kept_open);
    uint64_t up = count(ADSM_STAT_bytes_up);
    full_rounds(&pair, MANY);
    ck_assert_uint_le(count(ADSM_STAT_faults_write) - faults,
                      (MANY + 1) * each);
    if (large_stay_open()) {
        ck_assert_uint_gt(count(ADSM_STAT_kept_open), kept);
        ck_assert_uint_le(count(ADSM_STAT_kept_open) - kept, 8);
        ck_assert_uint_le(count(ADSM_STAT_bytes_up) - up,
                          MANY * (uint64_t)LARGE);
    }
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* From sparse to dense and back again, past all waiting. */
START_TEST(blocks_that_become_dense_are_closed_and_found_again)
{
    struct pair pair = pair_make(fixture_up(), LARGE);
    few_rounds(&pair, LEARN);
    full_rounds(&pair, 8);
    uint64_t kept = count(ADSM_STAT_kept_open);
    full_rounds(&pair, 4);
    ck_assert_uint_le(count(ADSM_STAT_kept_open) - kept, 2);
    kept = count(ADSM_STAT_kept_open);
    few_rounds(&pair, 4 * LEARN);
    if (large_stay_open())
        ck_assert_uint_gt(count(ADSM_STAT_kept_open) - kept, LEARN);
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* The oldest of the dirty blocks, which others push out, would be sent whole. */
START_TEST(large_block_with_a_twin_is_not_written_back_early)
{
    struct pair pair = pair_make(fixture_up(), BLOCK);
    uint8_t *other = adsmAlloc(32 << 20);
    few_rounds(&pair, LEARN);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        uint64_t kept = count(ADSM_STAT_kept_open);
        memset(other, (int)r, 32 << 20);
        few_rounds(&pair, 1);
        if (large_stay_open())
            ck_assert_uint_gt(count(ADSM_STAT_kept_open), kept);
    }
    if (large_stay_open())
        ck_assert_uint_gt(count(ADSM_STAT_write_backs), 0);
    pair_check(&pair);
    pair_free(&pair);
    must(adsmFree(other));
}
END_TEST

/* Read by a device copy each time, so each time it is sent whole and closed: that
 * is seen, and it is not kept open for nothing. */
START_TEST(large_block_that_is_never_compared_is_left_alone)
{
    enum { MANY = 40 };
    struct pair pair = pair_make(fixture_up(), BLOCK);
    const struct adsm_object *object = adsm_index_find(pair.in);
    for (int i = 0; i < MANY; i++) {
        few_rounds(&pair, 1);
        must(adsm_boundary_device_read(pair.in, BLOCK,
                                       adsm_accel_launch_stream(object->home)));
    }
    ck_assert_uint_le(count(ADSM_STAT_kept_open), MANY / 4);
    if (large_stay_open())
        ck_assert_uint_gt(count(ADSM_STAT_kept_open), 0);
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

START_TEST(what_the_device_writes_meanwhile_is_seen)
{
    struct pair pair = pair_make(fixture_up(), BYTES);
    for (uint32_t i = 1; i < 4; i++) {
        pair_rounds(&pair, WARM_UP);
        device_fill(pair.f.fill_only, pair.in, BYTES, i);
        host_fill(pair.ref_in, BYTES, i);
        ck_assert_int_eq(pair.in[BYTES - 1], filled(BYTES - 1, i));
    }
    pair_rounds(&pair, WARM_UP);
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* The device has overwritten it without having got it: what is then written as
 * it was before is a change. */
START_TEST(value_that_the_device_overwrote_is_sent_again)
{
    struct pair pair = pair_make(fixture_up(), BYTES);
    uint32_t bytes = BYTES, seed = 1;
    for (uint8_t value = WARM_UP; value > 0; value--) {
        pair_store(&pair, 300, value);
        pair_call(&pair);
    }
    /* All as it was at first, so that byte is the only one to be sent. */
    must(adsmLaunch(pair.f.fill_only, adsmDim1((BYTES + 255) / 256),
                    adsmDim1(256), 0, adsmOut(pair.in), adsmVal(bytes),
                    adsmVal(seed)));
    host_fill(pair.ref_in, BYTES, seed);
    ck_assert_int_ne(pair.in[300], 1);
    pair_store(&pair, 300, 1);
    pair_call(&pair);
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* Sent by another way in between, then changed back: the twin is not what the
 * device has. */
START_TEST(value_that_comes_back_is_sent)
{
    struct pair pair = pair_make(fixture_up(), BYTES);
    uint8_t *copy = adsmAlloc(BYTES);
    pair_rounds(&pair, WARM_UP);
    for (int i = 0; i < 4; i++) {
        pair_store(&pair, 300, 1);
        pair_call(&pair);
        pair_store(&pair, 300, 2);
        must(adsm_bulk_move(copy, pair.in, BYTES));
        pair_launch(&pair);
        pair_store(&pair, 300, 1);
        pair_call(&pair);
    }
    ck_assert_int_eq(copy[300], 2);
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

START_TEST(store_right_behind_a_launch_is_not_seen_by_it)
{
    struct pair pair = pair_make(fixture_up(), BYTES);
    pair_rounds(&pair, WARM_UP);
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t at = i % 7; at < BYTES; at += 97)
            pair_store(&pair, at, (uint8_t)(i + at));
        pair_launch(&pair);
        if (i % 3 == 0)
            must(adsmSync());
    }
    must(adsmSync());
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* The kernel before still runs: a copy from plain memory would wait for it. */
START_TEST(nothing_is_kept_open_on_a_busy_device)
{
    enum { LONG = 16 << 20, ATTEMPTS = 10 };
    struct pair pair = pair_make(fixture_up(), BYTES);
    uint8_t *p = adsmAlloc(LONG), *q = adsmAlloc(LONG);
    uint32_t n = LONG, seed = 1;
    int closed = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        pair_rounds(&pair, WARM_UP);
        must(adsmLaunch(pair.f.mix_only, adsmDim1(LONG / 256), adsmDim1(256), 0,
                        adsmInOut(p), adsmIn(q), adsmVal(n), adsmVal(seed)));
        pair_launch(&pair);
        uint64_t kept = count(ADSM_STAT_kept_open);
        pair_store(&pair, 7, (uint8_t)i);
        pair_launch(&pair);
        closed += count(ADSM_STAT_kept_open) == kept;
        must(adsmSync());
    }
    ck_assert_int_gt(closed, 0);
    pair_check(&pair);
    pair_free(&pair);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

/* The last block of an object need not be a multiple of anything. */
START_TEST(short_last_block_is_sent_whole)
{
    struct pair pair = pair_make(fixture_up(), (256 << 10) + 33);
    for (uint32_t i = 0; i < 3 * 33; i++) {
        pair_store(&pair, pair.bytes - 1 - i % 33, (uint8_t)(i + 100));
        pair_call(&pair);
    }
    pair_check(&pair);
    pair_free(&pair);
}
END_TEST

/* More of them than there is room for at once. */
START_TEST(twins_are_given_back_with_their_object)
{
    enum { LAST = 32 << 10, TIMES = ADSM_TWIN_BYTES_MAX / LAST + 20 };
    struct fixture f = fixture_up();
    bool by_block = adsm_coherence_protocol()->granularity == ADSM_BY_BLOCK;
    for (int i = 0; i < TIMES; i++) {
        struct pair pair = pair_make(f, (256 << 10) + LAST);
        uint64_t kept = count(ADSM_STAT_kept_open);
        for (uint32_t k = 0; k < WARM_UP; k++) {
            pair_store(&pair, pair.bytes - 1, (uint8_t)k);
            pair_call(&pair);
        }
        if (by_block)
            ck_assert_uint_gt(count(ADSM_STAT_kept_open), kept);
        pair_check(&pair);
        pair_free(&pair);
    }
}
END_TEST

SUITE_MAIN("twins", 60, block_written_before_every_call_stays_open,
           first_and_last_bytes_are_sent,
           block_that_is_written_no_more_is_closed,
           a_few_pages_of_each_block_send_their_bytes, runs_of_pages_arrive,
           of_many_dirty_blocks_none_stays_open,
           blocks_written_all_over_fault_and_send_as_ever,
           blocks_that_become_dense_are_closed_and_found_again,
           large_block_with_a_twin_is_not_written_back_early,
           large_block_that_is_never_compared_is_left_alone,
           what_the_device_writes_meanwhile_is_seen,
           value_that_the_device_overwrote_is_sent_again,
           value_that_comes_back_is_sent, nothing_is_kept_open_on_a_busy_device,
           short_last_block_is_sent_whole,
           store_right_behind_a_launch_is_not_seen_by_it,
           twins_are_given_back_with_their_object)

/*
 * The rolling size on programs that are nothing but the order in which they
 * write blocks: how many are sent, and where the size goes.
 */
#include "common/suite.h"
#include "protocols/rolling_size.h"

#include <string.h>

enum { RING = 1 << 12, BLOCKS = 1 << 12 };

static struct adsm_dirty_entry ring[RING];
static struct adsm_sent_block table[RING];
static struct adsm_dirty_queue queue;
static struct adsm_rolling_size size;
static bool dirty[BLOCKS];
static uint32_t dirty_count, sent;

static void begin(uint32_t given, uint32_t factor, bool learns)
{
    memset(table, 0, sizeof table);
    memset(dirty, 0, sizeof dirty);
    dirty_count = sent = 0;
    adsm_dirty_queue_init(&queue, ring, RING);
    adsm_rolling_size_init(&size, given, factor, RING, learns ? table : NULL,
                           RING);
}

/* As mm/state/write_back.c does it, without memory. */
static void write_block(uint32_t i)
{
    struct adsm_dirty_entry entry = {&queue, 1, i};
    if (!dirty[i]) {
        dirty[i] = true;
        dirty_count++;
        adsm_rolling_size_dirtied(&size, &entry);
        ck_assert(adsm_dirty_queue_push(&queue, entry));
    }
    while (dirty_count > size.limit && adsm_dirty_queue_pop(&queue, &entry)) {
        dirty[entry.block] = false;
        dirty_count--;
        sent++;
        adsm_rolling_size_sent(&size, &entry);
    }
}

static void call(void)
{
    struct adsm_dirty_entry entry;
    while (adsm_dirty_queue_pop(&queue, &entry))
        continue;
    memset(dirty, 0, sizeof dirty);
    dirty_count = 0;
    adsm_rolling_size_called(&size);
}

static void write_round(uint32_t blocks)
{
    for (uint32_t i = 0; i < blocks; i++)
        write_block(i);
}

START_TEST(what_does_not_learn_stays_as_given)
{
    begin(4, 2, false);
    for (int round = 0; round < 50; round++)
        write_round(100);
    adsm_rolling_size_grow(&size);
    ck_assert_uint_eq(size.limit, 4);
    ck_assert_uint_eq(sent, 50 * 100 - 4);
}
END_TEST

START_TEST(an_adaptive_size_grows_with_allocations)
{
    begin(0, 2, true);
    for (int i = 0; i < 3; i++)
        adsm_rolling_size_grow(&size);
    ck_assert_uint_eq(size.limit, 6);
    for (int i = 0; i < RING; i++)
        adsm_rolling_size_grow(&size);
    ck_assert_uint_eq(size.limit, RING);
}
END_TEST

/* Any fixed size below 100 sends each block in each of the 1000 rounds. */
START_TEST(blocks_that_are_written_again_and_again_stay)
{
    begin(4, 0, true);
    for (int round = 0; round < 1000; round++)
        write_round(100);
    ck_assert_uint_ge(size.limit, 100);
    ck_assert_uint_le(size.limit, 110);
    ck_assert_uint_lt(sent, 300);
}
END_TEST

START_TEST(what_is_written_once_is_sent_early)
{
    begin(4, 0, true);
    for (int round = 0; round < 200; round++) {
        write_round(1000);
        call();
    }
    ck_assert_uint_eq(size.limit, 4);
    ck_assert_uint_eq(sent, 200 * 996);
}
END_TEST

/* One block at the head of an array that is written from end to end. */
START_TEST(a_few_blocks_that_come_back_change_nothing)
{
    begin(4, 0, true);
    for (int round = 0; round < 100; round++) {
        write_round(1000);
        write_block(0);
        call();
    }
    ck_assert_uint_eq(size.limit, 4);
}
END_TEST

/* What was learnt of one part of a program is given up in the next. */
START_TEST(a_size_that_serves_nothing_shrinks)
{
    begin(4, 0, true);
    for (int round = 0; round < 20; round++)
        write_round(500);
    call();
    ck_assert_uint_ge(size.limit, 500);
    for (int round = 0; round < 600; round++) {
        write_round(1000);
        call();
    }
    ck_assert_uint_eq(size.limit, 4);
}
END_TEST

/* One that serves is missed when it is tried without, and tried seldom. */
START_TEST(a_size_that_serves_is_seldom_tried_without)
{
    begin(4, 0, true);
    for (int round = 0; round < 2000; round++) {
        write_round(300);
        write_round(300);
        call();
    }
    ck_assert_uint_ge(size.limit, 200);
    sent = 0;
    for (int round = 0; round < 2000; round++) {
        write_round(300);
        write_round(300);
        call();
    }
    ck_assert_uint_lt(sent, 2000);
}
END_TEST

START_TEST(calls_behind_which_nothing_was_written_say_nothing)
{
    begin(4, 0, true);
    for (int round = 0; round < 20; round++)
        write_round(100);
    uint32_t limit = size.limit;
    for (int i = 0; i < 10000; i++)
        call();
    ck_assert_uint_ge(size.limit, limit - (limit - 4 + 3) / 4);
}
END_TEST

/* A block of an object that took another one's place was not sent before. */
START_TEST(generations_and_calls_are_told_apart)
{
    struct adsm_dirty_entry one = {&queue, 1, 7}, next = {&queue, 2, 7};
    begin(4, 0, true);
    adsm_rolling_size_sent(&size, &one);
    adsm_rolling_size_dirtied(&size, &next);
    ck_assert_uint_eq(size.limit, 4);
    adsm_rolling_size_called(&size);
    adsm_rolling_size_dirtied(&size, &one);
    ck_assert_uint_eq(size.limit, 4);
    adsm_rolling_size_sent(&size, &one);
    adsm_rolling_size_dirtied(&size, &one);
    ck_assert_uint_eq(size.limit, 5);
    adsm_rolling_size_dirtied(&size, &one);
    ck_assert_uint_eq(size.limit, 5);
}
END_TEST

SUITE_MAIN("rolling size", 10, what_does_not_learn_stays_as_given,
           an_adaptive_size_grows_with_allocations,
           blocks_that_are_written_again_and_again_stay,
           what_is_written_once_is_sent_early,
           a_few_blocks_that_come_back_change_nothing,
           a_size_that_serves_nothing_shrinks,
           a_size_that_serves_is_seldom_tried_without,
           calls_behind_which_nothing_was_written_say_nothing,
           generations_and_calls_are_told_apart)

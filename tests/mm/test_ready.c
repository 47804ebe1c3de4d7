/*
 * Ready ranges: what is kept, for whom, and how much at most. Needs no device.
 */
#include "common/suite.h"
#include "mm/object/ready.h"
#include "os/huge.h"

#include <string.h>
#include <time.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Whoever ends has pages in all of its range. */
static struct adsm_ready had(size_t bytes)
{
    struct adsm_ready one = {.bytes = bytes < 2 * MIB ? bytes : 2 * MIB};
    ck_assert_int_eq(adsm_arena_alloc(&one.range, bytes), ADSM_OK);
    ck_assert_int_eq(adsm_arena_commit(&one.range, 0, bytes), ADSM_OK);
    memset(one.range.shadow, 0x5a, bytes);
    return one;
}

static struct adsm_ready take_at(size_t bytes, size_t touch)
{
    struct adsm_ready one;
    ck_assert_int_eq(adsm_ready_take(bytes, touch, false, &one), ADSM_OK);
    ck_assert_uint_ge(one.range.bytes, bytes);
    return one;
}

static struct adsm_ready take(size_t bytes)
{
    return take_at(bytes, 0);
}

static void keep(size_t bytes)
{
    struct adsm_ready one = had(bytes);
    adsm_ready_put(&one);
}

START_TEST(first_pages_are_kept_for_one_as_large)
{
    keep(5 * MIB);
    ck_assert_uint_eq(adsm_ready_count(), 1);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 2 * MIB);
    struct adsm_ready one = take(6 * MIB);
    ck_assert_uint_eq(adsm_ready_count(), 0);
    ck_assert_uint_eq(one.bytes, 2 * MIB);
    ck_assert_uint_eq(one.range.shadow[2 * MIB - 1], 0x5a);
    adsm_arena_free(&one.range);
}
END_TEST

START_TEST(pages_are_kept_where_they_were_touched)
{
    struct adsm_ready one = had(7 * MIB);
    one.at = 6 * MIB;
    one.bytes = MIB;
    adsm_ready_put(&one);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), MIB);
    one = take_at(7 * MIB, 5 * MIB);
    ck_assert_uint_eq(one.bytes, 0);
    adsm_arena_free(&one.range);
    one = take_at(7 * MIB, 7 * MIB - 1);
    ck_assert_uint_eq(one.bytes, MIB);
    ck_assert_uint_eq(one.range.shadow[6 * MIB], 0x5a);
    adsm_arena_free(&one.range);
}
END_TEST

START_TEST(others_get_a_range_of_zeros)
{
    keep(5 * MIB);
    struct adsm_ready larger = take(8 * MIB), smaller = take(2 * MIB);
    ck_assert_uint_eq(adsm_ready_count(), 1);
    ck_assert_uint_eq(larger.bytes, 0);
    ck_assert_uint_eq(smaller.bytes, 0);
    ck_assert_int_eq(adsm_arena_commit(&smaller.range, 0, 4096), ADSM_OK);
    ck_assert_uint_eq(smaller.range.shadow[0], 0);
    adsm_arena_free(&larger.range);
    adsm_arena_free(&smaller.range);
    adsm_ready_clear();
}
END_TEST

START_TEST(array_gets_no_pages_that_it_has_no_bytes_for)
{
    keep(2 * MIB);
    struct adsm_ready one = take(MIB);
    ck_assert_uint_eq(one.bytes, 0);
    adsm_arena_free(&one.range);
    one = take(2 * MIB);
    ck_assert_uint_eq(one.bytes, 2 * MIB);
    adsm_arena_free(&one.range);
}
END_TEST

START_TEST(a_few_are_kept_and_the_oldest_goes)
{
    for (size_t i = 1; i <= 9; i++)
        keep(2 * i * MIB);
    ck_assert_uint_eq(adsm_ready_count(), 4);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 8 * MIB);
    struct adsm_ready oldest = take(10 * MIB), newest = take(18 * MIB);
    ck_assert_uint_eq(oldest.bytes, 0);
    ck_assert_uint_eq(newest.bytes, 2 * MIB);
    adsm_arena_free(&oldest.range);
    adsm_arena_free(&newest.range);
    adsm_ready_clear();
    ck_assert_uint_eq(adsm_ready_count(), 0);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
    ck_assert(adsm_arena_is_valid());
}
END_TEST

START_TEST(what_has_few_pages_is_not_kept)
{
    keep(60 * KIB);
    struct adsm_ready untouched = had(MIB);
    untouched.bytes = 0;
    adsm_ready_put(&untouched);
    ck_assert_uint_eq(adsm_ready_count(), 0);
    ck_assert_uint_eq(adsm_arena_bytes_committed(), 0);
}
END_TEST

static void await(size_t count)
{
    for (int i = 0; i < 5000 && adsm_ready_count() < count; i++)
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    ck_assert_uint_eq(adsm_ready_count(), count);
}

START_TEST(what_was_taken_is_made_again)
{
    static const struct {
        size_t bytes, touch, ready;
    } wanted[] = {{MIB, MIB - 1, MIB},
                  {100 * KIB, 0, 100 * KIB},
                  {7 * MIB, 3 * MIB, 2 * MIB},
                  {7 * MIB, 6 * MIB, MIB}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t bytes = wanted[i].bytes, touch = wanted[i].touch;
        struct adsm_ready one = take_at(bytes, touch), next;
        ck_assert_uint_eq(one.bytes, 0);
        adsm_ready_ask();
        adsm_ready_start();
        await(1);
        adsm_ready_ask(); /* there is one */
        next = take_at(bytes, touch);
        ck_assert_uint_eq(next.bytes, wanted[i].ready);
        ck_assert_uint_eq(adsm_arena_bytes_committed(), next.bytes);
        adsm_arena_free(&one.range);
        adsm_arena_free(&next.range);
    }
}
END_TEST

SUITE_MAIN("ready", 60, first_pages_are_kept_for_one_as_large,
           pages_are_kept_where_they_were_touched, others_get_a_range_of_zeros,
           array_gets_no_pages_that_it_has_no_bytes_for,
           a_few_are_kept_and_the_oldest_goes, what_has_few_pages_is_not_kept,
           what_was_taken_is_made_again)

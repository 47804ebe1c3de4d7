/*
 * First fit over granules against a plain array. Needs no device.
 */
#include "accel/granule.h"
#include "common/suite.h"

#include <stdint.h>
#include <string.h>

#include "base/clock.h"

/* Lowest run of n free ones in a plain array. */
static size_t reference(const bool *used, size_t count, size_t n)
{
    for (size_t i = 0; i + n <= count; i++) {
        size_t k = 0;
        while (k < n && !used[i + k])
            k++;
        if (k == n)
            return i;
    }
    return SIZE_MAX;
}

START_TEST(random_take_and_give_matches_reference)
{
    enum { COUNT = 777, RUNS = 128 };
    struct adsm_granules granules;
    bool used[COUNT] = {0};
    struct {
        size_t first, n;
    } live[RUNS];
    memset(live, 0, sizeof live);
    ck_assert_int_eq(adsm_granules_init(&granules, COUNT), 0);
    srand(7);
    for (int step = 0; step < 20000; step++) {
        size_t r = (size_t)rand() % RUNS;
        if (live[r].n) {
            ck_assert(adsm_granules_give(&granules, live[r].first, live[r].n));
            memset(used + live[r].first, false, live[r].n);
            live[r].n = 0;
            continue;
        }
        size_t n =
            rand() % 10 ? 1 + (size_t)rand() % 5 : 60 + (size_t)rand() % 80;
        size_t first = adsm_granules_take(&granules, n);
        ck_assert_uint_eq(first, reference(used, COUNT, n));
        if (first == SIZE_MAX)
            continue;
        live[r].first = first;
        live[r].n = n;
        memset(used + first, true, n);
    }
    size_t in_use = 0;
    for (size_t i = 0; i < COUNT; i++)
        in_use += used[i];
    ck_assert_uint_eq(granules.in_use, in_use);
    adsm_granules_fini(&granules);
}
END_TEST

START_TEST(freed_neighbours_join)
{
    struct adsm_granules granules;
    ck_assert_int_eq(adsm_granules_init(&granules, 100), 0);
    ck_assert_uint_eq(adsm_granules_take(&granules, 30), 0);
    ck_assert_uint_eq(adsm_granules_take(&granules, 70), 30);
    ck_assert_uint_eq(adsm_granules_take(&granules, 1), SIZE_MAX);
    ck_assert(adsm_granules_give(&granules, 0, 30));
    ck_assert(adsm_granules_give(&granules, 30, 70));
    ck_assert_uint_eq(adsm_granules_take(&granules, 100), 0);
    adsm_granules_fini(&granules);
}
END_TEST

START_TEST(giving_back_twice_is_refused)
{
    struct adsm_granules granules;
    ck_assert_int_eq(adsm_granules_init(&granules, 64), 0);
    ck_assert_uint_eq(adsm_granules_take(&granules, 8), 0);
    ck_assert(!adsm_granules_give(&granules, 4, 8));
    ck_assert(!adsm_granules_give(&granules, 60, 8));
    ck_assert(!adsm_granules_give(&granules, 64, 1));
    ck_assert(adsm_granules_give(&granules, 0, 8));
    ck_assert(!adsm_granules_give(&granules, 0, 8));
    ck_assert_uint_eq(granules.in_use, 0);
    adsm_granules_fini(&granules);
}
END_TEST

START_TEST(twenty_thousand_runs_stay_cheap)
{
    enum { RUNS = 20000 };
    struct adsm_granules granules;
    ck_assert_int_eq(adsm_granules_init(&granules, 32768), 0);
    for (size_t i = 0; i < RUNS; i++)
        ck_assert_uint_eq(adsm_granules_take(&granules, 1), i);
    uint64_t start = adsm_now_ns();
    for (size_t i = 0; i < RUNS; i++) {
        /* A hole at the front that is too small for what is asked. */
        ck_assert(adsm_granules_give(&granules, i % 16, 1));
        size_t first = adsm_granules_take(&granules, 2);
        ck_assert_uint_ge(first, RUNS);
        ck_assert(adsm_granules_give(&granules, first, 2));
        ck_assert_uint_eq(adsm_granules_take(&granules, 1), i % 16);
    }
    uint64_t each_ns = (adsm_now_ns() - start) / RUNS;
    ck_assert_msg(each_ns < 50000, "%lu ns", (unsigned long)each_ns);
    adsm_granules_fini(&granules);
}
END_TEST

SUITE_MAIN("accel/granule", 60, random_take_and_give_matches_reference,
           freed_neighbours_join, giving_back_twice_is_refused,
           twenty_thousand_runs_stay_cheap)

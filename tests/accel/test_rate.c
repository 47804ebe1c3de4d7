/* Rates: on throttled links they are those of the links. */
#include "fixture.h"

#include "accel/rate.h"
#include "base/stats.h"

START_TEST(rates_are_those_of_the_link)
{
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    struct adsm_accel *accel = accel_up();
    struct adsm_rate up, down;
    ck_assert(adsm_rates_get(accel, &up, &down));
    /* 5 ns a byte, or more on a machine that has other work. */
    ck_assert_double_ge(up.byte_ns, 4.5);
    ck_assert_double_ge(down.byte_ns, 4.5);
    ck_assert_double_le(up.byte_ns, 10);
    ck_assert_double_le(down.byte_ns, 10);
    ck_assert_double_lt(up.copy_ns, 1e7);
    ck_assert_double_lt(down.copy_ns, 1e7);
}
END_TEST

START_TEST(rates_are_measured_once_and_leave_nothing)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_rate first[2], again[2];
    size_t before, after, total;
    must(adsm_accel_memory(accel, &before, &total));
    uint64_t moved = adsm_stats_get(ADSM_STAT_bytes_up);
    ck_assert(adsm_rates_get(accel, &first[0], &first[1]));
    ck_assert(adsm_rates_get(accel, &again[0], &again[1]));
    ck_assert_mem_eq(first, again, sizeof first);
    must(adsm_accel_memory(accel, &after, &total));
    ck_assert_uint_eq(after, before);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up), moved);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 0);
}
END_TEST

START_TEST(where_there_is_no_memory_rates_are_not_known)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    struct adsm_accel *accel = accel_up();
    struct adsm_rate up, down;
    struct adsm_daddr at;
    while (accel->ops->memory_alloc(accel, 64 << 10, &at) == ADSM_OK)
        ;
    ck_assert(!adsm_rates_get(accel, &up, &down));
    must(adsm_accel_health(accel));
}
END_TEST

SUITE_MAIN("accel/rate", 60, rates_are_those_of_the_link,
           rates_are_measured_once_and_leave_nothing,
           where_there_is_no_memory_rates_are_not_known)

/*
 * The small accelerator itself: work waits until it is asked for, in order, and
 * calls fail when they are told to.
 */
#include "small/fixture.h"

#include "accel/dma.h"

static void add_one(const void *argument)
{
    (*(uint8_t *)small_at(*(const struct adsm_daddr *)argument))++;
}

static struct small_kernel adder = {add_one, sizeof(struct adsm_daddr)};

static void launch(struct adsm_accel *accel, adsm_stream stream,
                   struct adsm_daddr at)
{
    void *values[] = {&at};
    must(adsm_accel_launch(accel, &(struct adsm_launch){.kernel = &adder,
                                                        .grid = {1, 1, 1},
                                                        .block = {1, 1, 1},
                                                        .stream = stream,
                                                        .values = values}));
}

static struct adsm_daddr memory(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_daddr at;
    must(accel->ops->memory_alloc(accel, bytes, &at));
    return at;
}

START_TEST(work_runs_when_it_is_waited_for_and_what_it_waits_for_before_it)
{
    struct adsm_accel *accel = up("rolling", 1);
    const struct adsm_accel_ops *ops = accel->ops;
    struct adsm_daddr at = memory(accel, 4);
    adsm_stream a, b;
    adsm_device_event first, second;
    must(ops->stream_create(accel, &a));
    must(ops->stream_create(accel, &b));
    must(ops->event_create(accel, &first));
    must(ops->event_create(accel, &second));
    *(uint8_t *)small_at(at) = 7;
    launch(accel, a, at);
    must(ops->event_record(accel, first, a));
    launch(accel, a, at);
    must(ops->stream_order(accel, b, first));
    launch(accel, b, at);
    must(ops->event_record(accel, second, b));
    bool reached;
    must(ops->event_query(accel, second, &reached));
    ck_assert(!reached);
    must(ops->event_wait(accel, second, 0));
    ck_assert_uint_eq(*(uint8_t *)small_at(at), 9);
    must(ops->context_wait(accel));
    ck_assert_uint_eq(*(uint8_t *)small_at(at), 10);
}
END_TEST

START_TEST(pinned_memory_is_read_late_and_other_memory_at_once)
{
    struct adsm_accel *accel = up("rolling", 1);
    const struct adsm_accel_ops *ops = accel->ops;
    struct adsm_daddr at = memory(accel, 2);
    uint8_t pinned = 1, other = 1;
    bool owned;
    adsm_stream stream;
    must(ops->stream_create(accel, &stream));
    must(ops->host_pin(accel, &pinned, 1, &owned));
    must(ops->copy_up(accel, stream, at, &pinned, 1));
    must(ops->copy_up(accel, NULL, adsm_daddr_add(at, 1), &other, 1));
    pinned = other = 2;
    small_run();
    ck_assert_mem_eq(small_at(at), "\2\1", 2);
}
END_TEST

START_TEST(box_is_moved_and_the_bytes_beside_it_stay)
{
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_daddr at = memory(accel, 64);
    uint8_t from[24];
    memset(from, 1, sizeof from);
    memset(small_at(at), 0, 64);
    struct adsm_rect rect = {2, 2, 2, {8, 32}, {3, 12}};
    must(accel->ops->copy_up_rect(accel, NULL, at, from, &rect));
    small_run();
    for (size_t i = 0; i < 64; i++)
        ck_assert_uint_eq(((uint8_t *)small_at(at))[i],
                          i % 8 < 2 && i % 32 < 16);
}
END_TEST

START_TEST(call_that_is_told_to_fails_and_the_next_does_not)
{
    struct adsm_accel *accel = up("rolling", 1);
    size_t a, b;
    small_fail("memory_info", 2, ADSM_E_LIMIT);
    must(adsm_accel_memory(accel, &a, &b));
    ck_assert_int_eq(adsm_accel_memory(accel, &a, &b), ADSM_E_LIMIT);
    ck_assert(small_has_failed());
    must(adsm_accel_memory(accel, &a, &b));
}
END_TEST

START_TEST(device_has_so_much_memory_and_counts_what_is_in_use)
{
    struct adsm_accel *accel = up("rolling", 1);
    struct adsm_daddr at;
    small.memory[0] = 1000;
    struct adsm_daddr kept = memory(accel, 600);
    ck_assert_int_eq(accel->ops->memory_alloc(accel, 401, &at),
                     ADSM_E_DEVICE_NOMEM);
    ck_assert_uint_eq(small.used[0], 600);
    must(accel->ops->memory_free(accel, kept));
    ck_assert_uint_eq(small.used[0], 0);
}
END_TEST

START_TEST(lost_device_refuses_everything_for_good)
{
    struct adsm_accel *accel = up("rolling", 1);
    size_t a, b;
    small.lost[0] = true;
    ck_assert_int_eq(adsm_accel_memory(accel, &a, &b), ADSM_E_DEVICE_LOST);
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_E_DEVICE_LOST);
}
END_TEST

SUITE_MAIN("device", 10,
           work_runs_when_it_is_waited_for_and_what_it_waits_for_before_it,
           pinned_memory_is_read_late_and_other_memory_at_once,
           box_is_moved_and_the_bytes_beside_it_stay,
           call_that_is_told_to_fails_and_the_next_does_not,
           device_has_so_much_memory_and_counts_what_is_in_use,
           lost_device_refuses_everything_for_good)

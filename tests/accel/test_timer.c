/* Timers: what they measure, how many there are, what becomes of them. */
#include "fixture.h"

#include "accel/timer.h"

static struct adsm_timer *begun(struct adsm_accel *accel, adsm_stream stream)
{
    struct adsm_timer *timer = adsm_timer_begin(accel, stream);
    ck_assert_msg(timer != NULL, "%s", adsm_accel_error_text());
    return timer;
}

START_TEST(work_that_has_ended_tells_its_time_and_other_work_does_not_wait)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    struct gate before, within;
    uint64_t ns = 7;
    /* What is ahead in the stream does not count. */
    gate_put(accel, stream, &before);
    struct adsm_timer *timer = begun(accel, stream);
    gate_put(accel, stream, &within);
    ck_assert(adsm_timer_end(timer, stream));
    nap_ms(60);
    uint64_t start = adsm_now_ns();
    ck_assert(!adsm_timer_take(timer, accel, &ns));
    before.open = true;
    while (!within.reached)
        usleep(100);
    uint64_t reached = adsm_now_ns();
    ck_assert(!adsm_timer_take(timer, accel, &ns));
    nap_ms(20);
    uint64_t least = adsm_now_ns() - reached;
    within.open = true;
    must(accel->ops->context_wait(accel));
    uint64_t most = adsm_now_ns() - start;
    ck_assert(adsm_timer_take(timer, accel, &ns));
    ck_assert_uint_ge(ns, least - 1000000);
    ck_assert_uint_le(ns, most + 1000000);
    ck_assert_uint_eq(accel->timers->taken, 0);
}
END_TEST

START_TEST(nothing_is_measured_while_all_pairs_are_in_use)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    struct adsm_timer *timers[ADSM_TIMERS];
    uint64_t ns;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < ADSM_TIMERS; i++)
            timers[i] = begun(accel, stream);
        ck_assert_ptr_null(adsm_timer_begin(accel, stream));
        for (int i = 0; i < ADSM_TIMERS; i += 2)
            ck_assert(adsm_timer_end(timers[i], stream));
        must(accel->ops->context_wait(accel));
        for (int i = 0; i < ADSM_TIMERS; i++)
            if (i % 2)
                adsm_timer_drop(timers[i]);
            else
                ck_assert(adsm_timer_take(timers[i], accel, &ns));
        ck_assert_uint_eq(accel->timers->taken, 0);
    }
}
END_TEST

/* Its events may stand for work that has not begun. */
START_TEST(pair_that_was_dropped_measures_what_is_begun_next)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream held = new_stream(accel), other = new_stream(accel);
    struct gate gate;
    uint64_t ns = 0;
    gate_put(accel, held, &gate);
    struct adsm_timer *timer = begun(accel, held);
    ck_assert(adsm_timer_end(timer, held));
    adsm_timer_drop(timer);
    ck_assert_ptr_eq(begun(accel, other), timer);
    ck_assert(adsm_timer_end(timer, other));
    nap_ms(10);
    ck_assert(adsm_timer_take(timer, accel, &ns));
    gate.open = true;
}
END_TEST

START_TEST(timers_of_a_forgotten_accel_tell_nothing)
{
    struct adsm_accel *accel = accel_up(), *next;
    adsm_stream stream = new_stream(accel);
    struct adsm_timer *timers[3];
    uint64_t ns = 7;
    for (int i = 0; i < 3; i++) {
        timers[i] = begun(accel, stream);
        ck_assert(adsm_timer_end(timers[i], stream));
    }
    must(accel->ops->context_wait(accel));
    adsm_accel_forget(accel);
    ck_assert_ptr_null(timers[0]->begin);
    must(adsm_accel_open(0, &next));
    ck_assert_ptr_ne(next, accel);
    ck_assert(adsm_timer_take(timers[0], next, &ns));
    ck_assert_uint_eq(ns, 0);
    ck_assert(adsm_timer_take(timers[1], accel, &ns));
    ck_assert_uint_eq(ns, 0);
    adsm_timer_drop(timers[2]);
    ck_assert_uint_eq(accel->timers->taken, 0);
    ck_assert_ptr_null(adsm_timer_begin(accel, stream));
    adsm_timer_drop(begun(next, new_stream(next)));
}
END_TEST

START_TEST(driver_that_tells_no_times_is_not_asked_again)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    uint64_t ns = 7;
    ((struct adsm_cuda_api *)adsm_cuda_api())->EventElapsedTime = NULL;
    struct adsm_timer *timer = begun(accel, stream);
    ck_assert(adsm_timer_end(timer, stream));
    must(accel->ops->context_wait(accel));
    ck_assert(adsm_timer_take(timer, accel, &ns));
    ck_assert_uint_eq(ns, 0);
    ck_assert_ptr_null(adsm_timer_begin(accel, stream));
    ck_assert_uint_eq(accel->timers->taken, 0);
}
END_TEST

SUITE_MAIN("timer", 60,
           work_that_has_ended_tells_its_time_and_other_work_does_not_wait,
           nothing_is_measured_while_all_pairs_are_in_use,
           pair_that_was_dropped_measures_what_is_begun_next,
           timers_of_a_forgotten_accel_tell_nothing,
           driver_that_tells_no_times_is_not_asked_again)

/* Handles of calls: waits, order of numbers, what follows. */
#include "accel/accel.h"
#include "mm/fixture.h"
#include "call/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* A launch that takes its time on the software device, and its fence. */
static struct adsm_ended launched(const struct fixture *f, uint8_t *p)
{
    struct adsm_accel *accel;
    struct adsm_ended ended = {.status = ADSM_OK};
    struct adsm_fence fence;
    device_fill(f->fill_only, p, 1 << 20, 1);
    must(adsm_accel_open(0, &accel));
    must(adsm_fence_record(accel, adsm_accel_launch_stream(accel), &fence));
    adsm_ended_add(&ended, fence);
    return ended;
}

START_TEST(waited_call_has_ended)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20);
    struct adsm_ended ended = launched(&f, p), found;
    uint64_t id = adsm_event_keep(&ended);
    ck_assert_uint_eq(id, 1);
    must(adsm_event_find(id, &found));
    ck_assert_int_eq(found.count, 1);
    must(adsm_ended_wait(&found));
    ck_assert(adsm_ended_done(&found));
    must(adsm_event_find(0, &found));
    ck_assert_int_eq(found.count, 0);
    ck_assert_int_eq(adsm_event_find(2, &found), ADSM_E_INVALID);
    must(adsmFree(p));
}
END_TEST

START_TEST(later_fence_of_a_device_stands_for_earlier_ones)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20);
    struct adsm_ended a = launched(&f, p), b = launched(&f, p);
    adsm_ended_add(&a, b.fences[0]);
    ck_assert_int_eq(a.count, 1);
    ck_assert_uint_eq(a.fences[0].seq, b.fences[0].seq);
    must(adsm_ended_wait(&a));
    must(adsmFree(p));
}
END_TEST

START_TEST(first_failure_is_kept_until_the_number_is_old)
{
    struct adsm_ended bad = {.status = ADSM_E_DEVICE}, good = {0}, found;
    uint64_t id = adsm_event_keep(&bad);
    for (int i = 1; i < ADSM_EVENTS_KEPT; i++)
        ck_assert_uint_eq(adsm_event_keep(&good), id + (uint64_t)i);
    must(adsm_event_find(id, &found));
    ck_assert_int_eq(adsm_ended_wait(&found), ADSM_E_DEVICE);
    adsm_event_keep(&good);
    must(adsm_event_find(id, &found));
    ck_assert_int_eq(adsm_ended_wait(&found), ADSM_OK);
}
END_TEST

START_TEST(number_that_runs_out_of_the_table_has_ended)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20);
    struct adsm_ended slow = launched(&f, p), none = {0};
    uint64_t first = adsm_event_keep(&slow);
    for (int i = 0; i < ADSM_EVENTS_KEPT; i++)
        adsm_event_keep(&none);
    struct adsm_ended found;
    must(adsm_event_find(first, &found));
    ck_assert_int_eq(found.count, 0);
    ck_assert(adsm_ended_done(&slow));
    must(adsmFree(p));
}
END_TEST

static _Atomic int ran;
static int order[3000];
static uint8_t *shared;

static void note(void *arg, adsmStatus status)
{
    order[atomic_load(&ran)] = (int)(uintptr_t)arg * 100 + (int)status;
    /* Shared memory is there for it, as for any thread. */
    if (shared)
        shared[0]++;
    atomic_fetch_add(&ran, 1);
}

static void wait_for(int count)
{
    for (int i = 0; i < 10000 && atomic_load(&ran) < count; i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&ran), count);
}

START_TEST(what_follows_runs_in_the_order_of_calls)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20);
    shared = adsmAlloc(4096);
    shared[0] = 0;
    struct adsm_ended slow = launched(&f, p), bad = {.status = ADSM_E_LIMIT};
    must(adsm_event_follow(&slow, note, (void *)1));
    must(adsm_event_follow(&bad, note, (void *)2));
    wait_for(2);
    ck_assert(adsm_ended_done(&slow));
    ck_assert_int_eq(order[0], 100);
    ck_assert_int_eq(order[1], 200 + ADSM_E_LIMIT);
    ck_assert_int_eq(shared[0], 2);
    must(adsmFree(p));
    must(adsmFree(shared));
}
END_TEST

static void again(void *arg, adsmStatus status)
{
    struct adsm_ended none = {0};
    note(arg, status);
    /* As many as would fill the queue twice, from the thread that empties it. */
    for (int i = 0; i < 2 && (uintptr_t)arg < 1000; i++)
        must(adsm_event_follow(&none, (uintptr_t)arg == 1 ? again : note,
                               (void *)((uintptr_t)arg + 1)));
}

START_TEST(more_than_the_queue_holds_are_all_run)
{
    struct adsm_ended none = {0};
    must(adsm_init());
    for (int i = 0; i < 2 * ADSM_EVENTS_KEPT; i++)
        must(adsm_event_follow(&none, note, (void *)5));
    must(adsm_event_follow(&none, again, (void *)1));
    wait_for(2 * ADSM_EVENTS_KEPT + 7);
}
END_TEST

SUITE_MAIN("event", 60, waited_call_has_ended,
           later_fence_of_a_device_stands_for_earlier_ones,
           first_failure_is_kept_until_the_number_is_old,
           number_that_runs_out_of_the_table_has_ended,
           what_follows_runs_in_the_order_of_calls,
           more_than_the_queue_holds_are_all_run)

/*
 * Stores that are gathered and written by a kernel: that the bytes are those of
 * the last store, behind what they have to come behind, and that copies serve where
 * there is no kernel. A log that was not sent stays as it is, so nothing here is
 * timing.
 */
#include "poked.h"

#include "accel/extent.h"
#include "common/draw.h"
#include "common/kill_device.h"

#include <sys/wait.h>

/* ---- what is gathered ---------------------------------------------------- */

START_TEST(many_are_copies_until_the_kernel_is_loaded)
{
    begin_without();
    uint64_t before = sends();
    adsm_poke_prepare(accel);
    ck_assert_int_eq(loads, 0);
    copies();
    ck_assert_uint_eq(sends() - before, ADSM_POKE_COPIES);
    adsm_poke_prepare(accel);
    ck_assert_int_eq(loads, 1);
    must_end();
}
END_TEST

START_TEST(many_are_one_launch)
{
    begin();
    uint64_t before = sends();
    for (size_t i = 0; i < 150; i++)
        poke(i * 320 + i % 13, &i, 4);
    ck_assert(is_held());
    ck_assert_uint_eq(sends(), before);
    must(adsm_dma_drain(accel));
    ck_assert(!is_held());
    ck_assert_uint_eq(sends() - before, 1);
    ck_assert_int_eq(launches, 1);
    must_end();
}
END_TEST

START_TEST(one_alone_is_a_copy)
{
    uint8_t value[ADSM_POKE_BYTES];
    begin();
    fill(value, sizeof value, 3);
    for (size_t bytes = 1; bytes <= ADSM_POKE_BYTES; bytes++) {
        uint64_t before = sends();
        poke(bytes * 100 + bytes % 7, value, bytes);
        must(adsm_dma_drain(accel));
        ck_assert_uint_eq(sends() - before, 1);
    }
    ck_assert_int_eq(launches, 0);
    must_end();
}
END_TEST

START_TEST(last_store_wins)
{
    static const uint8_t value[ADSM_POKE_BYTES] = {1, 2, 3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14};
    begin();
    poke(64, value, 8);
    poke(66, value + 3, 2);
    poke(64, value + 8, 1);
    poke(61, value, 32);
    poke(90, value + 1, 7);
    poke(66, value, 8);
    poke(66, value + 1, 8);
    must(adsm_dma_drain(accel));
    ck_assert_int_eq(launches, 1);
    must_end();
}
END_TEST

/* Of all lengths, over one another, seen now and then. */
START_TEST(drawn_stores_are_as_one_after_the_other)
{
    enum { STORES = 4000, AREA = 300 };
    uint8_t value[ADSM_POKE_BYTES];
    begin();
    for (int i = 0; i < STORES; i++) {
        size_t bytes = 1 + (size_t)below(ADSM_POKE_BYTES);
        for (size_t k = 0; k < bytes; k++)
            value[k] = (uint8_t)(size_t)below(256);
        poke((size_t)below(AREA), value, bytes);
        if ((size_t)below(40) == 0) {
            must(adsm_dma_drain(accel));
            must_be_there(0, AREA + ADSM_POKE_BYTES);
        }
    }
    must_end();
}
END_TEST

START_TEST(full_log_is_sent_and_waits_for_nobody)
{
    struct gate gate;
    struct adsm_fence after, done;
    begin();
    gate_put(accel, adsm_accel_launch_stream(accel), &gate);
    must(adsm_fence_record(accel, adsm_accel_launch_stream(accel), &after));
    for (uint32_t i = 0; i < 3 * ADSM_POKE_WORDS; i++)
        must(poke_behind(i * 24, &i, sizeof i, after, &done));
    ck_assert_int_ge(launches, 2);
    ck_assert(!adsm_fence_done(after));
    gate.open = true;
    must_end();
}
END_TEST

/* ---- numbers and order ---------------------------------------------------- */

/* An event that is recorded meanwhile does not stand for what is held, nor does
 * work that is submitted. */
START_TEST(held_number_is_not_reached_by_others)
{
    struct adsm_lane *lane;
    struct adsm_fence later;
    begin();
    lane = &accel->lanes->lane[ADSM_LANE_UPLOAD];
    poke_byte(100, 1);
    struct adsm_fence first = poke_byte(500, 2);
    must(adsm_fence_record(accel, lane->stream, &later));
    ck_assert_uint_gt(later.seq, first.seq);
    ck_assert(is_held());
    ck_assert_uint_lt(lane->recorded, first.seq);
    ck_assert(adsm_lanes_are_valid(accel));
    must(adsm_cuda_ops.context_wait(accel));
    ck_assert_uint_lt(lane->done, first.seq);
    must(adsm_fence_wait(later));
    ck_assert(!is_held());
    must_end();
}
END_TEST

static void must_come_behind(struct gate *gate, bool noted)
{
    struct adsm_fence after = nothing, done;
    adsm_stream busy = new_stream(accel);
    gate_put(accel, busy, gate);
    if (noted)
        adsm_lane_note(accel, busy, false);
    else
        must(adsm_fence_record(accel, busy, &after));
    must(poke_behind(100, "ab", 2, after, &done));
    must(poke_behind(900, "cd", 2, after, &done));
    adsm_poke_submit_all();
    nap_ms(20);
    ck_assert(!adsm_fence_done(done));
    gate->open = true;
    must(adsm_fence_wait(done));
    must_be_there(0, ROOM);
}

static struct adsm_fence awaited;
static int submissions;
static int (*accel_submit)(struct adsm_accel *);

/* As where another thread has just gathered a store, and took the number that was
 * next for the one that it holds, before that was given to what is awaited. */
static int submit_and_hold(struct adsm_accel *of)
{
    int rc = accel_submit(of);
    if (submissions++ == 0) {
        poke_byte(700, 9);
        atomic_store(&of->lanes->lane[ADSM_LANE_UPLOAD].held, awaited.seq);
    }
    return rc;
}

START_TEST(number_that_counts_as_held_meanwhile_is_reached)
{
    begin();
    poke_byte(100, 1);
    awaited = poke_byte(500, 2);
    accel_submit = accel->lanes->submit;
    accel->lanes->submit = submit_and_hold;
    must(adsm_fence_wait(awaited));
    ck_assert_int_eq(submissions, 2);
    must_end();
}
END_TEST

START_TEST(log_comes_behind_the_work_of_its_objects)
{
    struct gate gate;
    begin();
    must_come_behind(&gate, false);
    must_come_behind(&gate, true);
    must_end();
}
END_TEST

START_TEST(log_comes_behind_work_of_many_streams)
{
    enum { STREAMS = ADSM_POKE_AFTER + 3 };
    struct gate gate[STREAMS];
    struct adsm_fence after, done;
    begin();
    for (uint32_t i = 0; i < STREAMS; i++) {
        adsm_stream busy = new_stream(accel);
        gate_put(accel, busy, &gate[i]);
        must(adsm_fence_record(accel, busy, &after));
        must(poke_behind(i * 32, &i, sizeof i, after, &done));
        must(poke_behind(i * 32 + 2048, &i, sizeof i, after, &done));
    }
    for (int i = 0; i < STREAMS; i++) {
        adsm_poke_submit_all();
        nap_ms(5);
        ck_assert(!adsm_fence_done(done));
        gate[i].open = true;
    }
    must(adsm_fence_wait(done));
    must_end();
}
END_TEST

/* ---- where it cannot be gathered ----------------------------------------- */

static int refuse_load(struct adsm_accel *of, const void *image, size_t bytes,
                       void **module)
{
    loads++;
    return ADSM_E_UNSUPPORTED;
}

START_TEST(refused_module_leaves_copies)
{
    begin_without();
    ops.module_load = refuse_load;
    for (int i = 0; i < 3; i++) {
        copies();
        adsm_poke_prepare(accel);
    }
    ck_assert_int_eq(loads, 1);
    ck_assert_ptr_null(accel->poke->kernel);
    must_end();
}
END_TEST

START_TEST(busy_device_is_asked_later)
{
    struct gate gate;
    begin_without();
    copies();
    adsm_stream busy = new_stream(accel);
    gate_put(accel, busy, &gate);
    adsm_lane_note(accel, busy, false);
    adsm_poke_prepare(accel);
    ck_assert_int_eq(loads, 0);
    gate.open = true;
    must(adsm_lane_wait_noted(accel));
    adsm_poke_prepare(accel);
    ck_assert_int_eq(loads, 0);
    copies();
    adsm_poke_prepare(accel);
    ck_assert_int_eq(loads, 1);
    must_end();
}
END_TEST

/* Copies alone are no work that the device has. */
START_TEST(copies_on_their_way_are_not_waited_for)
{
    struct gate gate;
    begin_without();
    copies();
    gate_put(accel, accel->lanes->lane[ADSM_LANE_UPLOAD].stream, &gate);
    struct adsm_fence done = poke_byte(100, 1);
    adsm_poke_prepare(accel);
    ck_assert(!adsm_fence_done(done));
    gate.open = true;
    ck_assert_int_eq(loads, 1);
    must_end();
}
END_TEST

static int refuse_launch(struct adsm_accel *of,
                         const struct adsm_launch *launch)
{
    launches++;
    return ADSM_E_DEVICE_NOMEM;
}

START_TEST(refused_launch_goes_as_copies)
{
    begin();
    ops.launch = refuse_launch;
    uint64_t before = sends();
    poke(100, "abcdefghijklmnopqrstu", 21);
    poke_byte(803, 1);
    poke_byte(805, 2);
    poke_byte(806, 3);
    must(adsm_dma_drain(accel));
    ck_assert_int_eq(launches, 1);
    ck_assert_uint_eq(sends() - before, 4 + 2);
    must_be_there(0, ROOM);
    poke_byte(100, 9);
    ck_assert(!is_held());
    ck_assert_int_eq(launches, 1);
    must_end();
}
END_TEST

static int refuse_copy(struct adsm_accel *of, adsm_stream on,
                       struct adsm_daddr to, const void *from, size_t bytes)
{
    return ADSM_E_DEVICE_NOMEM;
}

/* It is told to who waits, and tried again, but for memory that goes. */
START_TEST(what_cannot_be_sent_stays)
{
    uint8_t kept;
    begin();
    ops.launch = refuse_launch;
    ops.copy_up = refuse_copy;
    poke_byte(100, 1);
    kept = model[900];
    struct adsm_fence done = poke_byte(900, 2);
    ck_assert_int_eq(adsm_fence_wait(done), ADSM_E_DEVICE_NOMEM);
    ck_assert(!adsm_fence_done(done));
    ck_assert_int_eq(adsm_dma_order_uploads(accel, NULL), ADSM_E_DEVICE_NOMEM);
    ck_assert_int_eq(adsm_accel_synchronize(accel), ADSM_E_DEVICE_NOMEM);
    adsm_poke_forget(accel, at(512), 1024);
    model[900] = kept;
    ops.launch = count_launch;
    ops.copy_up = adsm_cuda_ops.copy_up;
    must(adsm_fence_wait(done));
    must_end();
}
END_TEST

/* As in memory that goes while one store alone waits. */
START_TEST(forgotten_store_is_not_sent)
{
    begin();
    uint8_t kept = model[100];
    struct adsm_fence done = poke_byte(100, (uint8_t)(kept + 1));
    adsm_poke_forget(accel, span.device, ROOM);
    model[100] = kept;
    must(adsm_fence_wait(done));
    must_end();
}
END_TEST

/* Between two allocations on one page is nothing of the device. */
START_TEST(allocations_that_share_pages_get_copies)
{
    struct adsm_extents extents = {0};
    begin();
    must(
        adsm_extents_add(&extents, (struct adsm_extent){at(0).at, at(512).at}));
    must(adsm_extents_add(&extents,
                          (struct adsm_extent){at(1024).at, at(2048).at}));
    must(adsm_extent_enter(accel->extents, &extents));
    uint64_t before = sends();
    poke_byte(100, 1);
    poke_byte(1100, 2);
    ck_assert_uint_eq(sends() - before, 2);
    uint8_t kept = model[700];
    poke_byte(700, (uint8_t)(kept + 1));
    model[700] = kept;
    ck_assert(!is_held());
    poke_byte(8192, 3);
    ck_assert(is_held());
    adsm_extent_remove(accel->extents, &extents);
    free(extents.list);
    must_end();
}
END_TEST

/* ---- threads, processes, and the end ------------------------------------- */

enum { THREADS = 4, ROUNDS = 3000 };
static atomic_int storing;

/* Each its own bytes of the same words. */
static void *store_body(void *arg)
{
    size_t self = *(size_t *)arg;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint8_t value[2] = {(uint8_t)i, (uint8_t)(i >> 8)};
        size_t offset = (i * 7 % 64) * 2 * THREADS + self * 2;
        struct adsm_fence done;
        must(poke_behind(offset, value, 2, nothing, &done));
        if (i % 100 == 0)
            must(adsm_fence_wait(done));
    }
    storing--;
    return NULL;
}

START_TEST(threads_store_side_by_side_while_others_look)
{
    pthread_t thread[THREADS];
    size_t self[THREADS];
    begin();
    adsm_stream stream = new_stream(accel);
    storing = THREADS;
    for (size_t i = 0; i < THREADS; i++) {
        self[i] = i;
        pthread_create(&thread[i], NULL, store_body, &self[i]);
    }
    for (int i = 0; storing > 0; i++) {
        struct adsm_fence done;
        must(adsm_dma_order_uploads(accel, stream));
        must(adsm_dma_set(accel, at(32768), 5, 16, nothing, &done,
                          ADSM_CAUSE(trial)));
        (void)adsm_fence_done(done);
        if (i % 16 == 0)
            must(adsm_fence_wait(done));
        ck_assert(adsm_lanes_are_valid(accel));
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    memset(model + 32768, 5, 16);
    must_end();
}
END_TEST

/* Also where a thread of the parent was just sending. */
START_TEST(child_of_a_fork_waits_for_nothing)
{
    int status = 0;
    begin();
    poke_byte(100, 1);
    struct adsm_fence done = poke_byte(500, 2);
    adsm_lock_acquire(&accel->poke->lock);
    pid_t child = fork();
    if (child == 0) {
        struct adsm_fence other;
        alarm(20);
        int sent = poke_behind(100, "x", 1, nothing, &other);
        int waited = adsm_fence_wait(done);
        _exit(sent == ADSM_E_FORKED && waited == ADSM_E_FORKED ? 0 : 1);
    }
    adsm_lock_release(&accel->poke->lock);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    must_end();
}
END_TEST

START_TEST(log_of_a_lost_device_ends_waits)
{
    struct adsm_fence other;
    begin();
    poke_byte(100, 1);
    struct adsm_fence done = poke_byte(500, 2);
    ck_assert_int_gt(kill_device(ANY_DEVICE), 0);
    nap_ms(100);
    ck_assert_int_eq(adsm_fence_wait(done), ADSM_E_DEVICE_LOST);
    ck_assert(adsm_fence_done(done));
    ck_assert_int_eq(poke_behind(100, "x", 1, nothing, &other),
                     ADSM_E_DEVICE_LOST);
    ck_assert_int_eq(adsm_dma_drain(accel), ADSM_E_DEVICE_LOST);
    adsm_accel_forget(accel);
    ck_assert(adsm_fence_done(done));
}
END_TEST

START_TEST(forgotten_accel_has_sent_its_log)
{
    begin();
    poke_byte(100, 1);
    struct adsm_fence done = poke_byte(500, 2);
    adsm_accel_forget(accel);
    ck_assert_int_eq(launches, 1);
    ck_assert(adsm_fence_done(done));
    must(adsm_fence_wait(done));
}
END_TEST

SUITE_MAIN("accel/poke", 120, many_are_copies_until_the_kernel_is_loaded,
           many_are_one_launch, one_alone_is_a_copy, last_store_wins,
           drawn_stores_are_as_one_after_the_other,
           full_log_is_sent_and_waits_for_nobody,
           held_number_is_not_reached_by_others,
           number_that_counts_as_held_meanwhile_is_reached,
           log_comes_behind_the_work_of_its_objects,
           log_comes_behind_work_of_many_streams, refused_module_leaves_copies,
           busy_device_is_asked_later, copies_on_their_way_are_not_waited_for,
           refused_launch_goes_as_copies, what_cannot_be_sent_stays,
           forgotten_store_is_not_sent, allocations_that_share_pages_get_copies,
           threads_store_side_by_side_while_others_look,
           child_of_a_fork_waits_for_nothing, log_of_a_lost_device_ends_waits,
           forgotten_accel_has_sent_its_log)

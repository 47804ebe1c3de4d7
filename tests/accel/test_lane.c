/*
 * Lanes and fences: order, who waits for whom, reuse, and what happens to
 * streams that go away. Streams are held up by gates, so nothing is timing.
 */
#include "fixture.h"

struct waiter {
    struct adsm_accel *accel;
    struct adsm_fence fence; /* of lane 0, number 0: wait for what is noted */
    atomic_bool done;
    int status;
    pthread_t thread;
};

static void *wait_body(void *arg)
{
    struct waiter *w = arg;
    w->status = w->fence.seq ? adsm_fence_wait(w->fence)
                             : adsm_lane_wait_noted(w->accel);
    w->done = true;
    return NULL;
}

static void wait_start(struct waiter *w, struct adsm_accel *accel,
                       struct adsm_fence fence)
{
    w->accel = accel;
    w->fence = fence;
    w->done = false;
    pthread_create(&w->thread, NULL, wait_body, w);
}

static void wait_end(struct waiter *w)
{
    pthread_join(w->thread, NULL);
    ck_assert_int_eq(w->status, ADSM_OK);
}

START_TEST(no_fence_is_always_reached)
{
    struct adsm_accel *accel = accel_up();
    must(adsm_fence_wait(nothing));
    ck_assert(adsm_fence_done(nothing));
    must(adsm_fence_order(accel, NULL, nothing));
    must(adsm_lane_wait_noted(accel));
    must(adsm_dma_drain(accel));
    must(adsm_dma_order_uploads(accel, NULL));
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(fences_of_a_stream_are_reached_in_order)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = adsm_accel_launch_stream(accel);
    struct gate first, second;
    struct adsm_fence before, after;
    struct waiter waiter;
    gate_put(accel, stream, &first);
    must(adsm_fence_record(accel, stream, &before));
    gate_put(accel, stream, &second);
    must(adsm_fence_record(accel, stream, &after));
    ck_assert_uint_lt(before.seq, after.seq);
    wait_start(&waiter, accel, before);
    nap_ms(20);
    ck_assert(!waiter.done);
    ck_assert(!adsm_fence_done(before));
    first.open = true;
    wait_end(&waiter);
    ck_assert(adsm_fence_done(before));
    ck_assert(!adsm_fence_done(after));
    second.open = true;
    must(adsm_fence_wait(after));
    ck_assert(adsm_fence_done(after));
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(noted_work_is_waited_for_by_every_thread)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    struct gate gate;
    struct waiter waiter[3];
    gate_put(accel, stream, &gate);
    adsm_lane_note(accel, stream, false);
    for (int i = 0; i < 3; i++)
        wait_start(&waiter[i], accel, nothing);
    nap_ms(20);
    for (int i = 0; i < 3; i++)
        ck_assert(!waiter[i].done);
    gate.open = true;
    for (int i = 0; i < 3; i++)
        wait_end(&waiter[i]);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(waiting_again_for_the_same_notes_is_free)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    adsm_lane_note(accel, stream, false);
    must(adsm_lane_wait_noted(accel));
    struct adsm_lane *lane = &accel->lanes->lane[ADSM_LANE_PROGRAM];
    uint64_t given = lane->given;
    for (int i = 0; i < 10; i++)
        must(adsm_lane_wait_noted(accel));
    ck_assert_uint_eq(lane->given, given);
    adsm_lane_note(accel, stream, false);
    must(adsm_lane_wait_noted(accel));
    ck_assert_uint_eq(lane->given, given + 1);
}
END_TEST

START_TEST(many_notes_cost_one_event)
{
    struct adsm_accel *accel = accel_up();
    for (int i = 0; i < 1000; i++)
        adsm_lane_note(accel, NULL, false);
    must(adsm_lane_wait_noted(accel));
    ck_assert_uint_eq(accel->lanes->lane[ADSM_LANE_PROGRAM].given, 1);
}
END_TEST

START_TEST(upload_waits_for_noted_work)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    struct adsm_span span;
    struct adsm_fence done;
    struct gate gate;
    uint8_t host[64];
    fill(host, sizeof host, 1);
    must(adsm_address_alloc(accel, sizeof host, false, &span));
    gate_put(accel, stream, &gate);
    adsm_lane_note(accel, stream, false);
    adsm_pin(accel, host, sizeof host);
    must(adsm_dma_upload(accel, span.device, host, sizeof host, nothing, &done,
                         ADSM_CAUSE(trial)));
    nap_ms(20);
    ck_assert(!adsm_fence_done(done));
    gate.open = true;
    must(adsm_fence_wait(done));
    adsm_unpin(accel, host, sizeof host);
}
END_TEST

START_TEST(upload_waits_for_the_fence_it_is_given)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = adsm_accel_launch_stream(accel);
    struct adsm_span span;
    struct adsm_fence after, done;
    struct gate gate;
    must(adsm_address_alloc(accel, 64, false, &span));
    gate_put(accel, stream, &gate);
    must(adsm_fence_record(accel, stream, &after));
    must(adsm_dma_set(accel, span.device, 7, 64, after, &done,
                      ADSM_CAUSE(trial)));
    nap_ms(20);
    ck_assert(!adsm_fence_done(done));
    gate.open = true;
    must(adsm_fence_wait(done));
}
END_TEST

START_TEST(launch_waits_for_uploads_once)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = adsm_accel_launch_stream(accel);
    struct adsm_span span;
    struct adsm_fence up, launch;
    struct gate gate;
    must(adsm_address_alloc(accel, 64, false, &span));
    gate_put(accel, accel->lanes->lane[ADSM_LANE_UPLOAD].stream, &gate);
    must(adsm_dma_set(accel, span.device, 7, 64, nothing, &up,
                      ADSM_CAUSE(trial)));
    must(adsm_dma_order_uploads(accel, stream));
    must(adsm_fence_record(accel, stream, &launch));
    nap_ms(20);
    ck_assert(!adsm_fence_done(launch));
    uint64_t recorded = accel->lanes->lane[ADSM_LANE_UPLOAD].recorded;
    must(adsm_dma_order_uploads(accel, stream));
    ck_assert_uint_eq(accel->lanes->lane[ADSM_LANE_UPLOAD].recorded, recorded);
    ck_assert_uint_eq(accel->lanes->lane[ADSM_LANE_LAUNCH].uploads_seen,
                      up.seq);
    gate.open = true;
    must(adsm_fence_wait(launch));
    ck_assert(adsm_fence_done(up));
}
END_TEST

START_TEST(order_between_streams_needs_no_waiting_cpu)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream from = new_stream(accel), to = new_stream(accel);
    struct adsm_fence first, second;
    struct gate gate;
    gate_put(accel, from, &gate);
    must(adsm_fence_record(accel, from, &first));
    must(adsm_fence_order(accel, to, first));
    must(adsm_fence_record(accel, to, &second));
    nap_ms(20);
    ck_assert(!adsm_fence_done(second));
    gate.open = true;
    must(adsm_fence_wait(second));
    ck_assert(adsm_fence_done(first));
}
END_TEST

START_TEST(more_pending_fences_than_events_stay_ordered)
{
    /* No more than show it: what waits behind a host function fills the
     * driver's queue, and on an H200 that of 320 events blocked the caller. */
    enum { FENCES = 2 * ADSM_LANE_EVENTS };
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    struct adsm_fence fence[FENCES];
    struct gate gate, last;
    gate_put(accel, stream, &gate);
    for (int i = 0; i < FENCES; i++) {
        must(adsm_fence_record(accel, stream, &fence[i]));
        if (i == FENCES - 2)
            gate_put(accel, stream, &last);
    }
    ck_assert(adsm_lanes_are_valid(accel));
    for (int i = 0; i < FENCES; i += 17)
        ck_assert(!adsm_fence_done(fence[i]));
    struct waiter waiter;
    wait_start(&waiter, accel, fence[3]);
    gate.open = true;
    wait_end(&waiter);
    must(adsm_fence_wait(fence[FENCES / 2]));
    ck_assert(!adsm_fence_done(fence[FENCES - 1]));
    last.open = true;
    must(adsm_fence_wait(fence[FENCES - 1]));
    for (int i = 0; i < FENCES; i++)
        ck_assert(adsm_fence_done(fence[i]));
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(events_are_reused)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_fence fence;
    for (int i = 0; i < 10000; i++) {
        must(adsm_fence_record(accel, adsm_accel_launch_stream(accel), &fence));
        must(adsm_fence_wait(fence));
    }
    unsigned unused = 0;
    for (struct adsm_mark *m = accel->lanes->unused; m; m = m->next)
        unused++;
    ck_assert_uint_le(unused, 4);
}
END_TEST

START_TEST(retired_stream_leaves_its_fences_behind)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = new_stream(accel);
    struct adsm_fence fence;
    struct waiter waiter;
    struct gate gate;
    gate_put(accel, stream, &gate);
    must(adsm_fence_record(accel, stream, &fence));
    adsm_lane_note(accel, stream, false);
    adsm_lane_retire(accel, stream);
    adsm_lane_retire(accel, stream); /* has no lane any more */
    ck_assert_ptr_null(accel->lanes->lane[fence.lane].stream);
    ck_assert(!adsm_fence_done(fence));
    wait_start(&waiter, accel, nothing);
    nap_ms(20);
    ck_assert(!waiter.done);
    gate.open = true;
    wait_end(&waiter);
    ck_assert(adsm_fence_done(fence));
    must(accel->ops->stream_destroy(accel, stream));
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(more_streams_than_lanes_settle_old_ones)
{
    enum { STREAMS = 3 * ADSM_LANES };
    struct adsm_accel *accel = accel_up();
    static adsm_stream stream[STREAMS];
    static struct adsm_fence fence[STREAMS];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < STREAMS; i++) {
            if (round == 0)
                stream[i] = new_stream(accel);
            must(adsm_fence_record(accel, stream[i], &fence[i]));
            adsm_lane_note(accel, stream[i], false);
        }
    must(adsm_lane_wait_noted(accel));
    for (int i = 0; i < STREAMS; i++) {
        must(adsm_fence_wait(fence[i]));
        adsm_lane_retire(accel, stream[i]);
        must(accel->ops->stream_destroy(accel, stream[i]));
    }
    ck_assert_uint_eq(accel->lanes->used, ADSM_LANES);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(synchronize_settles_every_lane)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream a = new_stream(accel), b = new_stream(accel);
    struct adsm_fence fence;
    adsm_lane_note(accel, a, false);
    adsm_lane_note(accel, b, false);
    must(adsm_fence_record(accel, b, &fence));
    must(adsm_accel_synchronize(accel));
    ck_assert_uint_eq(accel->lanes->settled, 2);
    ck_assert_uint_ge(accel->lanes->lane[fence.lane].done, fence.seq);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

/* ---- per-thread default streams ------------------------------------------ */

struct own_stream {
    struct adsm_accel *accel;
    bool gated; /* one only: drivers run host functions one after another */
    struct gate gate;
    struct adsm_fence fence;
    atomic_bool noted;
    pthread_t thread;
};

static void *note_own(void *arg)
{
    struct own_stream *own = arg;
    adsm_stream mine = own->accel->ops->stream_per_thread;
    if (own->gated)
        gate_put(own->accel, mine, &own->gate);
    must(adsm_fence_record(own->accel, mine, &own->fence));
    adsm_lane_note(own->accel, NULL, true);
    own->noted = true;
    while (!own->gate.open)
        nap_ms(1);
    return NULL;
}

START_TEST(default_streams_of_threads_are_lanes_of_their_own)
{
    struct own_stream own[2];
    struct waiter waiter;
    memset(own, 0, sizeof own);
    struct adsm_accel *accel = accel_up();
    for (int i = 0; i < 2; i++) {
        own[i].accel = accel;
        own[i].gated = i == 0;
        pthread_create(&own[i].thread, NULL, note_own, &own[i]);
        while (!own[i].noted)
            nap_ms(1);
    }
    ck_assert_uint_ne(own[0].fence.lane, own[1].fence.lane);
    must(adsm_fence_wait(own[1].fence));
    ck_assert(!adsm_fence_done(own[0].fence));
    wait_start(&waiter, accel, nothing);
    nap_ms(20);
    ck_assert(!waiter.done);
    own[0].gate.open = true;
    own[1].gate.open = true;
    wait_end(&waiter);
    for (int i = 0; i < 2; i++)
        pthread_join(own[i].thread, NULL);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

START_TEST(names_of_the_default_stream_are_one_lane)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_fence a, b;
    must(adsm_fence_record(accel, NULL, &a));
    must(adsm_fence_record(accel, accel->ops->stream_legacy, &b));
    ck_assert_uint_eq(a.lane, b.lane);
    must(adsm_fence_record(accel, accel->ops->stream_per_thread, &b));
    ck_assert_uint_ne(a.lane, b.lane);
}
END_TEST

/* ---- all at once ----------------------------------------------------------- */

struct hammer {
    struct adsm_accel *accel;
    adsm_stream *streams;
    unsigned count;
    unsigned seed;
    atomic_bool *stop;
    struct adsm_span *span;
    uint64_t rounds;
    pthread_t thread;
};

enum { HAMMERS = 4 };

static void *hammer_body(void *arg)
{
    struct hammer *h = arg;
    struct adsm_fence fence = nothing, up;
    while (!*h->stop) {
        adsm_stream stream = h->streams[rand_r(&h->seed) % h->count];
        switch (rand_r(&h->seed) % 9) {
        case 0:
            adsm_lane_note(h->accel, stream, false);
            break;
        case 1:
            adsm_lane_note(h->accel, NULL, true);
            break;
        case 2:
            must(adsm_fence_record(h->accel, stream, &fence));
            break;
        case 3:
            must(adsm_fence_wait(fence));
            ck_assert(adsm_fence_done(fence));
            break;
        case 4:
            must(adsm_fence_order(h->accel, stream, fence));
            break;
        case 5:
            must(adsm_lane_wait_noted(h->accel));
            break;
        case 6:
            must(adsm_dma_set(h->accel, h->span->device, 1, 64, fence, &up,
                              ADSM_CAUSE(trial)));
            must(adsm_dma_order_uploads(h->accel, stream));
            break;
        case 7:
            must(adsm_dma_drain(h->accel));
            break;
        default:
            adsm_lane_retire(h->accel, stream);
        }
        h->rounds++;
    }
    return NULL;
}

static void hammer_streams(unsigned count)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream streams[2 * ADSM_LANES];
    struct hammer hammer[HAMMERS];
    struct adsm_span span;
    atomic_bool stop = false;
    must(adsm_address_alloc(accel, 64, false, &span));
    for (unsigned i = 0; i < count; i++)
        streams[i] = new_stream(accel);
    for (int i = 0; i < HAMMERS; i++) {
        hammer[i] = (struct hammer){.accel = accel,
                                    .streams = streams,
                                    .count = count,
                                    .seed = 1 + (unsigned)i,
                                    .stop = &stop,
                                    .span = &span};
        pthread_create(&hammer[i].thread, NULL, hammer_body, &hammer[i]);
    }
    for (int i = 0; i < 20; i++) {
        nap_ms(100);
        ck_assert(adsm_lanes_are_valid(accel));
    }
    stop = true;
    for (int i = 0; i < HAMMERS; i++) {
        pthread_join(hammer[i].thread, NULL);
        ck_assert_uint_gt(hammer[i].rounds, 100);
    }
    must(adsm_lane_wait_noted(accel));
    ck_assert(adsm_lanes_are_valid(accel));
    adsm_accel_forget(accel);
}

START_TEST(threads_on_all_lanes_agree)
{
    hammer_streams(6);
}
END_TEST

START_TEST(threads_on_more_streams_than_lanes_agree)
{
    hammer_streams(ADSM_LANES + 50);
}
END_TEST

SUITE_MAIN("accel/lane", 60, no_fence_is_always_reached,
           fences_of_a_stream_are_reached_in_order,
           noted_work_is_waited_for_by_every_thread,
           waiting_again_for_the_same_notes_is_free, many_notes_cost_one_event,
           upload_waits_for_noted_work, upload_waits_for_the_fence_it_is_given,
           launch_waits_for_uploads_once,
           order_between_streams_needs_no_waiting_cpu,
           more_pending_fences_than_events_stay_ordered, events_are_reused,
           retired_stream_leaves_its_fences_behind,
           more_streams_than_lanes_settle_old_ones,
           synchronize_settles_every_lane,
           default_streams_of_threads_are_lanes_of_their_own,
           names_of_the_default_stream_are_one_lane, threads_on_all_lanes_agree,
           threads_on_more_streams_than_lanes_agree)

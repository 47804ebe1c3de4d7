/*
 * Downloads before they are wanted: what is taken is what a download would bring,
 * whatever comes behind it, and what is never taken is not sent for ever.
 */
#include "fixture.h"

#include "accel/early.h"
#include "accel/fence.h"
#include "base/stats.h"

enum { BYTES = 8 << 10, ROOM = 1 << 20 };

static struct adsm_accel *accel;
static struct adsm_daddr at;
static uint8_t *up, *down;

static void begin(void)
{
    struct adsm_span span;
    accel = accel_up();
    must(adsm_address_alloc(accel, ROOM, false, &span));
    at = span.device;
    up = host_buffer(ROOM);
    down = host_buffer(ROOM);
}

static void upload(size_t offset, size_t bytes, uint32_t seed)
{
    struct adsm_fence done;
    fill(up, bytes, seed);
    must(adsm_dma_upload(accel, adsm_daddr_add(at, offset), up, bytes, nothing,
                         &done, ADSM_CAUSE(trial)));
}

static void send(void)
{
    adsm_early_send(accel, at, BYTES, nothing, ADSM_CAUSE(trial));
}

static bool take(size_t offset, size_t bytes)
{
    memset(down, 0, BYTES);
    return adsm_early_take(accel, down, adsm_daddr_add(at, offset), bytes,
                           nothing);
}

/* Set by the device, on a stream of the program, behind what that waits for. */
static void set(adsm_stream stream, uint8_t value)
{
    must(accel->ops->set_device(accel, stream, at, value, BYTES));
    adsm_lane_note(accel, stream, false);
}

static void must_download(uint8_t value)
{
    must(adsm_dma_download(accel, down, at, BYTES, nothing, ADSM_CAUSE(trial)));
    for (size_t i = 0; i < BYTES; i++)
        ck_assert_uint_eq(down[i], value);
}

START_TEST(what_was_enqueued_is_taken_once)
{
    begin();
    upload(0, BYTES, 1);
    send();
    ck_assert(take(0, BYTES));
    ck_assert_uint_eq(first_wrong(down, BYTES, 1), BYTES);
    ck_assert(!take(0, BYTES));
}
END_TEST

START_TEST(part_of_it_may_be_taken_and_more_is_not_there)
{
    begin();
    upload(0, 2 * BYTES, 1);
    send();
    ck_assert(!take(0, BYTES + 1));
    ck_assert(!take(BYTES, 1));
    ck_assert(take(BYTES - 100, 100));
    ck_assert_int_eq(memcmp(down, up + BYTES - 100, 100), 0);
}
END_TEST

START_TEST(download_finds_it)
{
    begin();
    upload(0, BYTES, 1);
    send();
    uint64_t bytes = adsm_stats_get(ADSM_STAT_bytes_down);
    must(adsm_dma_download(accel, down, at, BYTES, nothing, ADSM_CAUSE(trial)));
    ck_assert_uint_eq(first_wrong(down, BYTES, 1), BYTES);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down), bytes);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_fetched_early), 1);
}
END_TEST

START_TEST(uploads_behind_it_make_it_void)
{
    static const struct {
        size_t offset;
        bool there;
    } cases[] = {
        {0, false}, {BYTES - 1, false}, {BYTES, true}, {ROOM / 2, true}};
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        upload(0, BYTES, 1);
        do
            send(); /* the last one may have been in vain */
        while (atomic_load(&accel->early->count) == 0);
        upload(cases[i].offset, 100, 2);
        ck_assert_int_eq(take(0, BYTES), cases[i].there);
    }
}
END_TEST

START_TEST(work_behind_it_makes_it_void)
{
    begin();
    adsm_stream stream = new_stream(accel);
    set(stream, 1);
    send();
    must(adsm_accel_synchronize(accel)); /* it has the 1 */
    set(stream, 2);
    must_download(2);
}
END_TEST

START_TEST(it_comes_behind_the_work_before)
{
    struct gate gate;
    begin();
    adsm_stream stream = new_stream(accel);
    set(stream, 1);
    gate_put(accel, stream, &gate);
    set(stream, 2);
    send(); /* and returns */
    ck_assert(!atomic_load(&gate.open));
    gate.open = true;
    ck_assert(take(0, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        ck_assert_uint_eq(down[i], 2);
}
END_TEST

START_TEST(another_fence_makes_it_void)
{
    struct adsm_fence fence;
    begin();
    adsm_stream stream = new_stream(accel);
    upload(0, BYTES, 1);
    send();
    must(adsm_fence_record(accel, stream, &fence));
    ck_assert(!adsm_early_take(accel, down, at, BYTES, fence));
}
END_TEST

START_TEST(what_was_forgotten_is_not_there)
{
    begin();
    upload(0, BYTES, 1);
    send();
    adsm_early_forget(accel, adsm_daddr_add(at, BYTES), BYTES);
    ck_assert_uint_eq(atomic_load(&accel->early->count), 1);
    adsm_early_forget(accel, adsm_daddr_add(at, BYTES - 1), BYTES);
    ck_assert(!take(0, BYTES));
}
END_TEST

static void *open_late(void *gate)
{
    nap_ms(50);
    ((struct gate *)gate)->open = true;
    return NULL;
}

/* The bytes may go then. */
START_TEST(nothing_is_under_way_behind_a_wait)
{
    struct gate gate;
    pthread_t thread;
    begin();
    adsm_stream stream = new_stream(accel);
    gate_put(accel, stream, &gate);
    set(stream, 1);
    send();
    struct adsm_fence done = accel->early->slot[0].done;
    ck_assert_int_eq(pthread_create(&thread, NULL, open_late, &gate), 0);
    adsm_early_forget(accel, at, BYTES); /* and does not wait */
    ck_assert(!adsm_fence_done(done));
    adsm_early_await(accel);
    ck_assert(adsm_fence_done(done));
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(what_nobody_takes_is_sent_less_and_less)
{
    begin();
    upload(0, BYTES, 1);
    for (int i = 0; i < 1000; i++)
        send();
    uint64_t sent = adsm_stats_get(ADSM_STAT_bytes_down) / BYTES;
    ck_assert_uint_ge(sent, 1000 / 64);
    ck_assert_uint_le(sent, 1000 / 64 + 8);
    while (!take(0, BYTES))
        send();
    /* From then on each time. */
    for (int i = 0; i < 3; i++) {
        send();
        ck_assert(take(0, BYTES));
    }
}
END_TEST

START_TEST(too_much_or_not_page_locked_is_not_sent)
{
    begin();
    accel->pinned->refused = true;
    send();
    ck_assert(!take(0, BYTES));
    ck_assert_ptr_null(atomic_load(&accel->early->memory));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down), 0);
    accel->pinned->refused = false;
    atomic_store(&accel->early->tried, false);
    adsm_early_send(accel, at, ADSM_EARLY_BYTES + 1, nothing,
                    ADSM_CAUSE(trial));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down), 0);
    send();
    ck_assert(take(0, BYTES));
}
END_TEST

/* More ranges than there are slots: each is right or not there. */
START_TEST(slots_are_used_again)
{
    enum { RANGES = 3 * ADSM_EARLY_SLOTS };
    int there = 0;
    begin();
    for (uint32_t i = 0; i < RANGES; i++) {
        upload((size_t)i * BYTES, BYTES, i);
        adsm_early_send(accel, adsm_daddr_add(at, (size_t)i * BYTES), BYTES,
                        nothing, ADSM_CAUSE(trial));
    }
    for (uint32_t i = 0; i < RANGES; i++)
        if (take((size_t)i * BYTES, BYTES)) {
            ck_assert_uint_eq(first_wrong(down, BYTES, i), BYTES);
            there++;
        }
    ck_assert_int_eq(there, ADSM_EARLY_SLOTS);
}
END_TEST

/* Each thread has a range of its own, and all want the slots. */
static void *send_and_take(void *number)
{
    enum { TIMES = 300 };
    uint32_t i = *(uint32_t *)number;
    struct adsm_daddr mine = adsm_daddr_add(at, (size_t)i * BYTES);
    uint8_t *from = host_buffer(BYTES), *to = host_buffer(BYTES);
    for (uint32_t k = 0; k < TIMES; k++) {
        struct adsm_fence done;
        fill(from, BYTES, i + 100 * k);
        must(adsm_dma_upload(accel, mine, from, BYTES, nothing, &done,
                             ADSM_CAUSE(trial)));
        adsm_early_send(accel, mine, BYTES, nothing, ADSM_CAUSE(trial));
        must(adsm_dma_download(accel, to, mine, BYTES, nothing,
                               ADSM_CAUSE(trial)));
        ck_assert_uint_eq(first_wrong(to, BYTES, i + 100 * k), BYTES);
    }
    free(from);
    free(to);
    return NULL;
}

START_TEST(threads_get_their_own)
{
    enum { THREADS = ADSM_EARLY_SLOTS + 2 };
    pthread_t threads[THREADS];
    uint32_t numbers[THREADS];
    begin();
    for (uint32_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, send_and_take, &numbers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_gt(adsm_stats_get(ADSM_STAT_fetched_early), 0);
}
END_TEST

SUITE_MAIN("early", 60, what_was_enqueued_is_taken_once,
           part_of_it_may_be_taken_and_more_is_not_there, download_finds_it,
           uploads_behind_it_make_it_void, work_behind_it_makes_it_void,
           it_comes_behind_the_work_before, another_fence_makes_it_void,
           what_was_forgotten_is_not_there, nothing_is_under_way_behind_a_wait,
           what_nobody_takes_is_sent_less_and_less,
           too_much_or_not_page_locked_is_not_sent, slots_are_used_again,
           threads_get_their_own)

/*
 * Transfers: contents at odd sizes and offsets, pinned memory and its borders,
 * overlap of the directions, counters.
 */
#include "fixture.h"

#include "accel/dma_write.h"
#include "accel/move.h"
#include "base/stats.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { MIB = 1 << 20 };

static struct adsm_span span_of(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_span span;
    must(adsm_address_alloc(accel, bytes, false, &span));
    return span;
}

/* Within the device, behind all that is noted. */
static int copy(struct adsm_accel *accel, struct adsm_daddr to,
                struct adsm_daddr from, size_t bytes)
{
    struct adsm_place there = {.accel = accel, .device = to};
    struct adsm_place here = {.accel = accel, .device = from};
    struct adsm_fence done;
    return adsm_move(&there, &here, adsm_extent_of(bytes), NULL, 0, true, &done,
                     ADSM_CAUSE(trial));
}

/* Up at one place and down at another, both odd. */
static void round_trip(struct adsm_accel *accel, struct adsm_span *span,
                       uint8_t *up, uint8_t *down, size_t offset, size_t bytes)
{
    struct adsm_fence done;
    struct adsm_daddr at = adsm_daddr_add(span->device, offset);
    fill(up + offset, bytes, (uint32_t)bytes);
    must(adsm_dma_upload(accel, at, up + offset, bytes, nothing, &done,
                         ADSM_CAUSE(trial)));
    must(adsm_dma_download(accel, down + offset / 2, at, bytes, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_uint_eq(first_wrong(down + offset / 2, bytes, (uint32_t)bytes),
                      bytes);
}

static void round_trips(struct adsm_accel *accel, uint8_t *up, uint8_t *down)
{
    static const size_t sizes[] = {1,       2,       3,          7,    63,
                                   64,      4095,    4096,       4097, 65537,
                                   1000003, 2 * MIB, 5 * MIB + 1};
    static const size_t offsets[] = {0, 1, 13, 4095, 4096, 2 * MIB - 1};
    struct adsm_span span = span_of(accel, 8 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
            round_trip(accel, &span, up, down, offsets[k], sizes[i]);
    must(adsm_address_free(accel, &span));
}

START_TEST(odd_sizes_from_plain_memory_arrive)
{
    struct adsm_accel *accel = accel_up();
    round_trips(accel, host_buffer(8 * MIB), host_buffer(8 * MIB));
}
END_TEST

START_TEST(odd_sizes_from_pinned_memory_arrive)
{
    struct adsm_accel *accel = accel_up();
    uint8_t *up = host_buffer(8 * MIB), *down = host_buffer(8 * MIB);
    adsm_pin(accel, up, 8 * MIB);
    adsm_pin(accel, down, 8 * MIB);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 16 * MIB);
    round_trips(accel, up, down);
}
END_TEST

START_TEST(transfers_across_pinned_borders_arrive)
{
    struct adsm_accel *accel = accel_up();
    uint8_t *up = host_buffer(8 * MIB), *down = host_buffer(8 * MIB);
    for (size_t i = 0; i < 8 * MIB; i += 3 * 65536) {
        adsm_pin(accel, up + i, 65536);
        adsm_pin(accel, down + i + 4096, 4096);
    }
    round_trips(accel, up, down);
}
END_TEST

START_TEST(empty_transfers_do_nothing)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, 64);
    struct adsm_fence done = {accel, 9, 9};
    uint8_t byte = 5;
    must(adsm_dma_upload(accel, span.device, &byte, 0, nothing, &done,
                         ADSM_CAUSE(trial)));
    ck_assert_uint_eq(done.seq, 0);
    must(adsm_dma_download(accel, &byte, span.device, 0, nothing,
                           ADSM_CAUSE(trial)));
    must(adsm_dma_set(accel, span.device, 1, 0, nothing, &done,
                      ADSM_CAUSE(trial)));
    ck_assert_int_eq(byte, 5);
}
END_TEST

START_TEST(device_set_and_copy_keep_odd_borders)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, MIB);
    struct adsm_fence done;
    uint8_t *host = host_buffer(MIB);
    must(adsm_dma_set(accel, span.device, 0x11, MIB, nothing, &done,
                      ADSM_CAUSE(trial)));
    must(adsm_dma_set(accel, adsm_daddr_add(span.device, 1001), 0x22, 70001,
                      nothing, &done, ADSM_CAUSE(trial)));
    must(copy(accel, adsm_daddr_add(span.device, 500003),
              adsm_daddr_add(span.device, 999), 70005));
    must(adsm_dma_download(accel, host, span.device, MIB, nothing,
                           ADSM_CAUSE(trial)));
    for (size_t i = 0; i < MIB; i++) {
        bool in = (i >= 1001 && i < 71002) || (i >= 500005 && i < 570006);
        ck_assert_msg(host[i] == (in ? 0x22 : 0x11), "byte %zu is %#x", i,
                      host[i]);
    }
}
END_TEST

START_TEST(counters_say_what_was_moved)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, MIB);
    struct adsm_fence done;
    uint8_t *host = host_buffer(MIB);
    uint64_t spent_ns = adsm_dma_spent_ns();
    adsm_stats_reset();
    must(adsm_dma_upload(accel, span.device, host, 1000, nothing, &done,
                         ADSM_CAUSE(trial)));
    must(adsm_dma_set(accel, span.device, 0, 300, nothing, &done,
                      ADSM_CAUSE(trial)));
    must(copy(accel, adsm_daddr_add(span.device, 5000), span.device, 20));
    must(adsm_dma_download(accel, host, span.device, 4000, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up), 1000);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_device), 320);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_local), 20);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down), 4000);
    ck_assert_uint_gt(adsm_stats_get(ADSM_STAT_ns_down), 0);
    ck_assert_uint_eq(adsm_dma_spent_ns() - spent_ns,
                      adsm_stats_get(ADSM_STAT_ns_up) +
                          adsm_stats_get(ADSM_STAT_ns_down));
}
END_TEST

/* ---- order between transfers ----------------------------------------------- */

struct fetch {
    struct adsm_accel *accel;
    struct adsm_daddr from;
    uint8_t to[64];
    atomic_bool done;
    int status;
    pthread_t thread;
};

static void *fetch_body(void *arg)
{
    struct fetch *f = arg;
    f->status = adsm_dma_download(f->accel, f->to, f->from, sizeof f->to,
                                  nothing, ADSM_CAUSE(trial));
    f->done = true;
    return NULL;
}

START_TEST(download_waits_for_an_upload_of_the_same_bytes_only)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, MIB);
    struct adsm_fence done;
    struct gate gate;
    struct fetch same = {.accel = accel,
                         .from = adsm_daddr_add(span.device, 1023)};
    struct fetch other = {.accel = accel,
                          .from = adsm_daddr_add(span.device, 1024)};
    must(adsm_dma_set(accel, span.device, 1, MIB, nothing, &done,
                      ADSM_CAUSE(trial)));
    must(adsm_dma_drain(accel));
    gate_put(accel, accel->lanes->lane[ADSM_LANE_UPLOAD].stream, &gate);
    must(adsm_dma_set(accel, span.device, 2, 1024, nothing, &done,
                      ADSM_CAUSE(trial)));
    fetch_body(&other);
    ck_assert_int_eq(other.status, ADSM_OK);
    ck_assert_int_eq(other.to[0], 1);
    pthread_create(&same.thread, NULL, fetch_body, &same);
    nap_ms(20);
    ck_assert(!same.done);
    gate.open = true;
    pthread_join(same.thread, NULL);
    ck_assert_int_eq(same.status, ADSM_OK);
    ck_assert_int_eq(same.to[0], 2);
    ck_assert_int_eq(same.to[1], 1);
}
END_TEST

START_TEST(download_waits_for_an_upload_long_ago)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, MIB);
    struct adsm_fence done;
    struct gate gate;
    struct fetch old = {.accel = accel, .from = span.device};
    gate_put(accel, accel->lanes->lane[ADSM_LANE_UPLOAD].stream, &gate);
    must(adsm_dma_set(accel, span.device, 9, 64, nothing, &done,
                      ADSM_CAUSE(trial)));
    for (uint64_t i = 1; i < 3 * ADSM_DMA_WRITES; i++)
        must(adsm_dma_set(accel, adsm_daddr_add(span.device, 1024 * i), 3, 64,
                          nothing, &done, ADSM_CAUSE(trial)));
    pthread_create(&old.thread, NULL, fetch_body, &old);
    nap_ms(20);
    ck_assert(!old.done);
    gate.open = true;
    pthread_join(old.thread, NULL);
    ck_assert_int_eq(old.to[0], 9);
}
END_TEST

/* ns of both ways at a time. */
static uint64_t both_ways(struct adsm_accel *accel, struct adsm_span up,
                          const uint8_t *from, struct adsm_span down,
                          uint8_t *to, size_t bytes)
{
    struct adsm_fence done;
    uint64_t start = adsm_now_ns();
    must(adsm_dma_upload(accel, up.device, from, bytes, nothing, &done,
                         ADSM_CAUSE(trial)));
    ck_assert(!adsm_fence_done(done));
    must(adsm_dma_download(accel, to, down.device, bytes, nothing,
                           ADSM_CAUSE(trial)));
    must(adsm_dma_drain(accel));
    return adsm_now_ns() - start;
}

/* One after the other they never take less than twice as long; on a busy machine
 * they may, beside each other. */
START_TEST(pinned_uploads_return_at_once_and_overlap_downloads)
{
    enum { BYTES = 8 * MIB, TIMES = 10 };
    setenv("SOFTCUDA_LINK", "50MB/s", 1);
    struct adsm_accel *accel = accel_up();
    struct adsm_span up = span_of(accel, BYTES), down = span_of(accel, BYTES);
    uint8_t *from = host_buffer(BYTES), *to = host_buffer(BYTES);
    struct adsm_fence done;
    fill(from, BYTES, 3);
    adsm_pin(accel, from, BYTES);
    adsm_pin(accel, to, BYTES);
    must(adsm_dma_set(accel, down.device, 4, BYTES, nothing, &done,
                      ADSM_CAUSE(trial)));
    must(adsm_dma_drain(accel));
    uint64_t one_way = BYTES * UINT64_C(1000) / 50; /* ns at 50 MB/s */
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TIMES && least >= one_way * 17 / 10; i++) {
        uint64_t all = both_ways(accel, up, from, down, to, BYTES);
        least = all < least ? all : least;
    }
    ck_assert_msg(least < one_way * 17 / 10, "both ways took %lu, one %lu ms",
                  (unsigned long)least / 1000000,
                  (unsigned long)one_way / 1000000);
    must(adsm_dma_download(accel, to, up.device, BYTES, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_uint_eq(first_wrong(to, BYTES, 3), BYTES);
}
END_TEST

/* ---- pinning --------------------------------------------------------------- */

static uint8_t *tract_buffer(size_t bytes)
{
    void *at = NULL;
    ck_assert_int_eq(posix_memalign(&at, 2 * MIB, bytes), 0);
    return at;
}

START_TEST(overlapping_and_adjacent_pins_join_without_gaps)
{
    struct adsm_accel *accel = accel_up();
    uint8_t *at = tract_buffer(4 * MIB);
    adsm_pin(accel, at + 65536, 65536);
    adsm_pin(accel, at + 131072, 4096);  /* adjacent */
    adsm_pin(accel, at, 2 * MIB + 4096); /* around both, into the next */
    adsm_pin(accel, at, 2 * MIB);        /* there already */
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 2 * MIB + 4096);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at, 4 * MIB), 65536);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at + 65537, 4 * MIB), 65535);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at + 131072, 4 * MIB), 4096);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at + 2 * MIB + 4096, MIB), MIB);
    adsm_unpin(accel, at, 4 * MIB);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 0);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at, 4 * MIB), 4 * MIB);
}
END_TEST

START_TEST(plain_piece_ends_where_pinned_memory_begins)
{
    struct adsm_accel *accel = accel_up();
    uint8_t *at = tract_buffer(8 * MIB);
    adsm_pin(accel, at + 6 * MIB + 4096, 4096);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at + 5, 8 * MIB - 5),
                      6 * MIB + 4096 - 5);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at + 5, 100), 100);
    adsm_pin(accel, at + 2 * MIB, 2 * MIB);
    ck_assert_uint_eq(adsm_pinned_piece(accel, at, 8 * MIB), 2 * MIB);
}
END_TEST

START_TEST(unaligned_pin_covers_its_pages)
{
    struct adsm_accel *accel = accel_up();
    uint8_t *at = tract_buffer(2 * MIB);
    adsm_pin(accel, at + 4095, 2);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 8192);
    adsm_unpin(accel, at + 4095, 2);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 0);
}
END_TEST

START_TEST(partial_unpin_gives_up_the_whole_registration)
{
    struct adsm_accel *accel = accel_up();
    uint8_t *at = tract_buffer(4 * MIB);
    struct adsm_span span = span_of(accel, 4 * MIB);
    struct adsm_fence done;
    adsm_pin(accel, at, 4 * MIB);
    must(adsm_dma_upload(accel, span.device, at, 4 * MIB, nothing, &done,
                         ADSM_CAUSE(trial)));
    adsm_unpin(accel, at + 8192, 4096);
    ck_assert(adsm_fence_done(done)); /* its other part was in use */
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 2 * MIB);
    adsm_pin(accel, at, 4 * MIB);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 4 * MIB);
}
END_TEST

START_TEST(refused_pin_leaves_transfers_working)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span = span_of(accel, 2 * MIB);
    /* Device addresses cannot be registered as host memory. */
    adsm_pin(accel, span.host, 2 * MIB);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 0);
    ck_assert_int_eq(adsm_accel_health(accel), ADSM_OK);
    must(adsm_address_free(accel, &span));
    round_trips(accel, host_buffer(8 * MIB), host_buffer(8 * MIB));
}
END_TEST

START_TEST(small_lock_limit_is_no_error)
{
    struct rlimit limit = {64 << 10, 64 << 10};
    ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    struct adsm_accel *accel = accel_up();
    uint8_t *up = host_buffer(8 * MIB), *down = host_buffer(8 * MIB);
    for (size_t i = 0; i < 8 * MIB; i += MIB) {
        adsm_pin(accel, up + i, MIB);
        adsm_pin(accel, down + i, MIB);
    }
    round_trips(accel, up, down);
    adsm_unpin(accel, up, 8 * MIB);
    adsm_unpin(accel, down, 8 * MIB);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 0);
}
END_TEST

/* ---- threads ---------------------------------------------------------------- */

struct mover {
    struct adsm_accel *accel;
    struct adsm_span span;
    uint32_t seed;
    pthread_t thread;
};

static void *mover_body(void *arg)
{
    struct mover *m = arg;
    uint8_t *up = host_buffer(MIB), *down = host_buffer(MIB);
    struct adsm_fence done;
    for (uint32_t i = 0; i < 60; i++) {
        size_t bytes = 1 + (m->seed * 7919 + i * 104729) % MIB;
        if (i % 3 == 0)
            adsm_pin(m->accel, up, MIB);
        fill(up, bytes, m->seed + i);
        must(adsm_dma_upload(m->accel, m->span.device, up, bytes, nothing,
                             &done, ADSM_CAUSE(trial)));
        must(adsm_dma_download(m->accel, down, m->span.device, bytes, nothing,
                               ADSM_CAUSE(trial)));
        ck_assert_uint_eq(first_wrong(down, bytes, m->seed + i), bytes);
        if (i % 3 == 1)
            adsm_unpin(m->accel, up, MIB);
    }
    adsm_unpin(m->accel, up, MIB);
    free(up);
    free(down);
    return NULL;
}

START_TEST(threads_move_their_own_bytes)
{
    struct adsm_accel *accel = accel_up();
    struct mover mover[4];
    for (uint32_t i = 0; i < 4; i++) {
        mover[i] = (struct mover){accel, span_of(accel, MIB), i * 1000, 0};
        pthread_create(&mover[i].thread, NULL, mover_body, &mover[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(mover[i].thread, NULL);
    ck_assert_uint_eq(adsm_pinned_bytes(accel), 0);
    ck_assert(adsm_lanes_are_valid(accel));
}
END_TEST

SUITE_MAIN("accel/dma", 60, odd_sizes_from_plain_memory_arrive,
           odd_sizes_from_pinned_memory_arrive,
           transfers_across_pinned_borders_arrive, empty_transfers_do_nothing,
           device_set_and_copy_keep_odd_borders, counters_say_what_was_moved,
           download_waits_for_an_upload_of_the_same_bytes_only,
           download_waits_for_an_upload_long_ago,
           pinned_uploads_return_at_once_and_overlap_downloads,
           overlapping_and_adjacent_pins_join_without_gaps,
           plain_piece_ends_where_pinned_memory_begins,
           unaligned_pin_covers_its_pages,
           partial_unpin_gives_up_the_whole_registration,
           refused_pin_leaves_transfers_working, small_lock_limit_is_no_error,
           threads_move_their_own_bytes)

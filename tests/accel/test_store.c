/*
 * Memory for copies: used again behind its fences, given back to a driver that
 * has none left.
 */
#include "devices.h"

#include "accel/move.h"
#include "accel/store.h"
#include "base/stats.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

static struct adsm_store_range *range_of(struct adsm_accel *accel, size_t bytes)
{
    struct adsm_store_range *range = NULL;
    must(adsm_store_alloc(accel, bytes, &range));
    ck_assert_uint_ge(range->bytes, bytes);
    return range;
}

static void give_back(struct adsm_accel *accel, struct adsm_store_range *range)
{
    adsm_store_free(accel, range, NULL, 0);
}

START_TEST(memory_given_back_is_used_again)
{
    struct adsm_accel *accel = accel_up();
    adsm_stats_reset();
    struct adsm_store_range *large = range_of(accel, 4 * MIB);
    struct adsm_store_range *small = range_of(accel, 60 * KIB);
    struct adsm_store_range *middle = range_of(accel, MIB);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_store_allocs), 3);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_store_bytes),
                      5 * MIB + 60 * KIB);
    give_back(accel, large);
    give_back(accel, small);
    give_back(accel, middle);
    ck_assert_uint_eq(adsm_store_kept(accel), 5 * MIB + 60 * KIB);
    ck_assert_ptr_eq(range_of(accel, MIB - 64 * KIB), middle);
    ck_assert_ptr_eq(range_of(accel, 1), small);
    ck_assert_ptr_ne(range_of(accel, 2 * MIB), large); /* half of it wasted */
    ck_assert_ptr_eq(range_of(accel, 4 * MIB - 1), large);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_store_allocs), 4);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_store_reuses), 3);
    ck_assert(adsm_store_is_valid(accel));
}
END_TEST

/* Any size, and what is next to a power of two. */
START_TEST(a_sixteenth_is_wasted_at_most)
{
    uint64_t seed = 1;
    ck_assert_uint_eq(adsm_store_round(0), 512);
    for (int i = 0; i < 50000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t bytes = (seed >> 20) >> (seed >> 58);
        if (i < 180)
            bytes = ((size_t)1 << i / 3 % 50) + (size_t)(i % 3) - 1;
        size_t got = adsm_store_round(bytes);
        ck_assert_uint_ge(got, bytes);
        ck_assert_uint_eq(got % 512, 0);
        bytes += bytes == 0;
        ck_assert_uint_le(got - bytes, bytes / 16 > 511 ? bytes / 16 : 511);
        ck_assert_uint_lt(got - bytes, 64 * KIB);
        ck_assert_uint_eq(adsm_store_round(got), got);
        ck_assert_uint_le(adsm_store_round(bytes / 2), got);
    }
}
END_TEST

enum { STEPS = 200 };

/* Calls whose arrays grow, or shrink, by a little from one to the next. */
START_TEST(sizes_that_change_slowly_are_served_from_what_is_kept)
{
    struct adsm_accel *accel = accel_up();
    for (size_t most = 128 * KIB; most <= 4 * MIB; most *= 2)
        for (int grows = 0; grows < 2; grows++) {
            (void)adsm_store_trim(accel, SIZE_MAX);
            adsm_stats_reset();
            for (size_t i = 0; i <= STEPS; i++) {
                size_t k = grows ? i : STEPS - i;
                give_back(accel,
                          range_of(accel, most / 2 / STEPS * (k + STEPS)));
            }
            /* 16 steps to twice the size, or as many as there are 64 KiB. */
            ck_assert_uint_le(adsm_stats_get(ADSM_STAT_store_allocs),
                              most > 2 * MIB ? most / 2 / (64 * KIB) + 1 : 17);
        }
}
END_TEST

static struct adsm_place place_of(struct adsm_accel *accel,
                                  const struct adsm_store_range *range)
{
    return (struct adsm_place){.accel = accel, .device = range->at};
}

/* Device 1 still reads what device 0 gives back, and somebody else writes. */
START_TEST(a_new_owner_waits_for_who_still_reads)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    struct adsm_store_range *range = range_of(accel[0], 64 * KIB);
    struct adsm_store_range *there = range_of(accel[1], 64 * KIB);
    struct adsm_place from = place_of(accel[0], range);
    struct adsm_place to = place_of(accel[1], there);
    struct adsm_extent all = adsm_extent_of(64 * KIB);
    struct adsm_fence set, held, read, written, got;
    adsm_stream stream = adsm_accel_launch_stream(accel[1]);
    struct adsm_place host = {.host = host_buffer(64 * KIB)};
    struct gate gate;
    adsm_pin(accel[0], host.host, 64 * KIB);
    must(adsm_dma_set(accel[0], range->at, 1, 64 * KIB, nothing, &set,
                      ADSM_CAUSE(trial)));
    gate_put(accel[1], stream, &gate);
    must(adsm_fence_record(accel[1], stream, &held));
    must(adsm_move(&to, &from, all, &held, 1, false, &read, ADSM_CAUSE(trial)));
    adsm_store_free(accel[0], range, &read, 1);
    struct adsm_store_range *next = range_of(accel[0], 64 * KIB);
    ck_assert_ptr_eq(next, range);
    ck_assert_uint_eq(next->count, 1);
    memset(host.host, 2, 64 * KIB);
    must(adsm_move(&from, &host, all, next->after, next->count, false, &written,
                   ADSM_CAUSE(trial)));
    nap_ms(20);
    ck_assert(!adsm_fence_done(written));
    gate.open = true;
    must(adsm_fence_wait(written));
    ck_assert(adsm_fence_done(read));
    must(adsm_move(&host, &to, all, &read, 1, false, &got, ADSM_CAUSE(trial)));
    must(adsm_fence_wait(got));
    ck_assert_int_eq(((uint8_t *)host.host)[64 * KIB - 1], 1);
}
END_TEST

START_TEST(fences_that_are_reached_are_nobody_s_concern)
{
    struct adsm_accel *accel = accel_up();
    adsm_stream stream = adsm_accel_launch_stream(accel);
    struct adsm_store_range *range = range_of(accel, 1);
    struct adsm_fence fence[40];
    struct gate gate;
    for (int i = 0; i < 20; i++)
        must(adsm_fence_record(accel, stream, &fence[i]));
    must(adsm_fence_wait(fence[19]));
    gate_put(accel, stream, &gate);
    for (int i = 20; i < 40; i++)
        must(adsm_fence_record(accel, stream, &fence[i]));
    adsm_store_free(accel, range, fence, 40);
    ck_assert_ptr_eq(range_of(accel, 1), range);
    ck_assert_uint_eq(range->count, 20);
    adsm_store_free(accel, range, fence, 0);
    gate.open = true;
    must(adsm_fence_wait(fence[39]));
    ck_assert_ptr_eq(range_of(accel, 1), range);
    ck_assert_uint_eq(range->count, 0);
}
END_TEST

/* ---- no memory left ----------------------------------------------------------- */

static struct adsm_accel *small_device(void)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    return accel_up();
}

START_TEST(what_is_kept_goes_where_the_driver_has_none_left)
{
    struct adsm_accel *accel = small_device();
    struct adsm_store_range *piece[3], *none;
    size_t before, after, total;
    must(adsm_accel_memory(accel, &before, &total));
    for (int i = 0; i < 3; i++)
        piece[i] = range_of(accel, 4 * MIB);
    for (int i = 0; i < 3; i++)
        give_back(accel, piece[i]);
    struct adsm_store_range *large = range_of(accel, 12 * MIB);
    ck_assert_uint_lt(adsm_store_kept(accel), 12 * MIB);
    ck_assert_int_eq(adsm_store_alloc(accel, 12 * MIB, &none),
                     ADSM_E_DEVICE_NOMEM);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(adsm_store_alloc(accel, SIZE_MAX, &none),
                     ADSM_E_DEVICE_NOMEM);
    give_back(accel, large);
    /* Too large for what is wanted: the next one would miss the rest. */
    give_back(accel, range_of(accel, 8 * MIB));
    ck_assert_uint_eq(adsm_store_kept(accel), 8 * MIB);
    ck_assert_uint_eq(adsm_store_trim(accel, 1), 8 * MIB);
    ck_assert_uint_eq(adsm_store_kept(accel), 0);
    must(adsm_accel_memory(accel, &after, &total));
    ck_assert_uint_eq(after, before);
    must(adsm_accel_health(accel));
}
END_TEST

/* Giving it back waits for the device, and gains too little. */
START_TEST(what_is_too_little_to_help_stays)
{
    struct adsm_accel *accel = small_device();
    struct adsm_store_range *little = range_of(accel, 64 * KIB), *none;
    struct adsm_store_range *large = range_of(accel, 8 * MIB);
    give_back(accel, little);
    ck_assert_int_eq(adsm_store_alloc(accel, 8 * MIB, &none),
                     ADSM_E_DEVICE_NOMEM);
    ck_assert_uint_eq(adsm_store_kept(accel), 64 * KIB);
    give_back(accel, large);
    ck_assert_ptr_eq(range_of(accel, 8 * MIB), large);
    ck_assert_ptr_eq(range_of(accel, 64 * KIB), little);
}
END_TEST

START_TEST(an_object_gets_what_is_kept)
{
    struct adsm_accel *accel = small_device();
    struct adsm_span span;
    struct adsm_store_range *range = range_of(accel, 10 * MIB);
    int status = adsm_address_alloc(accel, 8 * MIB, false, &span);
    ck_assert_int_eq(status, ADSM_E_DEVICE_NOMEM);
    give_back(accel, range);
    must(adsm_address_alloc(accel, 8 * MIB, false, &span));
    ck_assert_uint_eq(adsm_store_kept(accel), 0);
    must(adsm_address_free(accel, &span));
}
END_TEST

static void *open_later(void *arg)
{
    nap_ms(30);
    ((struct gate *)arg)->open = true;
    return NULL;
}

START_TEST(memory_goes_back_only_when_nobody_uses_it)
{
    struct adsm_accel *accel[DEVICES];
    devices_up(accel);
    /* The driver itself waits for the device whose memory it is. */
    adsm_stream stream = new_stream(accel[1]);
    struct adsm_store_range *range = range_of(accel[0], 8 * MIB);
    struct adsm_fence fence;
    struct gate gate;
    gate_put(accel[1], stream, &gate);
    must(adsm_fence_record(accel[1], stream, &fence));
    adsm_store_free(accel[0], range, &fence, 1);
    while (!gate.reached)
        nap_ms(1);
    uint64_t start = adsm_now_ns();
    pthread_t opener;
    pthread_create(&opener, NULL, open_later, &gate);
    ck_assert_uint_eq(adsm_store_trim(accel[0], 1), 8 * MIB);
    ck_assert(adsm_fence_done(fence));
    ck_assert_uint_gt(adsm_now_ns() - start, 20000000);
    pthread_join(opener, NULL);
}
END_TEST

/* Another context of the device sees what it has. */
START_TEST(a_forgotten_accel_s_memory_is_given_back)
{
    struct adsm_accel *accel = accel_up(), *other;
    size_t before, after, total;
    enter(accel); /* a program's hold on the context outlives ours */
    must(adsm_accel_memory(accel, &before, &total));
    (void)new_context();
    must(adsm_accel_of_current(&other));
    ck_assert_ptr_ne(accel, other);
    must(adsm_accel_memory(other, &before, &total));
    struct adsm_store_range *used = range_of(other, 4 * MIB);
    give_back(other, range_of(other, 4 * MIB));
    adsm_accel_forget(other);
    must(adsm_accel_memory(accel, &after, &total));
    ck_assert_uint_ge(after, before);
    give_back(other, used);
    ck_assert_uint_eq(adsm_store_kept(other), 0);
}
END_TEST

/* ---- threads ------------------------------------------------------------------ */

enum { WORKERS = 4, MOST = 6 };

struct worker {
    struct adsm_accel *accel;
    uint32_t seed;
    size_t got;
    pthread_t thread;
};

/* Fill what one gets, behind its fences, and find it so at the end. */
static void *worker_body(void *arg)
{
    struct worker *w = arg;
    struct adsm_accel *accel = w->accel;
    struct adsm_store_range *range[MOST] = {0};
    struct adsm_fence done[MOST] = {0}, join;
    adsm_stream stream = new_stream(accel);
    uint8_t *got = host_buffer(4096);
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t k = i % MOST;
        uint8_t value = (uint8_t)(w->seed + i);
        w->seed = w->seed * 1664525 + 1013904223;
        size_t bytes = 4096 + (w->seed >> 8) % (2 * MIB);
        if (range[k])
            adsm_store_free(accel, range[k], &done[k], 1);
        range[k] = NULL;
        if (adsm_store_alloc(accel, bytes, &range[k]) != ADSM_OK)
            continue;
        for (size_t f = 0; f < range[k]->count; f++)
            must(adsm_fence_order(accel, stream, range[k]->after[f]));
        must(adsm_fence_record(accel, stream, &join));
        must(adsm_dma_set(accel, range[k]->at, value, 4096, join, &done[k],
                          ADSM_CAUSE(trial)));
        must(adsm_dma_download(accel, got, range[k]->at, 4096, nothing,
                               ADSM_CAUSE(trial)));
        for (int b = 0; b < 4096; b++)
            ck_assert_int_eq(got[b], value);
        w->got++;
    }
    for (int k = 0; k < MOST; k++)
        if (range[k])
            adsm_store_free(accel, range[k], &done[k], 1);
    free(got);
    return NULL;
}

START_TEST(threads_share_a_small_device)
{
    struct adsm_accel *accel = small_device();
    struct worker worker[WORKERS];
    size_t got = 0;
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker[i] = (struct worker){.accel = accel, .seed = i + 1};
        pthread_create(&worker[i].thread, NULL, worker_body, &worker[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(worker[i].thread, NULL);
        got += worker[i].got;
    }
    ck_assert_uint_gt(got, 300);
    ck_assert(adsm_store_is_valid(accel));
    (void)adsm_store_trim(accel, SIZE_MAX);
    ck_assert_uint_eq(adsm_store_kept(accel), 0);
}
END_TEST

SUITE_MAIN("accel/store", 60, memory_given_back_is_used_again,
           a_sixteenth_is_wasted_at_most,
           sizes_that_change_slowly_are_served_from_what_is_kept,
           a_new_owner_waits_for_who_still_reads,
           fences_that_are_reached_are_nobody_s_concern,
           what_is_kept_goes_where_the_driver_has_none_left,
           what_is_too_little_to_help_stays, an_object_gets_what_is_kept,
           memory_goes_back_only_when_nobody_uses_it,
           a_forgotten_accel_s_memory_is_given_back,
           threads_share_a_small_device)

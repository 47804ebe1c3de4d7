/*
 * Spans whose memory comes and goes: what they take, what is kept, what holds
 * of a device that is full, and where there are none.
 */
#include "fixture.h"

#include <stdlib.h>

enum { MIB = 1 << 20, DEVICE = 16 * MIB, SPAN = 10 * MIB - 5000 };

static struct adsm_accel *small_device(const char *address)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    setenv("ADSM_ADDRESS", address, 1);
    return accel_up();
}

static size_t free_bytes(struct adsm_accel *accel)
{
    size_t left, total;
    must(adsm_accel_memory(accel, &left, &total));
    return left;
}

static void put(struct adsm_accel *accel, const struct adsm_span *span,
                unsigned seed)
{
    struct adsm_fence done;
    uint8_t *buffer = host_buffer(span->bytes);
    fill(buffer, span->bytes, seed);
    must(adsm_dma_upload(accel, span->device, buffer, span->bytes, nothing,
                         &done, ADSM_CAUSE(trial)));
    must(adsm_fence_wait(done));
    free(buffer);
}

static void check(struct adsm_accel *accel, const struct adsm_span *span,
                  unsigned seed)
{
    uint8_t *buffer = host_buffer(span->bytes);
    must(adsm_dma_download(accel, buffer, span->device, span->bytes, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert_uint_eq(first_wrong(buffer, span->bytes, seed), span->bytes);
    free(buffer);
}

START_TEST(two_spans_take_turns_on_a_full_device)
{
    struct adsm_accel *accel = small_device("window");
    struct adsm_span one, two;
    must(adsm_address_alloc_movable(accel, SPAN, &one));
    must(adsm_address_alloc_movable(accel, SPAN, &two));
    ck_assert(one.away && two.away);
    ck_assert_uint_eq(free_bytes(accel), DEVICE);
    ck_assert_uint_eq(adsm_address_taken(accel, &one), 10 * MIB);
    uint64_t at = one.device.at;
    for (unsigned round = 0; round < 3; round++) {
        must(adsm_address_occupy(accel, &one));
        must(adsm_address_occupy(accel, &one));
        ck_assert(!one.away && one.device.at == at);
        put(accel, &one, round);
        /* What it got so far is kept for who comes next. */
        ck_assert_int_eq(adsm_address_occupy(accel, &two), ADSM_E_DEVICE_NOMEM);
        ck_assert(two.away);
        ck_assert_uint_eq(adsm_address_kept(accel), 6 * MIB);
        check(accel, &one, round);
        must(adsm_address_vacate(accel, &one));
        ck_assert_uint_eq(adsm_address_kept(accel), DEVICE);
        ck_assert_uint_eq(free_bytes(accel), 0);
        must(adsm_address_occupy(accel, &two));
        put(accel, &two, round + 7);
        check(accel, &two, round + 7);
        must(adsm_address_vacate(accel, &two));
        adsm_address_trim(accel);
        ck_assert_uint_eq(adsm_address_kept(accel), 0);
        ck_assert_uint_eq(free_bytes(accel), DEVICE);
    }
    must(adsm_address_occupy(accel, &one));
    must(adsm_address_free(accel, &one)); /* there, and away */
    must(adsm_address_free(accel, &two));
    ck_assert_uint_eq(free_bytes(accel), DEVICE);
}
END_TEST

START_TEST(addresses_are_kept_from_others)
{
    struct adsm_accel *accel = small_device("window");
    struct adsm_span away, other[4];
    must(adsm_address_alloc_movable(accel, SPAN, &away));
    for (int i = 0; i < 4; i++) {
        must(adsm_address_alloc(accel, 3 * MIB, false, &other[i]));
        ck_assert(other[i].device.at >= away.device.at + 10 * MIB ||
                  other[i].device.at + 3 * MIB <= away.device.at);
    }
    for (int i = 0; i < 4; i++)
        must(adsm_address_free(accel, &other[i]));
    must(adsm_address_occupy(accel, &away));
    must(adsm_address_free(accel, &away));
}
END_TEST

START_TEST(only_a_window_has_them)
{
    struct adsm_accel *accel = small_device("overlay");
    struct adsm_span span;
    ck_assert_int_eq(adsm_address_alloc_movable(accel, SPAN, &span),
                     ADSM_E_UNSUPPORTED);
}
END_TEST

START_TEST(none_is_larger_than_the_device)
{
    struct adsm_accel *accel = small_device("window");
    struct adsm_span span;
    ck_assert_int_eq(adsm_address_alloc_movable(accel, DEVICE + 1, &span),
                     ADSM_E_DEVICE_NOMEM);
    must(adsm_address_alloc_movable(accel, DEVICE, &span));
    must(adsm_address_occupy(accel, &span));
    must(adsm_address_free(accel, &span));
}
END_TEST

SUITE_MAIN("accel-movable", 60, two_spans_take_turns_on_a_full_device,
           addresses_are_kept_from_others, only_a_window_has_them,
           none_is_larger_than_the_device)

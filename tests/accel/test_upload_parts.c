/*
 * Parts of a range uploaded as one: what arrives, what stays, and what may
 * change meanwhile.
 */
#include "fixture.h"

#include "base/stats.h"

enum { BYTES = 4 << 20, PARTS = 300 };

static struct adsm_dma_part parts[PARTS];

/* Of odd sizes at odd places, one larger than any buffer. Return: bytes. */
static size_t choose_parts(void)
{
    size_t at = 0, sum = 0;
    for (size_t i = 0; i < PARTS; i++) {
        size_t bytes = i == 7 ? 700001 : 1 + 7919 * i % 9001;
        parts[i] = (struct adsm_dma_part){at + i % 5, bytes};
        at = parts[i].offset + bytes + i % 3;
        sum += bytes;
    }
    ck_assert_uint_lt(at, BYTES);
    return sum;
}

/* What the device should have after parts of `from` were sent over `before`. */
static void expect(uint8_t *want, const uint8_t *from, uint8_t before)
{
    memset(want, before, BYTES);
    for (size_t i = 0; i < PARTS; i++)
        memcpy(want + parts[i].offset, from + parts[i].offset, parts[i].bytes);
}

static void check_parts(bool changes)
{
    struct adsm_accel *accel = accel_up();
    struct adsm_span span;
    struct adsm_fence done;
    uint8_t *from = host_buffer(BYTES), *want = host_buffer(BYTES);
    uint8_t *got = host_buffer(BYTES);
    size_t sum = choose_parts();
    must(adsm_address_alloc(accel, BYTES, false, &span));
    fill(from, BYTES, 5);
    adsm_pin(accel, from, BYTES);
    must(adsm_dma_set(accel, span.device, 0x77, BYTES, nothing, &done,
                      ADSM_CAUSE(trial)));
    must(adsm_dma_drain(accel));
    expect(want, from, 0x77);
    uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
    must(adsm_dma_upload_parts(accel, span.device, from, parts, PARTS, changes,
                               nothing, &done, ADSM_CAUSE(trial)));
    if (changes)
        memset(from, 0, BYTES);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up) - before, sum);
    must(adsm_dma_download(accel, got, span.device, BYTES, nothing,
                           ADSM_CAUSE(trial)));
    ck_assert(adsm_fence_done(done));
    ck_assert_mem_eq(got, want, BYTES);
    must(adsm_dma_upload_parts(accel, span.device, from, parts, 0, changes,
                               nothing, &done, ADSM_CAUSE(trial)));
    ck_assert_uint_eq(done.seq, 0);
    must(adsm_address_free(accel, &span));
}

START_TEST(parts_arrive_and_nothing_between_them)
{
    check_parts(false);
}
END_TEST

START_TEST(parts_may_change_when_they_were_copied)
{
    setenv("SOFTCUDA_LINK", "50MB/s", 1);
    check_parts(true);
}
END_TEST

SUITE_MAIN("upload_parts", 60, parts_arrive_and_nothing_between_them,
           parts_may_change_when_they_were_copied)

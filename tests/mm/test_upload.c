/*
 * Blocks on their way to the device: what is stored meanwhile must not travel
 * with them, for device work enqueued behind the upload relies on what was
 * there. Wants ADSM_PROTOCOL=rolling, ADSM_ROLLING_SIZE=2, ADSM_BLOCK_SIZE=64K
 * and a link on which a block takes long.
 */
#include "accel/lane.h"
#include "fixture.h"
#include "mm/doors/boundary.h"
#include "mm/doors/bulk.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"

#include <string.h>

enum { BLOCK = 64 << 10, BLOCKS = 5, BYTES = BLOCKS * BLOCK };

/* The end of the first block: it is sent last. */
enum { LATE = BLOCK - 200 };

static struct adsm_object *object_of(const uint8_t *p)
{
    return adsm_index_find(p);
}

/* Fill the first three blocks, which sends the first on its way. */
static uint8_t *make_written_back(uint8_t value)
{
    uint8_t *p = adsmAlloc(BYTES);
    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < 3; i++)
        memset(p + (size_t)i * BLOCK, value, BLOCK);
    ck_assert_int_eq(adsm_block_state(object_of(p), 0), ADSM_READ_ONLY);
    return p;
}

/* A byte as the device has it once the uploads so far are through. */
static uint8_t on_device(const uint8_t *p)
{
    struct adsm_object *object = object_of(p);
    uint8_t byte = 0;
    must(adsm_dma_drain(object->home));
    must(adsm_dma_download(
        object->home, &byte,
        adsm_daddr_add(object->device, (uint64_t)(p - object->host)), 1,
        object->work, ADSM_CAUSE(trial)));
    return byte;
}

static bool is_on_its_way(const uint8_t *p)
{
    struct adsm_object *object = object_of(p);
    uint32_t i = adsm_block_of(object, (size_t)(p - object->host));
    struct adsm_fence sent = {object->home, ADSM_LANE_UPLOAD, object->sent[i]};
    return object->sent[i] > 0 && !adsm_fence_done(sent);
}

/* 2 has come over the 1 that was on its way: each side has its own. */
static void check_not_sent(const uint8_t *p)
{
    ck_assert_uint_eq(on_device(p + LATE), 1);
    ck_assert_uint_eq(p[LATE], 2);
}

START_TEST(store_into_a_block_on_its_way_is_not_sent_with_it)
{
    (void)fixture_up();
    uint8_t *p = make_written_back(1);
    p[LATE] = 2;
    check_not_sent(p);
    must(adsmFree(p));
}
END_TEST

START_TEST(move_into_a_block_on_its_way_is_not_sent_with_it)
{
    (void)fixture_up();
    uint8_t *p = make_written_back(1), plain[64];
    memset(plain, 2, sizeof plain);
    must(adsm_bulk_move(p + LATE, plain, sizeof plain));
    check_not_sent(p);
    must(adsmFree(p));
}
END_TEST

START_TEST(overwriting_a_block_on_its_way_is_not_sent_with_it)
{
    (void)fixture_up();
    uint8_t *p = make_written_back(1), *plain = malloc(BLOCK);
    memset(plain, 2, BLOCK);
    must(adsm_bulk_move(p, plain, BLOCK));
    check_not_sent(p);
    free(plain);
    must(adsmFree(p));
}
END_TEST

/* What rolling-update is for: producing goes on while blocks travel. */
START_TEST(store_into_another_block_waits_for_no_upload)
{
    (void)fixture_up();
    uint8_t *p = make_written_back(1);
    p[(size_t)3 * BLOCK] = 2;
    ck_assert(is_on_its_way(p + BLOCK));
    must(adsmFree(p));
}
END_TEST

START_TEST(block_that_was_fetched_behind_its_upload_opens_at_once)
{
    struct fixture f = fixture_up();
    uint8_t *p = make_written_back(1);
    device_fill(f.fill_only, p, 100, 3);
    ck_assert_uint_eq(p[LATE], 1);
    for (int i = 1; i < 4; i++)
        p[(size_t)i * BLOCK] = 2;
    ck_assert(is_on_its_way(p + BLOCK));
    p[LATE] = 2;
    ck_assert(is_on_its_way(p + BLOCK));
    must(adsmFree(p));
}
END_TEST

/* A copy inside the device, enqueued behind the upload, relies on it. */
START_TEST(store_behind_a_device_copy_is_not_seen_by_it_under_batch)
{
    setenv("ADSM_PROTOCOL", "batch", 1);
    (void)fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    memset(p, 1, BYTES);
    must(adsm_boundary_device_read(
        p, BYTES, adsm_accel_launch_stream(object_of(p)->home)));
    p[BYTES - 200] = 2;
    ck_assert_uint_eq(on_device(p + BYTES - 200), 1);
    ck_assert_uint_eq(p[BYTES - 200], 2);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("upload", 120, store_into_a_block_on_its_way_is_not_sent_with_it,
           move_into_a_block_on_its_way_is_not_sent_with_it,
           overwriting_a_block_on_its_way_is_not_sent_with_it,
           store_into_another_block_waits_for_no_upload,
           block_that_was_fetched_behind_its_upload_opens_at_once,
           store_behind_a_device_copy_is_not_seen_by_it_under_batch)

/*
 * Blocks that stay open over calls which only read them: when, what is sent of
 * them, and what ends it. The device is idle or busy just as a case says.
 */
#include "small/fixture.h"

#include "base/stats.h"
#include "mm/doors/boundary.h"
#include "mm/object/block.h"
#include "mm/state/coherence.h"
#include "mm/watch/twin.h"

enum { BYTES = 4 * PAGE, WARM_UP = 4 };

static struct adsm_accel *accel;
static struct adsm_object *object;
static uint8_t next_value;

static void object_up(size_t bytes)
{
    accel = up("rolling", 1);
    object = new_object(accel, bytes, ADSM_READ_ONLY);
    memset(on_device(object), 0, bytes);
}

static void store(size_t at)
{
    ((volatile uint8_t *)object->host)[at] = ++next_value;
}

static int call(adsmMode mode)
{
    struct adsm_use use =
        adsm_use_of(object, object->host, object->bytes, mode);
    struct adsm_call call = {.accel = accel,
                             .stream = adsm_accel_launch_stream(accel),
                             .rest = ADSM_REST_UNUSED,
                             .uses = &use,
                             .use_count = 1};
    int rc = adsm_boundary_call(&call);
    return rc == ADSM_OK ? adsm_boundary_called(&call) : rc;
}

/* A call that reads the object and has ended, and what it sent. */
static uint64_t call_and_end(void)
{
    uint64_t before = adsm_stats_get(ADSM_STAT_bytes_up);
    must(call(ADSM_IN));
    small_run();
    ck_assert_mem_eq(on_device(object), object->host, object->bytes);
    return adsm_stats_get(ADSM_STAT_bytes_up) - before;
}

/* Block 0 is stored into before each of enough calls. */
static void warm_up(void)
{
    for (int i = 0; i < WARM_UP; i++) {
        store(PAGE / 2);
        (void)call_and_end();
    }
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
}

START_TEST(block_stays_open_after_three_calls_and_its_changes_are_sent)
{
    static const size_t at[] = {0, 1, 63, 64, 2047, 2048, PAGE - 64, PAGE - 1};
    object_up(BYTES);
    for (int i = 0; i < WARM_UP - 1; i++) {
        store(5);
        ck_assert_uint_eq(call_and_end(), PAGE);
        ck_assert_int_eq(adsm_block_state(object, 0), ADSM_READ_ONLY);
    }
    store(5);
    ck_assert_uint_eq(call_and_end(), PAGE);
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
    uint64_t faults = adsm_stats_get(ADSM_STAT_faults_write);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        store(at[i]);
        ck_assert_uint_le(call_and_end(), 64);
    }
    store(0);
    store(PAGE - 1);
    ck_assert_uint_eq(call_and_end(), PAGE);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_faults_write), faults);
    free_object(object);
}
END_TEST

START_TEST(block_that_is_not_written_is_closed_again)
{
    object_up(BYTES);
    warm_up();
    ck_assert_uint_eq(call_and_end(), 0);
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_DIRTY);
    for (int i = 0; i < WARM_UP; i++)
        (void)call_and_end();
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_READ_ONLY);
    ck_assert_ptr_null(object->twins->of[0].bytes);
    free_object(object);
}
END_TEST

/* A copy from plain memory, as a twin's, would wait for what is ahead. */
START_TEST(busy_device_closes_it)
{
    object_up(BYTES);
    warm_up();
    must(adsm_fence_record(accel, adsm_accel_launch_stream(accel),
                           &object->work));
    store(1);
    must(call(ADSM_IN));
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_READ_ONLY);
    small_run();
    free_object(object);
}
END_TEST

START_TEST(changes_that_could_not_be_sent_are_sent_with_all_of_the_block)
{
    object_up(BYTES);
    warm_up();
    store(7);
    small_fail("copy_up", 1, ADSM_E_NOMEM);
    ck_assert_int_eq(call(ADSM_IN), ADSM_E_NOMEM);
    ck_assert(small_has_failed());
    ck_assert_uint_eq(call_and_end(), PAGE);
    ck_assert_int_eq(on_device(object)[7], next_value);
    free_object(object);
}
END_TEST

/* What the kernel overwrites is on the device no more: the same value, stored
 * again, is a change. */
START_TEST(twin_means_nothing_once_a_kernel_has_written_the_object)
{
    object_up(BYTES);
    warm_up();
    uint8_t was = object->host[9];
    must(call(ADSM_INOUT));
    small_run();
    memset(on_device(object), 'k', BYTES);
    ck_assert(!adsm_block_flags(object, 0, ADSM_BLOCK_TWIN));
    ((volatile uint8_t *)object->host)[9] = was;
    ck_assert_int_eq(object->host[8], 'k');
    (void)call_and_end();
    ck_assert_int_eq(on_device(object)[9], was);
    free_object(object);
}
END_TEST

/* Memory of the device that comes later holds nothing of it. */
START_TEST(twin_means_nothing_once_the_device_memory_has_gone)
{
    object_up(BYTES);
    warm_up();
    must(adsm_coherence_take_home(object, true, ADSM_CAUSE(evict)));
    memset(on_device(object), 'k', BYTES);
    ck_assert(!adsm_block_flags(object, 0, ADSM_BLOCK_TWIN));
    store(9);
    (void)call_and_end();
    free_object(object);
}
END_TEST

START_TEST(twins_take_so_much_memory_and_give_it_back)
{
    enum { BLOCK = 64 << 10, MOST = ADSM_TWIN_BYTES_MAX / BLOCK, MORE = 3 };
    setenv("ADSM_BLOCK_SIZE", "64K", 1);
    object_up((size_t)(MOST + MORE) * BLOCK);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < WARM_UP; i++) {
            for (uint32_t b = 0; b < object->block_count; b++)
                store((size_t)b * BLOCK + 1);
            must(call(ADSM_IN));
            small_run();
        }
        uint32_t open = 0;
        for (uint32_t b = 0; b < object->block_count; b++)
            open += adsm_block_state(object, b) == ADSM_DIRTY;
        ck_assert_uint_eq(open, MOST);
        free_object(object);
        object =
            new_object(accel, (size_t)(MOST + MORE) * BLOCK, ADSM_READ_ONLY);
    }
    free_object(object);
}
END_TEST

SUITE_MAIN("twin", 10,
           block_stays_open_after_three_calls_and_its_changes_are_sent,
           block_that_is_not_written_is_closed_again, busy_device_closes_it,
           changes_that_could_not_be_sent_are_sent_with_all_of_the_block,
           twin_means_nothing_once_a_kernel_has_written_the_object,
           twin_means_nothing_once_the_device_memory_has_gone,
           twins_take_so_much_memory_and_give_it_back)

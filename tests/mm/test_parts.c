/*
 * What a call over several devices notes of blocks: the state and with it the
 * protection changes, and nothing moves.
 */
#include "base/stats.h"
#include "fixture.h"
#include "mm/heap/life.h"
#include "mm/object/index.h"
#include "mm/state/coherence.h"

#include <string.h>

enum { BYTES = 1 << 20 };

static void note(uint8_t *p, enum adsm_event event)
{
    struct adsm_object *object = adsm_index_find(p);
    /* Locked: who answers a fault elsewhere may still write back. */
    adsm_rwlock_acquire(&object->lock);
    uint64_t up = adsm_stats_get(ADSM_STAT_bytes_up);
    uint64_t down = adsm_stats_get(ADSM_STAT_bytes_down);
    must(adsm_coherence_apply_all(object, 0, object->block_count, event,
                                  ADSM_CAUSE(call)));
    ck_assert(adsm_object_is_valid(object));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_up), up);
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_bytes_down), down);
    adsm_rwlock_release(&object->lock);
}

static bool all_are(uint8_t *p, enum adsm_state state)
{
    struct adsm_object *object = adsm_index_find(p);
    return adsm_block_state(object, 0) == state &&
           adsm_block_run(object, 0, object->block_count) ==
               object->block_count;
}

/* Every block written, but for those that were written back early. */
static uint8_t *written(uint8_t value)
{
    uint8_t *p = adsmAlloc(BYTES);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < BYTES; i++)
        p[i] = value;
    return p;
}

static uint64_t write_faults(void)
{
    return adsm_stats_get(ADSM_STAT_faults_write);
}

START_TEST(what_parts_have_read_stays_readable_and_a_store_is_noticed)
{
    (void)fixture_up();
    uint8_t *p = written(3);
    note(p, ADSM_PART_READ);
    ck_assert(all_are(p, ADSM_READ_ONLY));
    uint64_t faults = write_faults();
    ck_assert_uint_eq(p[BYTES / 2], 3);
    ck_assert_uint_eq(write_faults(), faults);
    p[BYTES / 2] = 4;
    ck_assert_uint_eq(write_faults(), faults + 1);
    ck_assert_uint_eq(p[BYTES / 2 + 1], 3);
    must(adsmFree(p));
}
END_TEST

START_TEST(what_parts_write_is_the_devices_and_is_fetched_from_there)
{
    struct fixture f = fixture_up();
    uint8_t *p = written(3);
    device_fill(f.fill, p, BYTES, 5);
    must(adsmSync());
    ck_assert_uint_eq(p[7], filled(7, 5));
    note(p, ADSM_PART_READ);
    note(p, ADSM_PART_WRITE);
    ck_assert(all_are(p, ADSM_INVALID));
    note(p, ADSM_PART_READ);
    ck_assert(all_are(p, ADSM_INVALID));
    for (uint32_t i = 0; i < BYTES; i++)
        ck_assert_uint_eq(p[i], filled(i, 5));
    must(adsmFree(p));
}
END_TEST

/* One that no access has reached yet has no pages, and needs none. */
START_TEST(object_never_touched_is_noted_without_host_memory)
{
    (void)fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    note(p, ADSM_PART_READ);
    ck_assert(all_are(p, ADSM_READ_ONLY));
    note(p, ADSM_PART_WRITE);
    ck_assert(all_are(p, ADSM_INVALID));
    must_have_no_pages(p);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("parts", 60,
           what_parts_have_read_stays_readable_and_a_store_is_noticed,
           what_parts_write_is_the_devices_and_is_fetched_from_there,
           object_never_touched_is_noted_without_host_memory)

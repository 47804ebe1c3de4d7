/*
 * Slabs against a plain list of what is allocated: slots do not overlap, blocks
 * are told to be an allocation's own only where they are, and memory comes
 * back.
 */
#include "accel/accel.h"
#include "accel/device.h"
#include "fixture.h"
#include "mm/heap/heap.h"
#include "mm/heap/slab.h"
#include "mm/object/block.h"
#include "mm/object/index.h"

#include <string.h>

enum { LIVE = 600 };

struct live {
    uint8_t *at;
    size_t bytes;
};

static struct adsm_accel *accel;
static struct live live[LIVE];

static void up(void)
{
    (void)fixture_up();
    must(adsm_accel_open(0, &accel));
}

static uint8_t *allocate(size_t bytes)
{
    void *at;
    must(adsm_slab_alloc(accel, bytes, ADSM_INVALID, &adsm_kind_plain, &at));
    ck_assert_uint_eq((uintptr_t)at % 512, 0);
    return at;
}

static void release(uint8_t *at)
{
    must(adsm_slab_free(adsm_index_find(at), at));
}

static size_t memory_free(void)
{
    size_t free_bytes, total;
    must(accel->ops->memory_info(accel, &free_bytes, &total));
    return free_bytes;
}

/* Is there another allocation with a byte in [from, to)? */
static bool shares(const struct live *one, const uint8_t *from,
                   const uint8_t *to)
{
    for (int i = 0; i < LIVE; i++)
        if (live[i].at && &live[i] != one && live[i].at < to &&
            live[i].at + live[i].bytes > from)
            return true;
    return false;
}

static struct adsm_use use_of_all(struct adsm_object *object)
{
    return adsm_use_of(object, object->host, object->bytes, ADSM_INOUT);
}

static void check(const struct live *one)
{
    struct adsm_object *object = adsm_index_find(one->at);
    struct adsm_use use = use_of_all(object);
    void *base;
    size_t bytes, last = one->bytes - 1;
    ck_assert(!shares(one, one->at, one->at + one->bytes));
    must(adsm_slab_range(object, one->at + last, &base, &bytes));
    ck_assert_ptr_eq(base, one->at);
    ck_assert_uint_eq(bytes, one->bytes);
    bool alone = adsm_slab_blocks(&use, one->at + last);
    const uint8_t *from = use.at, *to = use.at + use.bytes;
    size_t begin = (size_t)(from - object->host);
    uint32_t end = adsm_block_of(object, begin + use.bytes - 1) + 1;
    ck_assert_uint_eq(begin % object->block_bytes, 0);
    ck_assert_uint_eq(begin + use.bytes, end < object->block_count
                                             ? adsm_block_begin(object, end)
                                             : object->bytes);
    ck_assert(from <= one->at && one->at + last < to);
    ck_assert(!alone || !shares(one, from, to));
    ck_assert_int_eq(adsm_slab_free(object, one->at + 256), ADSM_E_NOT_SHARED);
    ck_assert_uint_le(end, atomic_load(&object->blocks_used));
}

static void random_slots(size_t most)
{
    up();
    srand(17);
    for (int step = 0; step < 20000; step++) {
        struct live *one = &live[rand() % LIVE];
        if (one->at) {
            check(one);
            release(one->at);
            one->at = NULL;
            continue;
        }
        one->bytes = 1 + (size_t)rand() % (most >> rand() % 8);
        one->at = allocate(one->bytes);
        check(one);
    }
    for (int i = 0; i < LIVE; i++)
        if (live[i].at)
            release(live[i].at);
}

START_TEST(random_slots_never_overlap)
{
    random_slots(64 << 10);
}
END_TEST

START_TEST(random_large_slots_never_overlap)
{
    random_slots(1 << 20);
}
END_TEST

START_TEST(random_slots_with_small_blocks_never_overlap)
{
    setenv("ADSM_BLOCK_SIZE", "16K", 1);
    random_slots(64 << 10);
}
END_TEST

START_TEST(few_of_a_size_have_blocks_of_their_own)
{
    static const size_t sizes[] = {5000, 9000, 20000, 33 << 10, 60000};
    up();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 3; k++) {
            uint8_t *at = allocate(sizes[i]);
            struct adsm_use use = use_of_all(adsm_index_find(at));
            ck_assert(adsm_slab_blocks(&use, at));
            ck_assert_uint_eq(use.bytes, use.object->block_bytes);
        }
}
END_TEST

START_TEST(many_of_a_size_are_packed)
{
    static const size_t sizes[] = {1000, 5000, 9000, 20000, 33 << 10, 60000};
    up();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t before = memory_free(), used = 0;
        for (; used < 16 << 20; used += sizes[i])
            (void)allocate(sizes[i]);
        size_t took = before - memory_free();
        /* The slab that is being filled has 2 MiB at most. */
        ck_assert_uint_le((took - (2 << 20)) / 10 * 9, used);
    }
}
END_TEST

START_TEST(empty_slab_is_kept_until_it_is_trimmed)
{
    up();
    size_t before = memory_free();
    uint8_t *at = allocate(3000);
    uint8_t *other = allocate(70);
    release(at);
    ck_assert(!adsm_slab_trim(accel));
    release(other);
    ck_assert_ptr_eq(allocate(3000), at);
    ck_assert_uint_lt(memory_free(), before);
    release(at);
    ck_assert(adsm_slab_trim(accel));
    ck_assert(!adsm_slab_trim(accel));
    ck_assert_uint_eq(memory_free(), before);
    ck_assert_ptr_null(adsm_index_find(at));
}
END_TEST

START_TEST(memory_kept_by_empty_slabs_is_there_for_an_object)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    up();
    void *at;
    for (size_t bytes = 4096; bytes < 64 << 10; bytes += 4096)
        release(allocate(bytes));
    ck_assert_uint_lt(memory_free(), 14 << 20);
    must(adsm_heap_alloc(accel, 15 << 20, &adsm_kind_plain, &at));
}
END_TEST

SUITE_MAIN("slab", 60, random_slots_never_overlap,
           random_large_slots_never_overlap,
           random_slots_with_small_blocks_never_overlap,
           few_of_a_size_have_blocks_of_their_own, many_of_a_size_are_packed,
           empty_slab_is_kept_until_it_is_trimmed,
           memory_kept_by_empty_slabs_is_there_for_an_object)

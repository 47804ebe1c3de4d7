/*
 * Slabs: which allocations share a block, what is left when a call fails or the
 * device is short of memory, and when memory goes back. Random slots against a
 * list of them: tests/mm/test_slab.c.
 */
#include "small/fixture.h"

#include "mm/heap/heap.h"
#include "mm/heap/slab.h"
#include "mm/object/block.h"
#include "mm/object/index.h"

enum { SLAB = 512 << 10 }; /* the first of a kind */

static struct adsm_accel *accel;

static uint8_t *allocate_as(size_t bytes, enum adsm_state first,
                            const struct adsm_kind *kind)
{
    void *at = NULL;
    must(adsm_slab_alloc(accel, bytes, first, kind, &at));
    return at;
}

static uint8_t *allocate(size_t bytes)
{
    return allocate_as(bytes, ADSM_INVALID, &adsm_kind_plain);
}

static int release(uint8_t *at)
{
    return adsm_slab_free(adsm_index_find(at), at);
}

static void down(void)
{
    adsm_slab_forget(accel);
    ck_assert_uint_eq(small.used[adsm_accel_device(accel)], 0);
}

/* What a call has of the slab when it names an allocation. Return: is it alone
 * there? */
static bool blocks_of(uint8_t *at, struct adsm_use *use)
{
    struct adsm_object *object = adsm_index_find(at);
    *use = adsm_use_of(object, object->host, object->bytes, ADSM_INOUT);
    return adsm_slab_blocks(use, at);
}

START_TEST(small_allocations_share_a_page_and_larger_ones_have_their_blocks)
{
    struct adsm_use use;
    accel = up("rolling", 1);
    uint8_t *a = allocate(700), *b = allocate(700);
    ck_assert_ptr_eq(b, a + 1024);
    ck_assert(!blocks_of(b, &use));
    ck_assert_ptr_eq(use.at, a);
    ck_assert_uint_eq(use.bytes, PAGE);
    uint8_t *c = allocate(PAGE + 1), *d = allocate(2 * PAGE);
    ck_assert_ptr_eq(d, c + 2 * PAGE);
    ck_assert(blocks_of(d, &use) && blocks_of(c, &use));
    ck_assert_ptr_eq(use.at, c);
    ck_assert_uint_eq(use.bytes, 2 * PAGE);
    down();
}
END_TEST

START_TEST(allocation_is_known_by_its_bytes_and_freed_by_its_start_once)
{
    void *base;
    size_t bytes;
    accel = up("rolling", 1);
    uint8_t *a = allocate(700), *b = allocate(600);
    struct adsm_object *object = adsm_index_find(a);
    must(adsm_slab_range(object, a + 699, &base, &bytes));
    ck_assert(base == a && bytes == 700);
    ck_assert_int_eq(adsm_slab_range(object, a + 700, &base, &bytes),
                     ADSM_E_NOT_SHARED);
    ck_assert_int_eq(adsm_slab_range(object, b + 1024, &base, &bytes),
                     ADSM_E_NOT_SHARED);
    ck_assert_int_eq(release(a + 512), ADSM_E_NOT_SHARED);
    ck_assert_int_eq(release(a + 1), ADSM_E_NOT_SHARED);
    must(release(a));
    ck_assert_int_eq(release(a), ADSM_E_NOT_SHARED);
    ck_assert_int_eq(adsm_slab_range(object, a, &base, &bytes),
                     ADSM_E_NOT_SHARED);
    ck_assert_ptr_eq(allocate(1024), a);
    down();
}
END_TEST

START_TEST(slabs_are_of_one_device_one_first_state_and_one_kind_of_address)
{
    struct adsm_accel *first = up("rolling", 2);
    accel = first;
    struct adsm_object *object = adsm_index_find(allocate(100));
    ck_assert_ptr_ne(
        adsm_index_find(allocate_as(100, ADSM_READ_ONLY, &adsm_kind_plain)),
        object);
    ck_assert_ptr_ne(
        adsm_index_find(allocate_as(100, ADSM_INVALID, &adsm_kind_safe)),
        object);
    ck_assert_ptr_eq(adsm_index_find(allocate(100)), object);
    must(adsm_accel_open(1, &accel));
    ck_assert_ptr_ne(adsm_index_find(allocate(100)), object);
    ck_assert_uint_ge(small.used[1], SLAB);
    down();
    accel = first;
    down();
}
END_TEST

/* The slab is as large as there is memory for, and then no larger. */
START_TEST(slab_takes_what_a_short_device_has)
{
    enum { ROOM = 5 * PAGE };
    size_t count = 0;
    void *at;
    accel = up("rolling", 1);
    small.memory[0] = ROOM;
    while (adsm_slab_alloc(accel, PAGE, ADSM_INVALID, &adsm_kind_plain, &at) ==
           ADSM_OK)
        count++;
    ck_assert_uint_eq(count, ROOM / PAGE);
    ck_assert_int_eq(
        adsm_slab_alloc(accel, PAGE, ADSM_INVALID, &adsm_kind_plain, &at),
        ADSM_E_DEVICE_NOMEM);
    down();
}
END_TEST

START_TEST(slab_leaves_nothing_behind_whichever_call_fails)
{
    unsigned n = 0;
    accel = up("rolling", 1);
    for (bool failed = true; failed;) {
        void *at;
        small_fail(NULL, ++n, ADSM_E_NOMEM);
        if (adsm_slab_alloc(accel, 100, ADSM_READ_ONLY, &adsm_kind_plain,
                            &at) == ADSM_OK)
            must(release(at));
        failed = small_has_failed();
        (void)adsm_slab_trim(accel);
        ck_assert_uint_eq(small.used[0], 0);
    }
    ck_assert_uint_gt(n, 1);
    down();
}
END_TEST

START_TEST(empty_slab_goes_unless_it_is_the_last_of_its_kind)
{
    enum { SLOT = 512, SLOTS = SLAB / SLOT };
    uint8_t *first[SLOTS];
    accel = up("rolling", 1);
    for (int i = 0; i < SLOTS; i++)
        first[i] = allocate(SLOT);
    size_t used = small.used[0];
    uint8_t *other = allocate(SLOT);
    ck_assert_uint_gt(small.used[0], used);
    must(release(other));
    ck_assert_uint_eq(small.used[0], used);
    ck_assert_ptr_null(adsm_index_find(other));
    for (int i = 0; i < SLOTS; i++)
        must(release(first[i]));
    ck_assert_uint_eq(small.used[0], used);
    ck_assert(adsm_slab_trim(accel));
    ck_assert(!adsm_slab_trim(accel));
    ck_assert_uint_eq(small.used[0], 0);
    down();
}
END_TEST

START_TEST(memory_of_an_empty_slab_is_there_for_an_object)
{
    void *at;
    accel = up("rolling", 1);
    small.memory[0] = SLAB;
    must(release(allocate(3000)));
    ck_assert_uint_gt(small.used[0], 0);
    must(adsm_heap_alloc(accel, SLAB, &adsm_kind_plain, &at));
    must(adsm_heap_free(at));
    down();
}
END_TEST

SUITE_MAIN("slab", 10,
           small_allocations_share_a_page_and_larger_ones_have_their_blocks,
           allocation_is_known_by_its_bytes_and_freed_by_its_start_once,
           slabs_are_of_one_device_one_first_state_and_one_kind_of_address,
           slab_takes_what_a_short_device_has,
           slab_leaves_nothing_behind_whichever_call_fails,
           empty_slab_goes_unless_it_is_the_last_of_its_kind,
           memory_of_an_empty_slab_is_there_for_an_object)

/*
 * Address to object, against a plain array of pages. Needs no device: objects
 * are made by hand, at addresses where nothing is mapped.
 */
#include "common/suite.h"
#include "mm/doors/loan.h"
#include "mm/object/index.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, TRACT = 2 << 20, PAGES = 6 * TRACT / PAGE, OBJECTS = 300 };

/* The end of a leaf of 16 GiB lies in the middle. */
static uint8_t *const base = (uint8_t *)(((uintptr_t)77 << 34) - 3 * TRACT);
static struct adsm_object objects[OBJECTS];
static struct adsm_object *page[PAGES];

static void enter(struct adsm_object *object, size_t first, size_t pages)
{
    object->host = base + first * PAGE;
    object->bytes = pages * PAGE - 1000;
    object->span.bytes = pages * PAGE;
    adsm_rwlock_init(&object->lock, ADSM_RANK_OBJECT);
    atomic_store(&object->live, true);
    ck_assert_int_eq(adsm_index_insert(object), ADSM_OK);
    for (size_t i = first; i < first + pages; i++)
        page[i] = object;
}

static void leave(struct adsm_object *object)
{
    size_t first = (size_t)(object->host - base) / PAGE;
    adsm_index_remove(object);
    atomic_store(&object->live, false);
    memset(page + first, 0, object->span.bytes / PAGE * sizeof *page);
    object->span.bytes = 0;
}

static void check_pages(void)
{
    for (size_t i = 0; i < PAGES; i++) {
        ck_assert_ptr_eq(adsm_index_find(base + i * PAGE), page[i]);
        ck_assert_ptr_eq(adsm_index_find(base + i * PAGE + PAGE - 1), page[i]);
    }
    ck_assert_ptr_null(adsm_index_find(base - 1));
    ck_assert_ptr_null(adsm_index_find(base + PAGES * PAGE));
}

static bool is_free(size_t first, size_t pages)
{
    for (size_t i = first; i < first + pages; i++)
        if (page[i])
            return false;
    return true;
}

START_TEST(objects_that_share_tracts_come_and_go)
{
    srand(5);
    for (int step = 0; step < 3000; step++) {
        struct adsm_object *object = &objects[rand() % OBJECTS];
        if (object->span.bytes) {
            leave(object);
            continue;
        }
        bool whole = rand() % 4 == 0;
        size_t pages = whole ? TRACT / PAGE : 1 + (size_t)rand() % 90;
        size_t first = (size_t)rand() % (PAGES - pages + 1);
        if (whole)
            first -= first % (TRACT / PAGE);
        if (is_free(first, pages))
            enter(object, first, pages);
        if (step % 50 == 0)
            check_pages();
    }
    check_pages();
}
END_TEST

START_TEST(behind_its_last_byte_an_object_is_not_acquired)
{
    enter(&objects[0], 10, 3);
    enter(&objects[1], 13, 1);
    uint8_t *at = objects[0].host;
    ck_assert_ptr_eq(adsm_index_acquire(at), &objects[0]);
    adsm_rwlock_release_shared(&objects[0].lock);
    ck_assert_ptr_null(adsm_index_acquire(at + objects[0].bytes));
    ck_assert_ptr_eq(adsm_index_acquire(at + 3 * PAGE), &objects[1]);
    adsm_rwlock_release_shared(&objects[1].lock);
    ck_assert_ptr_null(adsm_index_acquire(at - 1));
    leave(&objects[1]);
    ck_assert_ptr_null(adsm_index_acquire(at + 3 * PAGE));
}
END_TEST

/* Where walks have to stop so as not to miss an object. */
START_TEST(walk_over_borders_meets_every_object)
{
    enter(&objects[0], 700, 1);
    enter(&objects[1], 701, 811);
    enter(&objects[2], PAGES - 1, 1);
    size_t met = 0;
    const struct adsm_object *last = NULL;
    uintptr_t end = (uintptr_t)(base + PAGES * PAGE);
    for (uintptr_t c = (uintptr_t)base; c < end; c = adsm_index_border(c)) {
        const struct adsm_object *object = adsm_index_find((void *)c);
        met += object && object != last;
        last = object;
    }
    ck_assert_uint_eq(met, 3);
    ck_assert_uint_eq(adsm_index_border(UINTPTR_MAX), 0);
    ck_assert(adsm_loan_unneeded(base, 700 * PAGE));
    ck_assert(!adsm_loan_unneeded(base, 700 * PAGE + 1));
    ck_assert(adsm_loan_unneeded(base + 1512 * PAGE, (PAGES - 1513) * PAGE));
    ck_assert(!adsm_loan_unneeded(base + 1512 * PAGE, SIZE_MAX));
}
END_TEST

/* A tract of its own is one entry, whatever else there is or was. */
START_TEST(tract_with_one_owner_has_no_table)
{
    enter(&objects[1], TRACT / PAGE + 5, 7);
    leave(&objects[1]);
    ck_assert_uint_eq(adsm_index_border((uintptr_t)base + TRACT),
                      (uintptr_t)base + TRACT + PAGE);
    enter(&objects[0], TRACT / PAGE, TRACT / PAGE + 1);
    uintptr_t at = (uintptr_t)objects[0].host;
    ck_assert_uint_eq(adsm_index_border(at), at + TRACT);
    ck_assert_uint_eq(adsm_index_border(at + TRACT), at + TRACT + PAGE);
}
END_TEST

SUITE_MAIN("index", 60, objects_that_share_tracts_come_and_go,
           behind_its_last_byte_an_object_is_not_acquired,
           walk_over_borders_meets_every_object,
           tract_with_one_owner_has_no_table)

/*
 * Ranges that a system call may use as they are: only where their blocks are,
 * and until one is closed.
 */
#include "fixture.h"
#include "mm/doors/in_place.h"
#include "mm/doors/loan.h"

enum { BYTES = 600000, PAGE = 4096 };

static void write_all(uint8_t *p, uint8_t value)
{
    for (size_t i = 0; i < BYTES; i++)
        ((volatile uint8_t *)p)[i] = value;
}

START_TEST(what_the_host_has_is_read_at_the_shadow)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    write_all(p, 3);
    size_t bytes = 2 * BYTES;
    uint8_t *shadow = adsm_in_place_read(p + 100, &bytes);
    ck_assert_ptr_eq(shadow, adsm_index_find(p)->shadow.shadow + 100);
    ck_assert_uint_eq(bytes, BYTES - 100);
    ck_assert_uint_eq(shadow[5], 3);
    device_fill(f.fill, p, BYTES, 1);
    bytes = BYTES;
    ck_assert(!adsm_in_place_read(p, &bytes));
    must(adsmSync());
    ck_assert_uint_eq(((volatile uint8_t *)p)[7], filled(7, 1));
    bytes = 1;
    ck_assert(adsm_in_place_read(p, &bytes));
    bytes = 0;
    ck_assert(!adsm_in_place_read(p, &bytes));
    bytes = 1;
    ck_assert(!adsm_in_place_read(&bytes, &bytes));
    must(adsmFree(p));
}
END_TEST

START_TEST(what_is_open_is_written_until_it_is_closed)
{
    struct fixture f = fixture_up();
    struct adsm_in_place direct;
    uint8_t *p = adsmAlloc(BYTES);
    ck_assert(!adsm_in_place_write(&direct, sizeof direct, &direct));
    write_all(p, 3);
    ck_assert(adsm_in_place_write(p, BYTES, &direct));
    ck_assert(adsm_in_place_lasts(&direct));
    ck_assert(!adsm_in_place_write(p, BYTES + 1, &direct));
    ck_assert(!adsm_in_place_write(p, 0, &direct));
    ck_assert(adsm_in_place_write(p + PAGE, BYTES - PAGE, &direct));
    device_fill(f.fill, p, BYTES, 1);
    ck_assert(!adsm_in_place_lasts(&direct));
    ck_assert(!adsm_in_place_write(p, BYTES, &direct));
    must(adsmSync());
    must(adsmFree(p));
}
END_TEST

START_TEST(held_blocks_are_not_open)
{
    struct adsm_in_place direct;
    struct adsm_loan loan;
    (void)fixture_up();
    uint8_t *p = adsmAlloc(BYTES);
    write_all(p, 3);
    must(adsm_loan_begin(p + 5, 10, ADSM_WRITE, &loan));
    ck_assert(!adsm_in_place_write(p, 1, &direct));
    ck_assert(adsm_in_place_write(p + BYTES - 1, 1, &direct) ==
              (adsm_index_find(p)->block_count > 1));
    must(adsm_loan_end(&loan, 10));
    ck_assert(adsm_in_place_write(p, 1, &direct));
    struct adsm_object *object = adsm_index_acquire_alone(p);
    ck_assert(!adsm_in_place_write(p, 1, &direct));
    adsm_rwlock_release(&object->lock);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("direct", 30, what_the_host_has_is_read_at_the_shadow,
           what_is_open_is_written_until_it_is_closed, held_blocks_are_not_open)

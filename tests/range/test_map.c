/*
 * The map of holders against a set of holders for every byte.
 */
#include "common/suite.h"
#include "range/map.h"

#include <string.h>

enum { BYTES = 6 * 6 * 6, ROUNDS = 500 };

static struct adsm_map map;
static struct adsm_holder_set byte[BYTES];

static void begin(const adsmBox *whole, unsigned holder)
{
    ck_assert_int_eq(adsm_map_init(&map, whole, holder), ADSM_OK);
    for (int i = 0; i < BYTES; i++)
        byte[i] = adsm_holder_set_of(holder);
}

static void reserve(const adsmBox *box)
{
    ck_assert_int_eq(adsm_map_reserve(&map, box), ADSM_OK);
}

static void add(const adsmBox *box, unsigned holder)
{
    adsm_map_hold(&map);
    reserve(box);
    adsm_map_add(&map, box, holder);
    adsm_map_release(&map);
}

static void only(const adsmBox *box, unsigned holder)
{
    adsm_map_hold(&map);
    reserve(box);
    adsm_map_only(&map, box, holder);
    adsm_map_release(&map);
}

/* Call for the number of each byte in a box; dimensions are 6 wide. */
typedef void visit_byte(struct adsm_holder_set *set, unsigned holder);

static void each_byte(const adsmBox *box, visit_byte *visit, unsigned holder)
{
    for (int i = 0; i < BYTES; i++) {
        long at[3] = {i / 36, i / 6 % 6, i % 6};
        const long *index = at + 3 - box->nd;
        bool in = i < (box->nd == 1 ? 6 : box->nd == 2 ? 36 : BYTES);
        for (int d = 0; d < box->nd; d++)
            in = in && index[d] >= box->lo[d] && index[d] < box->hi[d];
        if (in)
            visit(&byte[i], holder);
    }
}

static size_t met, met_with, met_only;

static void count_byte(struct adsm_holder_set *set, unsigned holder)
{
    met++;
    met_with += adsm_holder_set_has(set, holder);
    met_only += adsm_holder_set_is_only(set, holder);
}

static void set_byte(struct adsm_holder_set *set, unsigned holder)
{
    set->bits[holder / 64] |= (uint64_t)1 << (holder % 64);
}

static void clear_byte(struct adsm_holder_set *set, unsigned holder)
{
    set->bits[holder / 64] &= ~((uint64_t)1 << (holder % 64));
}

static void only_byte(struct adsm_holder_set *set, unsigned holder)
{
    *set = adsm_holder_set_of(holder);
}

static adsmBox random_box(int nd)
{
    adsmBox box = {nd, {0}, {0}};
    for (int d = 0; d < nd; d++) {
        box.lo[d] = rand() % 6;
        box.hi[d] = box.lo[d] + 1 + rand() % (6 - box.lo[d]);
    }
    return box;
}

static unsigned random_holder(void)
{
    static const unsigned some[] = {0, 1, 63, 64, 130, 255};
    return some[rand() % 6];
}

static const struct adsm_holder_set *expected;

static void same_holders(struct adsm_holder_set *set, unsigned unused)
{
    (void)unused;
    ck_assert(adsm_holder_set_equal(set, expected));
}

static void check_all(int nd)
{
    ck_assert(adsm_map_is_valid(&map));
    for (uint32_t i = 0; i < map.count; i++) {
        expected = &map.entries[i].holders;
        each_byte(&map.entries[i].box, same_holders, 0);
    }
    adsmBox box = random_box(nd);
    unsigned holder = random_holder();
    met = met_with = met_only = 0;
    each_byte(&box, count_byte, holder);
    ck_assert_uint_eq(adsm_map_bytes_with(&map, &box, holder), met_with);
    ck_assert_uint_eq(adsm_map_bytes_only(&map, &box, holder), met_only);
    ck_assert_uint_eq(adsm_map_bytes_without(&map, &box, holder),
                      met - met_with);
    size_t pieces = 0;
    for (struct adsm_map_walk w = adsm_map_walk(&map, &box);
         adsm_map_next(&w);) {
        ck_assert(adsm_box_within(&w.piece, &box));
        ck_assert(adsm_box_within(&w.piece, &w.entry->box));
        pieces += adsm_box_bytes(&w.piece);
    }
    ck_assert_uint_eq(pieces, met);
}

static void change(const adsmBox *box)
{
    unsigned holder = random_holder();
    switch (rand() % 3) {
    case 0:
        adsm_map_add(&map, box, holder);
        each_byte(box, set_byte, holder);
        break;
    case 1:
        adsm_map_only(&map, box, holder);
        each_byte(box, only_byte, holder);
        break;
    default:
        if (adsm_map_bytes_only(&map, box, holder))
            return;
        adsm_map_remove(&map, box, holder);
        each_byte(box, clear_byte, holder);
    }
}

START_TEST(random_changes_are_those_of_every_byte)
{
    for (int nd = 1; nd <= 3; nd++) {
        adsmBox whole = {nd, {0}, {6, nd > 1 ? 6 : 0, nd > 2 ? 6 : 0}};
        begin(&whole, 0);
        for (int i = 0; i < ROUNDS; i++) {
            adsmBox box[3];
            int n = 1 + rand() % 3;
            adsm_map_hold(&map);
            for (int k = 0; k < n; k++) {
                box[k] = random_box(nd);
                reserve(&box[k]);
                check_all(nd);
            }
            for (int k = rand() % 4; k < 3; k++)
                change(&box[rand() % n]);
            if (rand() % 20 == 0) {
                adsm_map_only(&map, &whole, 0);
                each_byte(&whole, only_byte, 0);
            }
            check_all(nd);
            adsm_map_release(&map);
            check_all(nd);
        }
        adsm_map_fini(&map);
    }
}
END_TEST

START_TEST(reserved_box_can_be_changed_after_others_were)
{
    adsmBox whole = adsmR2(64, 64), a = {2, {8, 8}, {24, 24}};
    adsmBox b = {2, {16, 0}, {40, 64}};
    begin(&whole, 0);
    adsm_map_hold(&map);
    reserve(&a);
    only(&b, 3);
    add(&b, 4);
    only(&whole, 5);
    adsm_map_only(&map, &a, 2);
    ck_assert_uint_eq(adsm_map_bytes_only(&map, &whole, 2), 256);
    adsm_map_only(&map, &whole, 0);
    adsm_map_release(&map);
    ck_assert_uint_eq(map.count, 1);
    adsm_map_fini(&map);
}
END_TEST

START_TEST(reservation_that_is_not_used_leaves_nothing)
{
    adsmBox whole = adsmR3(8, 8, 8), a = {3, {1, 2, 3}, {4, 5, 6}};
    begin(&whole, 1);
    adsm_map_hold(&map);
    reserve(&a);
    ck_assert_uint_eq(map.count, 7);
    adsm_map_release(&map);
    ck_assert_uint_eq(map.count, 1);
    adsm_map_fini(&map);
}
END_TEST

/* A stencil on four devices that also reads its neighbours' rows, in place. */
static void stencil_step(long rows, long width)
{
    for (unsigned part = 0; part < 4; part++) {
        adsmBox halo = {2, {rows * part, 0}, {rows * (part + 1), width}};
        halo.lo[0] -= part > 0;
        halo.hi[0] += part < 3;
        add(&halo, 2 + part);
    }
    for (unsigned part = 0; part < 4; part++) {
        adsmBox own = {2, {rows * part, 0}, {rows * (part + 1), width}};
        only(&own, 2 + part);
    }
}

START_TEST(calls_that_repeat_do_not_cut_on)
{
    adsmBox whole = adsmR2(400, 4000), cell = {2, {77, 80}, {78, 84}};
    begin(&whole, 0);
    for (int i = 0; i < 1000; i++) {
        stencil_step(100, 4000);
        ck_assert_uint_eq(map.count, 4);
        only(&cell, 0);
        ck_assert_uint_le(map.count, 8);
    }
    ck_assert_uint_eq(map.capacity, 16);
    adsm_map_fini(&map);
}
END_TEST

START_TEST(checkerboard_becomes_crowded_and_one_again)
{
    adsmBox whole = adsmR2(90, 92);
    begin(&whole, 0);
    adsm_map_hold(&map);
    for (long y = 0; y < 90; y++)
        for (long x = y % 2; x < 92; x += 2) {
            adsmBox cell = {2, {y, x}, {y + 1, x + 1}};
            reserve(&cell);
            adsm_map_only(&map, &cell, 7);
        }
    adsm_map_release(&map);
    ck_assert(adsm_map_is_crowded(&map));
    ck_assert(adsm_map_is_valid(&map));
    ck_assert_uint_eq(map.count, 90 * 92);
    ck_assert_uint_eq(adsm_map_bytes_with(&map, &whole, 7), 90 * 46);
    only(&whole, 7);
    ck_assert_uint_eq(map.count, 1);
    adsm_map_fini(&map);
}
END_TEST

START_TEST(box_in_a_long_map_is_found)
{
    adsmBox whole = adsmR1(100000);
    begin(&whole, 0);
    for (long at = 0; at < 100000; at += 20) {
        adsmBox box = {1, {at}, {at + 10}};
        only(&box, 9);
    }
    for (long at = 0; at < 100000; at += 777) {
        adsmBox box = {1, {at}, {at + 1}};
        ck_assert_uint_eq(adsm_map_bytes_with(&map, &box, 9), at % 20 < 10);
    }
    adsm_map_fini(&map);
}
END_TEST

/* Rows that are reserved one by one, as a column of an array inside an object is:
 * each is to be found among few that are not in order. */
START_TEST(many_reserved_boxes_are_put_in_order)
{
    enum { ROWS = 2000 };
    adsmBox whole = adsmR1(10 * ROWS);
    begin(&whole, 0);
    adsm_map_hold(&map);
    for (long row = 0; row < ROWS; row++) {
        adsmBox cell = {1, {10 * row}, {10 * row + 3}};
        reserve(&cell);
        ck_assert_uint_le(map.count - map.sorted, 64 + map.sorted / 16 + 2);
    }
    for (long row = 0; row < ROWS; row++) {
        adsmBox cell = {1, {10 * row}, {10 * row + 3}};
        adsm_map_only(&map, &cell, 5);
    }
    ck_assert(adsm_map_is_valid(&map));
    ck_assert_uint_eq(adsm_map_bytes_only(&map, &whole, 5), 3 * ROWS);
    adsm_map_release(&map);
    ck_assert_uint_eq(map.count, 2 * ROWS);
    only(&whole, 5);
    adsm_map_fini(&map);
}
END_TEST

SUITE_MAIN("map", 60, random_changes_are_those_of_every_byte,
           reserved_box_can_be_changed_after_others_were,
           reservation_that_is_not_used_leaves_nothing,
           calls_that_repeat_do_not_cut_on,
           checkerboard_becomes_crowded_and_one_again,
           box_in_a_long_map_is_found, many_reserved_boxes_are_put_in_order)

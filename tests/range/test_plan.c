/*
 * Choices of the plan that the model test does not judge: which copies are
 * made, shared and given up. Rows of 1000 bytes.
 */
#include "common/suite.h"
#include "range/plan.h"

#include <string.h>

static struct adsm_held held;
static char device[2];
static struct adsm_moves moves;

static struct adsm_accel *accel(int i)
{
    return (struct adsm_accel *)&device[i];
}

static bool direct(const struct adsm_accel *from, const struct adsm_accel *to)
{
    (void)from;
    (void)to;
    return true;
}

static void begin(void)
{
    adsmBox whole = adsmR2(1000, 1000);
    ck_assert_int_eq(adsm_held_init(&held, &whole, ADSM_HOLDER_HOST, direct),
                     ADSM_OK);
}

static adsmBox box(long y0, long y1, long x0, long x1)
{
    return (adsmBox){2, {y0, x0}, {y1, x1}};
}

static void enter(struct adsm_copy *copy, int i, adsmBox of)
{
    *copy = (struct adsm_copy){
        .box = of, .accel = accel(i), .bytes = adsm_box_bytes(&of)};
    ck_assert_int_eq(adsm_held_enter(&held, copy), ADSM_OK);
}

static void read_box(struct adsm_copy *copy, adsmBox of)
{
    ck_assert_int_eq(adsm_plan_begin(&held, &moves), ADSM_OK);
    ck_assert_int_eq(adsm_plan_read(&held, copy, &of, &moves), ADSM_OK);
    adsm_plan_end(&held);
}

static int choose(struct adsm_need *wants, int n, bool reuse, adsmBox *fresh)
{
    adsmBox room[ADSM_FRESH * 4];
    int count = adsm_plan_choose(&held, accel(0), reuse, wants, n, room);
    memcpy(fresh, room, (size_t)count * sizeof *fresh);
    return count;
}

START_TEST(stencil_reads_and_writes_share_one_copy)
{
    struct adsm_need wants[] = {
        {.box = box(99, 201, 0, 1000), .mode = ADSM_IN},
        {.box = box(100, 200, 0, 1000), .mode = ADSM_OUT}};
    adsmBox fresh[2];
    begin();
    ck_assert_int_eq(choose(wants, 2, true, fresh), 1);
    ck_assert(adsm_box_equal(&fresh[0], &wants[0].box));
}
END_TEST

START_TEST(row_far_from_a_block_gets_a_copy_of_its_own)
{
    struct adsm_need wants[] = {
        {.box = box(700, 701, 0, 1000), .mode = ADSM_IN},
        {.box = box(0, 250, 0, 1000), .mode = ADSM_INOUT},
        {.box = box(0, 250, 700, 701), .mode = ADSM_IN}};
    adsmBox fresh[3];
    begin();
    ck_assert_int_eq(choose(wants, 3, true, fresh), 2);
    ck_assert_uint_eq(adsm_box_bytes(&fresh[0]) + adsm_box_bytes(&fresh[1]),
                      251 * 1000);
    ck_assert_int_ne(wants[0].fresh, wants[1].fresh);
    ck_assert_int_eq(wants[1].fresh, wants[2].fresh);
}
END_TEST

START_TEST(hull_may_have_one_byte_in_twenty_too_many)
{
    struct adsm_need wants[] = {{.box = box(0, 10, 0, 1000), .mode = ADSM_IN},
                                {.box = box(0, 20, 0, 900), .mode = ADSM_IN}};
    adsmBox fresh[2];
    begin();
    ck_assert_int_eq(choose(wants, 2, true, fresh), 2); /* 20000 of 19000 */
    wants[1].box.hi[1] = 905;                           /* of 19050 */
    ck_assert_int_eq(choose(wants, 2, true, fresh), 1);
    ck_assert_uint_eq(adsm_box_bytes(&fresh[0]), 20000);
}
END_TEST

START_TEST(copy_that_lacks_least_serves_a_read)
{
    struct adsm_copy large, small;
    struct adsm_need want = {.box = box(10, 20, 0, 1000), .mode = ADSM_IN};
    adsmBox fresh[1];
    begin();
    enter(&large, 0, box(0, 1000, 0, 1000));
    enter(&small, 0, box(5, 30, 0, 1000));
    read_box(&small, box(10, 15, 0, 1000));
    ck_assert_int_eq(choose(&want, 1, true, fresh), 0);
    ck_assert_ptr_eq(want.copy, &small);
    read_box(&large, box(0, 100, 0, 1000));
    ck_assert_int_eq(choose(&want, 1, true, fresh), 0);
    ck_assert_ptr_eq(want.copy, &large);
}
END_TEST

START_TEST(what_is_only_written_goes_to_the_largest_copy)
{
    struct adsm_copy small, large;
    struct adsm_need want = {.box = box(10, 20, 0, 1000), .mode = ADSM_OUT};
    adsmBox fresh[1];
    begin();
    enter(&small, 0, box(10, 20, 0, 1000));
    enter(&large, 0, box(9, 21, 0, 1000));
    read_box(&small, box(10, 20, 0, 1000));
    ck_assert_int_eq(choose(&want, 1, true, fresh), 0);
    ck_assert_ptr_eq(want.copy, &large);
}
END_TEST

START_TEST(copy_of_another_device_or_a_part_serves_nothing)
{
    struct adsm_copy other, part;
    struct adsm_need want = {.box = box(10, 20, 0, 1000), .mode = ADSM_IN};
    adsmBox fresh[1];
    begin();
    enter(&other, 1, box(0, 1000, 0, 1000));
    enter(&part, 0, box(11, 30, 0, 1000));
    ck_assert_int_eq(choose(&want, 1, true, fresh), 1);
    ck_assert_ptr_null(want.copy);
}
END_TEST

START_TEST(without_reuse_every_argument_has_a_copy)
{
    struct adsm_copy all;
    struct adsm_need wants[] = {
        {.box = box(10, 20, 0, 1000), .mode = ADSM_IN},
        {.box = box(10, 20, 0, 1000), .mode = ADSM_IN},
        {.box = box(30, 40, 0, 1000), .mode = ADSM_OUT},
        {.box = box(39, 50, 0, 1000), .mode = ADSM_OUT}};
    adsmBox fresh[4];
    begin();
    enter(&all, 0, box(0, 1000, 0, 1000));
    ck_assert_int_eq(choose(wants, 4, false, fresh), 3);
    ck_assert_int_eq(wants[2].fresh, wants[3].fresh);
    ck_assert_int_eq(choose(wants, 4, true, fresh), 0);
}
END_TEST

START_TEST(neighbouring_pieces_from_one_source_are_one_move)
{
    struct adsm_copy rows[3], all;
    begin();
    for (int i = 0; i < 3; i++) {
        enter(&rows[i], 1, box(10 * i, 10 * i + 11, 0, 1000));
        read_box(&rows[i], rows[i].box);
    }
    enter(&all, 0, box(0, 1000, 0, 1000));
    moves.count = 0;
    read_box(&all, all.box);
    ck_assert_uint_eq(moves.count, 1);
    ck_assert_uint_eq(moves.items[0].from, ADSM_HOLDER_HOST);
    ck_assert(adsm_box_equal(&moves.items[0].box, &all.box));
}
END_TEST

START_TEST(number_of_the_oldest_unused_copy_is_given_again)
{
    static struct adsm_copy copies[254];
    struct adsm_copy one;
    begin();
    for (int i = 0; i < 254; i++) {
        enter(&copies[i], 0, box(i, i + 1, 0, 1000));
        copies[i].last_used = (uint64_t)(1000 - i);
        copies[i].uses = i > 200;
        read_box(&copies[i], copies[i].box);
    }
    one = copies[0];
    ck_assert_int_eq(adsm_held_enter(&held, &one), ADSM_E_LIMIT);
    ck_assert_ptr_eq(adsm_held_oldest(&held, 0), &copies[200]);
    ck_assert_ptr_eq(adsm_held_oldest(&held, copies[200].last_used),
                     &copies[199]);
    ck_assert_ptr_null(adsm_held_oldest(&held, copies[0].last_used));
    moves.count = 0;
    ck_assert_int_eq(adsm_plan_evict(&held, &copies[200], &moves), ADSM_OK);
    ck_assert_uint_eq(moves.count, 0); /* the host has it */
    ck_assert_int_eq(adsm_held_enter(&held, &one), ADSM_OK);
    ck_assert_uint_eq(one.holder, copies[200].holder);
    ck_assert(adsm_held_is_valid(&held));
}
END_TEST

START_TEST(home_that_goes_leaves_the_host_alone)
{
    struct adsm_copy home = {.box = box(0, 1000, 0, 1000), .home = true};
    begin();
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(adsm_held_enter(&held, &home), ADSM_OK);
        ck_assert_uint_eq(
            adsm_map_bytes_with(&held.map, &home.box, ADSM_HOLDER_HOME), 0);
        read_box(&home, box(100, 200, 0, 1000));
        ck_assert(adsm_held_is_valid(&held));
        adsm_held_alone(&held);
        ck_assert_ptr_null(held.copies[ADSM_HOLDER_HOME]);
        ck_assert_uint_eq(
            adsm_map_bytes_only(&held.map, &home.box, ADSM_HOLDER_HOST),
            1000 * 1000);
        ck_assert(adsm_held_is_valid(&held));
    }
}
END_TEST

START_TEST(victims_are_unused_and_counted_first)
{
    struct adsm_copies list = {NULL, NULL};
    struct adsm_copy copies[4];
    memset(copies, 0, sizeof copies);
    for (int i = 0; i < 4; i++) {
        copies[i].taken = 100;
        adsm_copies_append(&list, &copies[i]);
    }
    copies[0].uses = 1;
    copies[2].home = true;
    ck_assert_ptr_eq(adsm_copies_victim(&list), &copies[1]);
    ck_assert_uint_eq(adsm_copies_free_bytes(&list), 200);
    adsm_copies_remove(&list, &copies[1]);
    ck_assert_ptr_eq(adsm_copies_victim(&list), &copies[3]);
    adsm_copies_remove(&list, &copies[3]);
    ck_assert_ptr_null(adsm_copies_victim(&list));
    ck_assert_uint_eq(adsm_copies_free_bytes(&list), 0);
}
END_TEST

SUITE_MAIN("plan", 60, stencil_reads_and_writes_share_one_copy,
           row_far_from_a_block_gets_a_copy_of_its_own,
           hull_may_have_one_byte_in_twenty_too_many,
           copy_that_lacks_least_serves_a_read,
           what_is_only_written_goes_to_the_largest_copy,
           copy_of_another_device_or_a_part_serves_nothing,
           without_reuse_every_argument_has_a_copy,
           neighbouring_pieces_from_one_source_are_one_move,
           number_of_the_oldest_unused_copy_is_given_again,
           home_that_goes_leaves_the_host_alone,
           victims_are_unused_and_counted_first)

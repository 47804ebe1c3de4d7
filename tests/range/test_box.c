/*
 * Box operations against the sets of points that they stand for.
 */
#include "common/suite.h"
#include "range/box.h"

#include <string.h>

enum { SIDE = 6, POINTS = SIDE * SIDE * SIDE, ROUNDS = 20000 };

struct set {
    uint8_t has[POINTS];
};

/* What is left out of a dimension is one index wide. */
static struct set set_of(const adsmBox *boxes, int n)
{
    struct set set = {{0}};
    for (int i = 0; i < n; i++) {
        long lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
        for (int d = 0; d < boxes[i].nd; d++) {
            lo[d] = boxes[i].lo[d];
            hi[d] = boxes[i].hi[d];
        }
        for (long z = lo[0]; z < hi[0]; z++)
            for (long y = lo[1]; y < hi[1]; y++)
                for (long x = lo[2]; x < hi[2]; x++)
                    set.has[(z * SIDE + y) * SIDE + x]++;
    }
    return set;
}

static size_t size_of(const struct set *set)
{
    size_t n = 0;
    for (int i = 0; i < POINTS; i++)
        n += set->has[i] != 0;
    return n;
}

static adsmBox random_box(int nd, bool maybe_empty)
{
    adsmBox box = {nd, {0}, {0}};
    for (int d = 0; d < nd; d++) {
        box.lo[d] = rand() % SIDE;
        box.hi[d] = box.lo[d] + rand() % (SIDE - box.lo[d] + 1);
        if (!maybe_empty && box.hi[d] == box.lo[d])
            box.hi[d]++;
    }
    return box;
}

static void same(const struct set *a, const struct set *b)
{
    ck_assert_mem_eq(a->has, b->has, POINTS);
}

START_TEST(intersection_and_relations_are_those_of_the_points)
{
    for (int i = 0; i < ROUNDS; i++) {
        adsmBox a = random_box(1 + i % 3, false);
        adsmBox b = random_box(1 + i % 3, false);
        adsmBox meet = adsm_box_meet(&a, &b);
        struct set sa = set_of(&a, 1), sb = set_of(&b, 1), both = {{0}};
        for (int p = 0; p < POINTS; p++)
            both.has[p] = sa.has[p] & sb.has[p];
        struct set seen = set_of(&meet, 1);
        same(&seen, &both);
        ck_assert_uint_eq(adsm_box_bytes(&meet), size_of(&both));
        ck_assert_int_eq(adsm_box_is_empty(&meet), size_of(&both) == 0);
        ck_assert_int_eq(adsm_box_meets(&a, &b), size_of(&both) != 0);
        ck_assert_int_eq(adsm_box_within(&a, &b),
                         memcmp(&sa, &both, sizeof both) == 0);
        ck_assert_int_eq(adsm_box_equal(&a, &b),
                         memcmp(&sa, &sb, sizeof sa) == 0);
    }
}
END_TEST

START_TEST(difference_is_few_disjoint_boxes)
{
    for (int i = 0; i < ROUNDS; i++) {
        adsmBox out[ADSM_BOX_PIECES];
        int nd = 1 + i % 3;
        adsmBox a = random_box(nd, false), b = random_box(nd, true);
        struct set expected = set_of(&a, 1), sb = set_of(&b, 1);
        for (int p = 0; p < POINTS; p++)
            expected.has[p] &= !sb.has[p];
        int n = adsm_box_subtract(&a, &b, out);
        ck_assert_int_le(n, 2 * nd);
        struct set seen = set_of(out, n);
        same(&seen, &expected);
        for (int k = 0; k < n; k++)
            ck_assert(!adsm_box_is_empty(&out[k]));
    }
}
END_TEST

START_TEST(two_boxes_join_when_their_hull_has_no_other_point)
{
    int joined = 0;
    for (int i = 0; i < ROUNDS; i++) {
        adsmBox two[2] = {random_box(1 + i % 3, false)}, out;
        two[1] = random_box(1 + i % 3, false);
        adsmBox hull = adsm_box_hull(&two[0], &two[1]);
        struct set both = set_of(two, 2);
        ck_assert(adsm_box_within(&two[0], &hull));
        ck_assert(adsm_box_within(&two[1], &hull));
        ck_assert_uint_eq(adsm_box_union_bytes(two, 2), size_of(&both));
        bool is_box = adsm_box_bytes(&hull) == size_of(&both);
        ck_assert_int_eq(adsm_box_join(&two[0], &two[1], &out), is_box);
        if (is_box) {
            ck_assert(adsm_box_equal(&out, &hull));
            joined++;
        }
    }
    ck_assert_int_gt(joined, 1000);
}
END_TEST

START_TEST(bytes_of_a_union_are_counted_once)
{
    for (int i = 0; i < ROUNDS / 10; i++) {
        adsmBox boxes[7];
        for (int k = 0; k < 7; k++)
            boxes[k] = random_box(1 + i % 3, true);
        struct set all = set_of(boxes, 7);
        ck_assert_uint_eq(adsm_box_union_bytes(boxes, 7), size_of(&all));
    }
}
END_TEST

/* The bytes of a box in an array, in order, follow [begin, end). */
static size_t walk(const adsmBox *whole, const adsmBox *box, size_t at)
{
    size_t pitch[3];
    adsm_box_pitches(whole, pitch);
    adsmBox row = *box;
    int inner = box->nd - 1;
    long ends[3] = {1, 1, 1};
    for (int d = 0; d < inner; d++)
        ends[d] = box->hi[d] - box->lo[d];
    for (long z = 0; z < ends[0]; z++)
        for (long y = 0; y < ends[1]; y++) {
            if (inner > 0)
                row.lo[0] = box->lo[0] + z;
            if (inner > 1)
                row.lo[1] = box->lo[1] + y;
            ck_assert_uint_eq(adsm_box_offset(&row, whole, pitch), at);
            at += (size_t)(box->hi[inner] - box->lo[inner]);
        }
    return at;
}

START_TEST(interval_of_bytes_is_few_boxes_in_its_order)
{
    static const adsmBox shapes[] = {{1, {0}, {60}},      {2, {0}, {5, 12}},
                                     {3, {0}, {3, 4, 5}}, {3, {0}, {4, 1, 7}},
                                     {2, {0}, {1, 60}},   {3, {0}, {1, 5, 12}},
                                     {3, {0}, {12, 5, 1}}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t b = 0; b <= adsm_box_bytes(&shapes[s]); b++)
            for (size_t e = b; e <= adsm_box_bytes(&shapes[s]); e++) {
                adsmBox out[ADSM_BOX_CUTS];
                int n = adsm_box_of_bytes(&shapes[s], b, e, out);
                ck_assert_int_le(n, 2 * shapes[s].nd - 1);
                size_t at = b;
                for (int i = 0; i < n; i++) {
                    ck_assert(!adsm_box_is_empty(&out[i]));
                    at = walk(&shapes[s], &out[i], at);
                }
                ck_assert_uint_eq(at, e);
            }
}
END_TEST

START_TEST(volume_of_47_bits_is_exact)
{
    adsmBox whole = adsmR3(1L << 15, 1L << 16, 1L << 16), out[ADSM_BOX_CUTS];
    size_t bytes = (size_t)1 << 47, pitch[3];
    ck_assert_uint_eq(adsm_box_bytes(&whole), bytes);
    ck_assert_int_eq(adsm_box_of_bytes(&whole, 1, bytes - 1, out), 5);
    ck_assert_uint_eq(adsm_box_union_bytes(out, 5), bytes - 2);
    adsm_box_pitches(&whole, pitch);
    ck_assert_uint_eq(adsm_box_offset(&out[4], &whole, pitch),
                      bytes - (1 << 16));
}
END_TEST

START_TEST(box_of_a_sub_box_is_stored_relative_to_it)
{
    adsmBox copy = {2, {3, 40}, {9, 100}}, part = {2, {5, 44}, {6, 50}};
    size_t packed[3], wide[3] = {256, 1, 1};
    adsm_box_pitches(&copy, packed);
    ck_assert_uint_eq(adsm_box_offset(&part, &copy, packed), 2 * 60 + 4);
    ck_assert_uint_eq(adsm_box_offset(&part, &copy, wide), 2 * 256 + 4);
}
END_TEST

SUITE_MAIN("box", 60, intersection_and_relations_are_those_of_the_points,
           difference_is_few_disjoint_boxes,
           two_boxes_join_when_their_hull_has_no_other_point,
           bytes_of_a_union_are_counted_once,
           interval_of_bytes_is_few_boxes_in_its_order,
           volume_of_47_bits_is_exact,
           box_of_a_sub_box_is_stored_relative_to_it)

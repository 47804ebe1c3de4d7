/*
 * Cuts of ranges: random ones against what they must be, and those that matter
 * one by one. Needs no device.
 */
#include "common/draw.h"
#include "common/suite.h"
#include "call/split.h"

#include <math.h>
#include <string.h>

static struct adsm_split_part parts[ADSM_SPLIT_PARTS];
static int grid[3];

static struct adsm_split equal(adsmBox range, int devices)
{
    struct adsm_split split = {
        .range = range, .devices = devices, .may = {true, true, true}};
    for (int d = 0; d < devices; d++)
        split.share[d] = 1.0 / devices;
    return split;
}

static bool inside(const adsmBox *box, const long at[3])
{
    for (int d = 0; d < box->nd; d++)
        if (at[d] < box->lo[d] || at[d] >= box->hi[d])
            return false;
    return true;
}

/* Every index of the range in one part; none of them outside. */
static void check_cover(const adsmBox *range, int count)
{
    long at[3], volume = 0;
    for (int i = 0; i < count; i++) {
        long part = 1;
        ck_assert_int_eq(parts[i].box.nd, range->nd);
        for (int d = 0; d < range->nd; d++) {
            ck_assert_int_ge(parts[i].box.lo[d], range->lo[d]);
            ck_assert_int_le(parts[i].box.hi[d], range->hi[d]);
            ck_assert_int_gt(parts[i].box.hi[d], parts[i].box.lo[d]);
            part *= parts[i].box.hi[d] - parts[i].box.lo[d];
        }
        volume += part;
    }
    long whole = 1;
    for (int d = 0; d < range->nd; d++)
        whole *= range->hi[d] - range->lo[d];
    ck_assert_int_eq(volume, whole);
    for (int try = 0; try < 50 && count > 0; try++) {
        for (int d = 0; d < range->nd; d++)
            at[d] = range->lo[d] + below(range->hi[d] - range->lo[d]);
        int found = 0;
        for (int i = 0; i < count; i++)
            found += inside(&parts[i].box, at);
        ck_assert_int_eq(found, 1);
    }
}

static adsmBox random_range(void)
{
    adsmBox range = {.nd = 1 + (int)below(3)};
    for (int d = 0; d < range.nd; d++) {
        range.lo[d] = below(2) ? below(100) : 0;
        range.hi[d] = range.lo[d] + (below(4) ? below(60) : below(4));
    }
    return range;
}

static struct adsm_split random_split(void)
{
    struct adsm_split split = equal(random_range(), 1 + (int)below(6));
    double sum = 0;
    for (int d = 0; d < split.devices; d++)
        sum += split.share[d] = 1 + (double)below(9);
    for (int d = 0; d < split.devices; d++)
        split.share[d] /= sum;
    for (int d = 0; d < 3; d++) {
        split.may[d] = below(4) > 0;
        split.halo[d] = below(2) ? (double)below(9) : 0;
        split.grain[d] = below(3) ? 0 : 1 + below(8);
    }
    split.parts = below(2) ? (int)below(30) : 0;
    split.cyclic = below(2);
    split.align = below(3) ? 0 : 1 + below(8);
    for (int d = 0; d < split.range.nd && below(3) == 0; d++)
        split.tile[d] = below(40);
    return split;
}

static bool has_tiles(const struct adsm_split *split)
{
    return split->tile[0] || split->tile[1] || split->tile[2];
}

/* Parts begin at multiples of the grain, and of `align` in the dimension that
 * is cut first. */
static void check_alignment(const struct adsm_split *split, int count)
{
    int first = 0;
    while (first < 3 && grid[first] == 1)
        first++;
    for (int i = 0; i < count; i++)
        for (int d = 0; d < split->range.nd; d++) {
            long at = parts[i].box.lo[d], grain = split->grain[d];
            if (at == split->range.lo[d])
                continue;
            ck_assert(grain == 0 || at % grain == 0);
            ck_assert(d != first || split->align == 0 ||
                      at % split->align == 0);
        }
}

START_TEST(random_parts_are_disjoint_and_cover_the_range)
{
    for (int turn = 0; turn < 10000; turn++) {
        struct adsm_split split = random_split();
        int count = adsm_split_make(&split, parts, grid);
        if (count < 0)
            continue; /* tiles may be many */
        check_cover(&split.range, count);
        check_alignment(&split, count);
        int most = split.parts ? split.parts : split.devices;
        for (int i = 0; i < count; i++) {
            ck_assert_int_ge(parts[i].device, 0);
            ck_assert_int_lt(parts[i].device, split.devices);
        }
        if (has_tiles(&split))
            continue;
        ck_assert_int_le(count, most);
        for (int d = 0; d < 3; d++)
            ck_assert(split.may[d] || grid[d] == 1);
    }
}
END_TEST

/* Bytes of neighbours by counting the faces that parts have inside. */
static double faces(const struct adsm_split *split, int count)
{
    double bytes = 0;
    for (int i = 0; i < count; i++)
        for (int d = 0; d < split->range.nd; d++) {
            double face = split->halo[d];
            for (int e = 0; e < split->range.nd; e++)
                if (e != d)
                    face *= (double)(parts[i].box.hi[e] - parts[i].box.lo[e]);
            if (parts[i].box.lo[d] > split->range.lo[d])
                bytes += face;
        }
    return bytes;
}

START_TEST(no_other_grid_of_as_many_parts_has_less_neighbours)
{
    for (int turn = 0; turn < 2000; turn++) {
        struct adsm_split split = random_split();
        memset(split.tile, 0, sizeof split.tile);
        memset(split.grain, 0, sizeof split.grain);
        split.align = 0;
        for (int d = 0; d < split.devices; d++)
            split.share[d] = 1.0 / split.devices;
        int count = adsm_split_make(&split, parts, grid);
        double bytes = faces(&split, count);
        /* Every other grid, made of tiles that give it or nearly so. */
        for (int a = 1; a <= count; a++)
            for (int b = 1; count > 0 && count % a == 0 && b <= count / a;
                 b++) {
                int other[3] = {a, b, count / a / b};
                bool fits = count / a % b == 0;
                for (int d = 0; d < 3; d++) {
                    long n = d < split.range.nd
                                 ? split.range.hi[d] - split.range.lo[d]
                                 : 1;
                    fits = fits && other[d] <= n &&
                           (other[d] == 1 || split.may[d]);
                }
                double cost = 0;
                for (int d = 0; d < split.range.nd; d++) {
                    double face = split.halo[d] * (other[d] - 1);
                    for (int e = 0; e < split.range.nd; e++)
                        if (e != d)
                            face *=
                                (double)(split.range.hi[e] - split.range.lo[e]);
                    cost += face;
                }
                ck_assert(!fits || bytes <= cost * (1 + 1e-9));
            }
    }
}
END_TEST

START_TEST(equal_devices_get_equal_rows)
{
    struct adsm_split split = equal(adsmR2(100, 7), 4);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(parts[i].box.lo[0], 25 * i);
        ck_assert_int_eq(parts[i].box.hi[1], 7);
        ck_assert_int_eq(parts[i].device, i);
    }
}
END_TEST

START_TEST(overlap_of_rows_is_cut_by_columns_where_that_may_be)
{
    struct adsm_split split = equal(adsmR2(1000, 1000), 4);
    split.halo[0] = 8;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4);
    ck_assert_int_eq(grid[1], 4);
    split.may[1] = false;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4);
    ck_assert_int_eq(grid[0], 4);
}
END_TEST

START_TEST(overlap_in_both_directions_is_cut_into_squares)
{
    struct adsm_split split = equal(adsmR2(1000, 1000), 4);
    split.halo[0] = split.halo[1] = 8;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4);
    ck_assert_int_eq(grid[0], 2);
    ck_assert_int_eq(grid[1], 2);
    split.range = adsmR2(4000, 10);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4);
    ck_assert_int_eq(grid[0], 4);
}
END_TEST

START_TEST(faster_device_gets_more)
{
    struct adsm_split split = equal(adsmR1(1000), 3);
    split.share[0] = 0.5, split.share[1] = 0.3, split.share[2] = 0.2;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 3);
    ck_assert_int_eq(parts[0].box.hi[0], 500);
    ck_assert_int_eq(parts[1].box.hi[0], 800);
    /* In a grid of squares, too, each gets its area. */
    split = equal(adsmR2(1000, 1000), 4);
    split.halo[0] = split.halo[1] = 8;
    const double share[4] = {0.4, 0.1, 0.2, 0.3};
    memcpy(split.share, share, sizeof share);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4);
    for (int i = 0; i < 4; i++) {
        const adsmBox *b = &parts[i].box;
        ck_assert_int_eq((b->hi[0] - b->lo[0]) * (b->hi[1] - b->lo[1]),
                         lround(share[i] * 1e6));
    }
}
END_TEST

START_TEST(tiles_are_dealt_in_blocks_or_in_turn)
{
    struct adsm_split split = equal(adsmR2(8, 6), 2);
    split.tile[0] = 2, split.tile[1] = 3;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 8);
    ck_assert_int_eq(parts[1].box.lo[1], 3);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(parts[i].device, i / 4);
    split.cyclic = true;
    adsm_split_make(&split, parts, grid);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(parts[i].device, i % 2);
    split.tile[0] = 0;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 2);
    ck_assert_int_eq(parts[0].box.hi[0], 8);
}
END_TEST

START_TEST(few_indices_make_few_parts_and_none_make_none)
{
    struct adsm_split split = equal(adsmR1(3), 8);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(parts[i].device, i);
    split.range = adsmR1(0);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 0);
    split.range = adsmR2(5, 0);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 0);
    split.range = adsmR1(1);
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 1);
    ck_assert_int_eq(parts[0].device, 0);
}
END_TEST

START_TEST(too_many_parts_are_refused)
{
    struct adsm_split split = equal(adsmR2(1L << 40, 5), 2);
    split.tile[0] = 1;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), -1);
    split.tile[0] = 1L << 28;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), 4096);
    memset(split.tile, 0, sizeof split.tile);
    split.parts = ADSM_SPLIT_PARTS + 1;
    ck_assert_int_eq(adsm_split_make(&split, parts, grid), -1);
}
END_TEST

SUITE_MAIN("split", 60, random_parts_are_disjoint_and_cover_the_range,
           no_other_grid_of_as_many_parts_has_less_neighbours,
           equal_devices_get_equal_rows,
           overlap_of_rows_is_cut_by_columns_where_that_may_be,
           overlap_in_both_directions_is_cut_into_squares,
           faster_device_gets_more, tiles_are_dealt_in_blocks_or_in_turn,
           few_indices_make_few_parts_and_none_make_none,
           too_many_parts_are_refused)

/*
 * What the lanes of a warp exchange: votes, shuffles, matches, reductions.
 */
#include "common/suite.h"

#include "lanes.h"
#include "machine.h"

static uint32_t r_zero(const struct lane *l)
{
    return 0;
}

static uint32_t r_one(const struct lane *l)
{
    return 1;
}

static uint32_t r_popc16(const struct lane *l)
{
    return 16;
}

static uint32_t r_ballot(const struct lane *l)
{
    uint32_t mask = 0;
    for (int i = 0; i < 32; i++)
        mask |= (l->warp[i] & 1) << i;
    return mask;
}

/* The ballot of the lanes that took the branch: those of even number. */
static uint32_t r_even_ballot(const struct lane *l)
{
    return l->id % 2 ? 0xdead : r_ballot(l) & 0x55555555;
}

static uint32_t r_even_mask(const struct lane *l)
{
    return l->id % 2 ? 0xdead : 0x55555555;
}

static uint32_t r_all_mask(const struct lane *l)
{
    return 0xffffffff;
}

#define ODD           "and.b32 %s4,%s0,1; setp.ne.u32 %q0,%s4,0;"
#define EVEN_LANES    "and.b32 %s5,%s2,1; setp.ne.u32 %q5,%s5,0; @%q5 bra OUT;"
#define PREDICATE_OUT "selp.u32 %s7,1,0,%q1;"

START_TEST(votes_count_their_warp)
{
    static const struct lane_case cases[] = {
        {ODD "vote.sync.ballot.b32 %s7,%q0,0xffffffff;", r_ballot},
        {ODD "vote.sync.any.pred %q1,%q0,0xffffffff;" PREDICATE_OUT, r_one},
        {ODD "vote.sync.all.pred %q1,%q0,0xffffffff;" PREDICATE_OUT, r_zero},
        {ODD "vote.sync.uni.pred %q1,%q0,0xffffffff;" PREDICATE_OUT, r_zero},
        {"setp.lt.u32 %q0,%s2,1000;"
         "vote.sync.all.pred %q1,%q0,0xffffffff;" PREDICATE_OUT,
         r_one},
        {"setp.gt.u32 %q0,%s2,1000;"
         "vote.sync.uni.pred %q1,%q0,0xffffffff;" PREDICATE_OUT,
         r_one},
        {"setp.gt.u32 %q0,%s2,1000;"
         "vote.sync.any.pred %q1,%q0,0xffffffff;" PREDICATE_OUT,
         r_zero},
        {ODD "not.pred %q2,%q0; vote.sync.ballot.b32 %s7,!%q2,0xffffffff;",
         r_ballot},
        {ODD EVEN_LANES "vote.sync.ballot.b32 %s7,%q0,0x55555555; OUT:",
         r_even_ballot},
        {"activemask.b32 %s7;", r_all_mask},
        {EVEN_LANES "activemask.b32 %s7; OUT:", r_even_mask},
        {"and.b32 %s4,%s2,1; setp.eq.u32 %q0,%s4,0;"
         "vote.sync.ballot.b32 %s7,%q0,0xffffffff; popc.b32 %s7,%s7;",
         r_popc16},
    };
    LANES_CHECK(cases);
}
END_TEST

static uint32_t r_up(const struct lane *l)
{
    return l->warp[l->id >= 3 ? l->id - 3 : l->id];
}

static uint32_t r_down(const struct lane *l)
{
    return l->warp[l->id + 3 <= 31 ? l->id + 3 : l->id];
}

static uint32_t r_butterfly(const struct lane *l)
{
    return l->warp[l->id ^ 5];
}

static uint32_t r_index(const struct lane *l)
{
    return l->warp[(l->id * 7 + 1) & 31];
}

/* Segments of 8 lanes: c = 0x1800 | 7 for idx and down, 0x1800 for up. */
static uint32_t r_segment_down(const struct lane *l)
{
    return l->warp[(l->id & 7) + 3 <= 7 ? l->id + 3 : l->id];
}

static uint32_t r_segment_up(const struct lane *l)
{
    return l->warp[(l->id & 7) >= 3 ? l->id - 3 : l->id];
}

static uint32_t r_segment_first(const struct lane *l)
{
    return l->warp[l->id & ~7u];
}

static uint32_t r_segment_in_range(const struct lane *l)
{
    return (l->id & 7) + 3 <= 7;
}

/* Lanes of odd number stay away, or are no members. */
static uint32_t r_even_up(const struct lane *l)
{
    return l->id % 2 ? 0xdead : l->id >= 3 ? 0 : l->warp[l->id];
}

static uint32_t r_even_index(const struct lane *l)
{
    return l->id % 2 ? 0xdead : l->warp[2];
}

static uint32_t r_even_zero(const struct lane *l)
{
    return l->id % 2 ? 0xdead : 0;
}

static uint32_t r_even_members(const struct lane *l)
{
    return l->id % 2 ? 0 : l->warp[l->id ^ 4];
}

static uint32_t r_warp_sum(const struct lane *l)
{
    uint32_t sum = 0;
    for (int i = 0; i < 32; i++)
        sum += l->warp[i];
    return sum;
}

#define BUTTERFLY_SUM(n)                                                       \
    "shfl.sync.bfly.b32 %s8,%s7," #n ",31,0xffffffff; add.u32 %s7,%s7,%s8;"

START_TEST(shuffles_move_between_lanes)
{
    static const struct lane_case cases[] = {
        {"shfl.sync.up.b32 %s7,%s0,3,0,0xffffffff;", r_up},
        {"shfl.sync.down.b32 %s7,%s0,3,31,0xffffffff;", r_down},
        {"shfl.sync.bfly.b32 %s7,%s0,5,31,0xffffffff;", r_butterfly},
        {"mad.lo.u32 %s4,%s2,7,1; shfl.sync.idx.b32 %s7,%s0,%s4,31,0xffffffff;",
         r_index},
        {"shfl.sync.down.b32 %s7|%q1,%s0,3,0x1807,0xffffffff;", r_segment_down},
        {"shfl.sync.down.b32 %s4|%q1,%s0,3,0x1807,0xffffffff;" PREDICATE_OUT,
         r_segment_in_range},
        {"shfl.sync.up.b32 %s7,%s0,3,0x1800,0xffffffff;", r_segment_up},
        {"shfl.sync.idx.b32 %s7,%s0,0,0x1807,0xffffffff;", r_segment_first},
        {"mov.u32 %s7,%s0;" BUTTERFLY_SUM(16) BUTTERFLY_SUM(8) BUTTERFLY_SUM(4)
             BUTTERFLY_SUM(2) BUTTERFLY_SUM(1),
         r_warp_sum},
        {"redux.sync.add.u32 %s7,%s0,0xffffffff;", r_warp_sum},
        {EVEN_LANES "shfl.sync.up.b32 %s7,%s0,3,0,0x55555555; OUT:", r_even_up},
        {EVEN_LANES "shfl.sync.idx.b32 %s7,%s0,2,31,0x55555555; OUT:",
         r_even_index},
        {EVEN_LANES "shfl.sync.idx.b32 %s7,%s0,3,31,0x55555555; OUT:",
         r_even_zero},
        {"shfl.sync.bfly.b32 %s7,%s0,4,31,0x55555555;", r_even_members},
    };
    LANES_CHECK(cases);
}
END_TEST

static uint32_t r_min(const struct lane *l)
{
    uint32_t best = l->warp[0];
    for (int i = 1; i < 32; i++)
        best = l->warp[i] < best ? l->warp[i] : best;
    return best;
}

static uint32_t r_max_signed(const struct lane *l)
{
    int32_t best = INT32_MIN;
    for (int i = 0; i < 32; i++)
        best = (int32_t)(l->warp[i] << 7) > best ? (int32_t)(l->warp[i] << 7)
                                                 : best;
    return (uint32_t)best;
}

static uint32_t r_xor_all(const struct lane *l)
{
    uint32_t all = 0;
    for (int i = 0; i < 32; i++)
        all ^= l->warp[i];
    return all;
}

/* Lanes of the warp with the same low two bits. */
static uint32_t r_match(const struct lane *l)
{
    uint32_t mask = 0;
    for (int i = 0; i < 32; i++)
        mask |= (uint32_t)((l->warp[i] & 3) == (l->in & 3)) << i;
    return mask;
}

START_TEST(matches_and_reductions_see_the_warp)
{
    static const struct lane_case cases[] = {
        {"and.b32 %s4,%s0,3; match.any.sync.b32 %s7,%s4,0xffffffff;", r_match},
        {"and.b32 %s4,%s0,3; cvt.u64.u32 %l4,%s4; shl.b64 %l4,%l4,40;"
         "match.any.sync.b64 %s7,%l4,0xffffffff;",
         r_match},
        {"mov.u32 %s4,9; match.all.sync.b32 %s7|%q1,%s4,0xffffffff;",
         r_all_mask},
        {"match.all.sync.b32 %s7|%q1,%s0,0xffffffff;", r_zero},
        {"mov.u32 %s4,9; match.all.sync.b32 "
         "%s5|%q1,%s4,0xffffffff;" PREDICATE_OUT,
         r_one},
        {"redux.sync.min.u32 %s7,%s0,0xffffffff;", r_min},
        {"shl.b32 %s4,%s0,7; redux.sync.max.s32 %s7,%s4,0xffffffff;",
         r_max_signed},
        {"redux.sync.xor.b32 %s7,%s0,0xffffffff;", r_xor_all},
        {"mov.u32 %s4,6; redux.sync.and.b32 %s5,%s4,0xffffffff;"
         "sub.u32 %s7,%s5,5;",
         r_one},
        {"elect.sync _|%q1,0xffffffff; selp.u32 %s4,1,0,%q1;"
         "redux.sync.add.u32 %s7,%s4,0xffffffff;",
         r_one},
    };
    LANES_CHECK(cases);
}
END_TEST

/* Lanes that share a mask below: tiles of 8, or those of the same parity. */
static uint32_t tile(const struct lane *l)
{
    return 0xffu << (l->id & 24);
}

static uint32_t parity(const struct lane *l)
{
    return 0x55555555u << (l->id & 1);
}

static uint32_t r_tile(const struct lane *l)
{
    return tile(l);
}

static uint32_t r_tile_ballot(const struct lane *l)
{
    return r_ballot(l) & tile(l);
}

static uint32_t r_tile_any(const struct lane *l)
{
    return r_tile_ballot(l) != 0;
}

static uint32_t r_tile_uniform(const struct lane *l)
{
    return r_tile_ballot(l) == tile(l) || !r_tile_ballot(l);
}

static uint32_t r_first_tiles(const struct lane *l)
{
    return l->id < 16;
}

static uint32_t r_parity_sum(const struct lane *l)
{
    uint32_t sum = 0;
    for (int i = 0; i < 32; i++)
        sum += parity(l) >> i & 1 ? l->warp[i] : 0;
    return sum;
}

static uint32_t r_tile_sum(const struct lane *l)
{
    uint32_t sum = 0;
    for (int i = 0; i < 32; i++)
        sum += tile(l) >> i & 1 ? l->warp[i] : 0;
    return sum;
}

static uint32_t r_late_tile_sum(const struct lane *l)
{
    return l->id < 16 ? r_tile_sum(l) : 0xdead;
}

static uint32_t r_tile_match(const struct lane *l)
{
    return r_match(l) & tile(l);
}

/* What match.all says of id / 16: one value per tile, two per parity. */
static uint32_t r_tile_all(const struct lane *l)
{
    return l->id / 8 == 1 ? 0 : tile(l);
}

static uint32_t r_is_tile_leader(const struct lane *l)
{
    return (l->id & 7) == 0;
}

static uint32_t r_tile_leader(const struct lane *l)
{
    return l->id & 24;
}

/* 0 to 3 rounds of the butterfly, one count for each tile. */
static uint32_t r_rounds(const struct lane *l)
{
    uint32_t size = 1u << l->id / 8, sum = 0;
    for (uint32_t i = 0; i < size; i++)
        sum += l->warp[(l->id & ~(size - 1)) + i];
    return sum;
}

#define TILE   "and.b32 %s10,%s2,24; shl.b32 %s10,255,%s10;"
#define PARITY "and.b32 %s10,%s2,1; shl.b32 %s10,0x55555555,%s10;"
#define LANE   "and.b32 %s11,%s2,31;"

START_TEST(masks_part_the_warp)
{
    static const struct lane_case cases[] = {
        {TILE "setp.eq.u32 %q0,%s2,%s2; vote.sync.ballot.b32 %s7,%q0,%s10;",
         r_tile},
        {TILE ODD "vote.sync.ballot.b32 %s7,%q0,%s10;", r_tile_ballot},
        {TILE ODD "vote.sync.any.pred %q1,%q0,%s10;" PREDICATE_OUT, r_tile_any},
        {TILE ODD "vote.sync.uni.pred %q1,%q0,%s10;" PREDICATE_OUT,
         r_tile_uniform},
        {TILE LANE "setp.lt.u32 %q0,%s11,16;"
                   "vote.sync.all.pred %q1,%q0,%s10;" PREDICATE_OUT,
         r_first_tiles},
        {TILE LANE "setp.eq.u32 %q0,%s11,12;"
                   "vote.sync.any.pred %q1,%q0,%s10;" PREDICATE_OUT
                   "sub.u32 %s11,%s11,8; setp.lt.u32 %q1,%s11,8;"
                   "selp.u32 %s11,1,0,%q1; xor.b32 %s7,%s7,%s11;",
         r_zero},
        {TILE "redux.sync.add.u32 %s7,%s0,%s10;", r_tile_sum},
        {PARITY "redux.sync.add.u32 %s7,%s0,%s10;", r_parity_sum},
        {TILE LANE "setp.ge.u32 %q0,%s11,16; @%q0 bra OUT;"
                   "redux.sync.add.u32 %s7,%s0,%s10; OUT:",
         r_late_tile_sum},
        {TILE "and.b32 %s4,%s0,3; match.any.sync.b32 %s7,%s4,%s10;",
         r_tile_match},
        {TILE LANE "setp.eq.u32 %q0,%s11,12; selp.u32 %s4,1,0,%q0;"
                   "match.all.sync.b32 %s7|%q1,%s4,%s10;",
         r_tile_all},
        {TILE "elect.sync %s7|%q1,%s10;", r_tile_leader},
        {TILE "elect.sync _|%q1,%s10;" PREDICATE_OUT, r_is_tile_leader},
        /* tiles leave the loop one after the other */
        {TILE LANE "shr.u32 %s12,%s11,3; mov.u32 %s13,0; mov.u32 %s7,%s0;"
                   "LOOP: setp.ge.u32 %q0,%s13,%s12; @%q0 bra OUT;"
                   "shl.b32 %s14,1,%s13;"
                   "shfl.sync.bfly.b32 %s15,%s7,%s14,31,%s10;"
                   "add.u32 %s7,%s7,%s15; add.u32 %s13,%s13,1; bra LOOP; OUT:",
         r_rounds},
    };
    LANES_CHECK(cases);
}
END_TEST

/* Text for sm_50: no masks, the lanes that are here take part. */
#define OLD_HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"

START_TEST(old_forms_without_masks_see_the_lanes_that_are_here)
{
    static const struct lane_case cases[] = {
        {ODD "vote.ballot.b32 %s7,%q0;", r_ballot},
        {ODD "vote.all.pred %q1,%q0;" PREDICATE_OUT, r_zero},
        {ODD EVEN_LANES "vote.ballot.b32 %s7,%q0; OUT:", r_even_ballot},
        {EVEN_LANES "shfl.up.b32 %s7,%s0,3,0; OUT:", r_even_up},
    };
    lanes_check(OLD_HEAD, cases, sizeof cases / sizeof *cases);
}
END_TEST

START_TEST(old_forms_without_masks_work)
{
    static const char ptx[] = OLD_HEAD
        ".visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %l<4>;\n.reg .b32 %s<16>;\n.reg .pred %q<4>;\n"
        "ld.param.u64 %l0,[p];\nmov.u32 %s0,%tid.x;\n"
        "shfl.bfly.b32 %s1,%s0,1,31;\nshfl.down.b32 %s2|%q0,%s0,4,0x1f;\n"
        "selp.u32 %s3,1,0,%q0;\nand.b32 %s4,%s0,1;\n"
        "setp.ne.u32 %q1,%s4,0;\nvote.ballot.b32 %s5,%q1;\n"
        "vote.all.pred %q2,%q1;\nvote.any.pred %q3,%q1;\n"
        "selp.u32 %s6,2,0,%q2;\nselp.u32 %s7,4,0,%q3;\n"
        "add.u32 %s3,%s3,%s6;\nadd.u32 %s3,%s3,%s7;\n"
        "mad.wide.u32 %l1,%s0,16,%l0;\n"
        "st.global.v4.u32 [%l1],{%s1,%s2,%s3,%s5};\nret;\n}\n";
    machine_open();
    uint32_t *out = machine_alloc(64 * 16);
    uint64_t argument = machine_address(out);
    if (machine_run(ptx, 1, 64, &argument, 1) == SC_EXEC_OK) {
        for (uint32_t i = 0; i < 64; i++) {
            bool inside = i % 32 < 28;
            ck_assert_uint_eq(out[4 * i], i ^ 1);
            ck_assert_uint_eq(out[4 * i + 1], inside ? i + 4 : i);
            ck_assert_uint_eq(out[4 * i + 2], inside ? 5 : 4);
            ck_assert_uint_eq(out[4 * i + 3], 0xaaaaaaaa);
        }
    }
    machine_close();
}
END_TEST

SUITE_MAIN("softcuda warps", 30, votes_count_their_warp,
           shuffles_move_between_lanes, matches_and_reductions_see_the_warp,
           masks_part_the_warp, old_forms_without_masks_work,
           old_forms_without_masks_see_the_lanes_that_are_here)

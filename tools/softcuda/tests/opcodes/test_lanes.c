/*
 * What the lanes of a CTA do: special registers, barriers, divergence and its
 * joining, early exits, and what touches no result.
 */
#include "common/suite.h"

#include "lanes.h"
#include "machine.h"

static uint32_t r_tid(const struct lane *l)
{
    return l->tid;
}

static uint32_t r_ntid(const struct lane *l)
{
    return LANES_THREADS;
}

static uint32_t r_cta(const struct lane *l)
{
    return l->cta;
}

static uint32_t r_nctaid(const struct lane *l)
{
    return LANES_CTAS;
}

static uint32_t r_laneid(const struct lane *l)
{
    return l->id;
}

static uint32_t r_warpid(const struct lane *l)
{
    return l->tid / 32;
}

static uint32_t r_nwarpid(const struct lane *l)
{
    return LANES_THREADS / 32;
}

static uint32_t r_zero(const struct lane *l)
{
    return 0;
}

static uint32_t r_one(const struct lane *l)
{
    return 1;
}

static uint32_t r_mask_eq(const struct lane *l)
{
    return 1u << l->id;
}

static uint32_t r_mask_lt(const struct lane *l)
{
    return (1u << l->id) - 1;
}

static uint32_t r_mask_le(const struct lane *l)
{
    return r_mask_lt(l) | r_mask_eq(l);
}

static uint32_t r_mask_gt(const struct lane *l)
{
    return ~r_mask_le(l);
}

static uint32_t r_mask_ge(const struct lane *l)
{
    return ~r_mask_lt(l);
}

START_TEST(special_registers_hold_the_position)
{
    static const struct lane_case cases[] = {
        {"mov.u32 %s7,%tid.x;", r_tid},
        {"mov.u32 %s7,%tid.y;", r_zero},
        {"mov.u32 %s7,%tid.z;", r_zero},
        {"mov.u32 %s7,%ntid.x;", r_ntid},
        {"mov.u32 %s7,%ntid.y;", r_one},
        {"mov.u32 %s7,%ntid.z;", r_one},
        {"mov.u32 %s7,%ctaid.x;", r_cta},
        {"mov.u32 %s7,%ctaid.y;", r_zero},
        {"mov.u32 %s7,%ctaid.z;", r_zero},
        {"mov.u32 %s7,%nctaid.x;", r_nctaid},
        {"mov.u32 %s7,%nctaid.y;", r_one},
        {"mov.u32 %s7,%laneid;", r_laneid},
        {"mov.u32 %s7,%warpid;", r_warpid},
        {"mov.u32 %s7,%nwarpid; setp.ge.u32 %q0,%s7,3; selp.u32 %s7,3,0,%q0;",
         r_nwarpid},
        {"mov.u32 %s7,%lanemask_eq;", r_mask_eq},
        {"mov.u32 %s7,%lanemask_lt;", r_mask_lt},
        {"mov.u32 %s7,%lanemask_le;", r_mask_le},
        {"mov.u32 %s7,%lanemask_gt;", r_mask_gt},
        {"mov.u32 %s7,%lanemask_ge;", r_mask_ge},
        {"mov.u32 %s4,%smid; mov.u32 %s5,%nsmid; setp.lt.u32 %q0,%s4,%s5; "
         "selp.u32 %s7,1,0,%q0;",
         r_one},
        {"mov.u64 %l4,%gridid; cvt.u32.u64 %s4,%l4;"
         "match.all.sync.b32 %s5|%q0,%s4,0xffffffff; selp.u32 %s7,1,0,%q0;",
         r_one},
        {"mov.b16 %h0,%tid.x; cvt.u32.u16 %s7,%h0;", r_tid},
        {"cvt.u32.u16 %s7,%h0; cvt.u64.u32 %l4,%ctaid.x; "
         "cvt.u32.u64 %s7,%l4;",
         r_cta},
    };
    LANES_CHECK(cases);
}
END_TEST

/* Each is read until it is another value, which is then a later one. */
START_TEST(clocks_go_on)
{
    static const struct lane_case cases[] = {
        {"mov.u64 %l4,%clock64; AGAIN: mov.u64 %l5,%clock64;"
         "setp.eq.u64 %q0,%l4,%l5; @%q0 bra AGAIN;"
         "setp.lt.u64 %q0,%l4,%l5; selp.u32 %s7,1,0,%q0;",
         r_one},
        {"mov.u32 %s4,%clock; AGAIN: mov.u32 %s5,%clock;"
         "setp.eq.u32 %q0,%s4,%s5; @%q0 bra AGAIN;"
         "sub.s32 %s5,%s5,%s4; setp.gt.s32 %q0,%s5,0; selp.u32 %s7,1,0,%q0;",
         r_one},
        {"mov.u64 %l4,%globaltimer; AGAIN: mov.u64 %l5,%globaltimer;"
         "setp.eq.u64 %q0,%l4,%l5; @%q0 bra AGAIN;"
         "setp.lt.u64 %q0,%l4,%l5; selp.u32 %s7,1,0,%q0;",
         r_one},
    };
    LANES_CHECK(cases);
}
END_TEST

START_TEST(three_dimensions_number_every_thread)
{
    static const char ptx[] = MACHINE_HEAD
        ".visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %l<8>;\n.reg .b32 %s<32>;\n"
        "ld.param.u64 %l0,[p];\n"
        "mov.u32 %s0,%tid.z; mov.u32 %s1,%tid.y; mov.u32 %s2,%tid.x;\n"
        "mov.u32 %s3,%ntid.x; mov.u32 %s4,%ntid.y; mov.u32 %s5,%ntid.z;\n"
        "mad.lo.u32 %s6,%s0,%s4,%s1; mad.lo.u32 %s6,%s6,%s3,%s2;\n"
        "mov.u32 %s10,%ctaid.z; mov.u32 %s11,%ctaid.y;\n"
        "mov.u32 %s12,%ctaid.x; mov.u32 %s13,%nctaid.x;\n"
        "mov.u32 %s14,%nctaid.y;\n"
        "mad.lo.u32 %s15,%s10,%s14,%s11; mad.lo.u32 %s15,%s15,%s13,%s12;\n"
        "mul.lo.u32 %s16,%s3,%s4; mul.lo.u32 %s16,%s16,%s5;\n"
        "mad.lo.u32 %s17,%s15,%s16,%s6;\n"
        "mad.wide.u32 %l1,%s17,8,%l0;\nmov.u32 %s18,%laneid;\n"
        "add.u32 %s19,%s17,1;\nst.global.v2.u32 [%l1],{%s19,%s18};\nret;\n}\n";
    machine_open();
    enum { TOTAL = 5 * 3 * 2 * 3 * 2 * 2 };
    char log[256];
    struct sc_module *module;
    uint32_t *out = machine_alloc(TOTAL * 8);
    uint64_t argument = machine_address(out);
    ck_assert_msg(machine_load(&module, ptx, log, sizeof log) == SC_EXEC_OK,
                  "%s", log);
    struct sc_launch launch = {.grid = {3, 2, 2},
                               .block = {5, 3, 2},
                               .params = &argument,
                               .param_bytes = 8};
    ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, NULL), SC_EXEC_OK);
    for (uint32_t i = 0; i < TOTAL; i++) {
        ck_assert_uint_eq(out[2 * i], i + 1);
        ck_assert_uint_eq(out[2 * i + 1], i % 30 % 32);
    }
    sc_module_unload(module);
    machine_close();
}
END_TEST

static uint32_t r_mirrored(const struct lane *l)
{
    return lanes_input(
        (int)(l->cta * LANES_THREADS + LANES_THREADS - 1 - l->tid));
}

static bool odd(const struct lane *l, int other)
{
    return lanes_input((int)l->cta * LANES_THREADS + other) & 1;
}

static uint32_t r_odd_count(const struct lane *l)
{
    uint32_t n = 0;
    for (int i = 0; i < LANES_THREADS; i++)
        n += odd(l, i);
    return n;
}

/* Sum of the first 64 inputs of the CTA, halving with barriers. */
static uint32_t r_tree(const struct lane *l)
{
    uint32_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum += lanes_input((int)l->cta * LANES_THREADS + i);
    return sum;
}

#define STORE_IN                                                               \
    "mov.u32 %s4,sh; shl.b32 %s5,%s2,2; add.u32 %s6,%s4,%s5;"                  \
    "st.shared.u32 [%s6],%s0;"
#define LOAD_MIRRORED                                                          \
    "sub.u32 %s5,380,%s5; add.u32 %s6,%s4,%s5; ld.shared.u32 %s7,[%s6];"

START_TEST(barriers_order_shared_memory)
{
    static const struct lane_case cases[] = {
        {STORE_IN "bar.sync 0;" LOAD_MIRRORED, r_mirrored},
        {STORE_IN "barrier.sync 0;" LOAD_MIRRORED, r_mirrored},
        {STORE_IN "barrier.sync.aligned 3;" LOAD_MIRRORED, r_mirrored},
        {STORE_IN "bar.sync 1,96;" LOAD_MIRRORED, r_mirrored},
        {STORE_IN "barrier.cta.sync.aligned 0;" LOAD_MIRRORED, r_mirrored},
        {STORE_IN "membar.cta; fence.acq_rel.cta; bar.sync 0;" LOAD_MIRRORED,
         r_mirrored},
        {STORE_IN "bar.warp.sync 0xffffffff; bar.sync 0;" LOAD_MIRRORED,
         r_mirrored},
        {"and.b32 %s4,%s0,1; setp.ne.u32 %q0,%s4,0; "
         "bar.red.popc.u32 %s7,0,%q0;",
         r_odd_count},
        {"and.b32 %s4,%s0,1; setp.eq.u32 %q0,%s4,0; "
         "barrier.red.popc.u32 %s7,0,!%q0;",
         r_odd_count},
        {"setp.ge.u32 %q0,%s0,0; bar.red.and.pred %q1,0,%q0; "
         "selp.u32 %s7,1,0,%q1;",
         r_one},
        {"setp.eq.u32 %q0,%s2,17; bar.red.and.pred %q1,0,%q0; "
         "selp.u32 %s7,1,0,%q1;",
         r_zero},
        {"setp.eq.u32 %q0,%s2,17; bar.red.or.pred %q1,0,%q0; "
         "selp.u32 %s7,1,0,%q1;",
         r_one},
        {STORE_IN "bar.sync 0; mov.u32 %s8,32;"
                  "HALVE: setp.lt.u32 %q0,%s2,%s8; @!%q0 bra JOIN;"
                  "shl.b32 %s9,%s8,2; add.u32 %s10,%s6,%s9;"
                  "ld.shared.u32 %s11,[%s6]; ld.shared.u32 %s12,[%s10];"
                  "add.u32 %s11,%s11,%s12; st.shared.u32 [%s6],%s11;"
                  "JOIN: bar.sync 0; shr.u32 %s8,%s8,1;"
                  "setp.ne.u32 %q1,%s8,0; @%q1 bra HALVE;"
                  "ld.shared.u32 %s7,[sh];",
         r_tree},
    };
    LANES_CHECK(cases);
}
END_TEST

static uint32_t r_collatz(const struct lane *l)
{
    uint32_t n = l->in | 1, steps = 0;
    for (; n != 1 && steps < 500; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

/* Four ways by the low bits, two of them falling through. */
static uint32_t r_switch(const struct lane *l)
{
    static const uint32_t results[] = {101, 12, 2, 1003};
    return results[l->in & 3];
}

static uint32_t r_nested(const struct lane *l)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= (l->tid & 7); i++)
        for (uint32_t j = i; j < (l->in & 15); j++)
            sum += j % 3 == 1 ? 1 : i;
    return sum;
}

static uint32_t r_early(const struct lane *l)
{
    return l->tid % 3 ? l->in : 0;
}

static uint32_t r_survivors(const struct lane *l)
{
    return l->tid % 3 ? LANES_THREADS / 3 * 2 : 0;
}

static uint32_t r_in(const struct lane *l)
{
    return l->in;
}

static uint32_t r_in_and_tid(const struct lane *l)
{
    return l->in ^ l->tid * 3;
}

/* Tid, input, input, tid in the lane's 16 bytes, their address in %s4. */
#define FOUR_WORDS                                                             \
    "mov.u32 %s4,sh; shl.b32 %s5,%s2,4; add.u32 %s4,%s4,%s5;"                  \
    "st.shared.v4.u32 [%s4],{%s2,%s0,%s0,%s2};"

START_TEST(destinations_may_overlap_sources)
{
    static const struct lane_case cases[] = {
        {FOUR_WORDS "ld.shared.v2.u32 {%s4,%s7},[%s4];", r_in},
        {FOUR_WORDS "ld.shared.v2.u32 {%s7,%s4},[%s4];", r_tid},
        {FOUR_WORDS "ld.shared.v4.u32 {%s8,%s4,%s7,%s9},[%s4];", r_in},
        {FOUR_WORDS "ld.shared.v4.u32 {%s4,%s8,%s9,%s7},[%s4];", r_tid},
        {"ld.global.u32 %s0,[%l0]; cvta.to.global.u64 %l4,%l0;"
         "cvta.global.u64 %l4,%l4; ld.u32 %s7,[%l4];",
         r_in},
        {"st.shared.u64 [sh],%l0; bar.sync 0; mov.u32 %s7,%s2;"
         "mov.u64 %l4,sh; ld.shared.u64 %l4,[%l4];",
         r_tid},
        {FOUR_WORDS "mov.u32 %s7,%s4; atom.shared.add.u32 %s7,[%s7+4],%s7;",
         r_in},
        {"mov.b64 %l4,{%s0,%s2}; mov.b64 {%s2,%s0},%l4;"
         "mad.lo.u32 %s8,%s0,3,0; xor.b32 %s7,%s2,%s8;",
         r_in_and_tid},
        {"mov.u32 %s7,%s0; mov.b32 {%h0,%h1},%s7; mov.b32 %s7,{%h0,%h1};",
         r_in},
        {"setp.eq.u32 %q0,%s2,%s2; setp.ne.and.u32 %q0|%q1,%s2,%s2,%q0;"
         "selp.u32 %s7,5,1,%q0; selp.u32 %s7,%s7,7,%q1;",
         r_one},
        {"cvt.u64.u32 %l4,%s0; mad.wide.u32 %l4,%s2,3,%l4;"
         "cvt.u32.u64 %s8,%l4; mul.lo.u32 %s9,%s2,3; sub.u32 %s7,%s8,%s9;",
         r_in},
        {"mov.u32 %s7,%s0; shfl.sync.bfly.b32 %s7,%s7,0,31,0xffffffff;", r_in},
    };
    LANES_CHECK(cases);
}
END_TEST

START_TEST(divergent_lanes_come_together)
{
    static const struct lane_case cases[] = {
        {"or.b32 %s4,%s0,1; mov.u32 %s7,0;"
         "LOOP: setp.eq.u32 %q0,%s4,1; @%q0 bra DONE;"
         "setp.ge.u32 %q3,%s7,500; @%q3 bra DONE;"
         "and.b32 %s5,%s4,1; setp.eq.u32 %q1,%s5,0; add.u32 %s7,%s7,1;"
         "@%q1 bra EVEN; mad.lo.u32 %s4,%s4,3,1; bra LOOP;"
         "EVEN: shr.u32 %s4,%s4,1; bra LOOP; DONE:",
         r_collatz},
        {"and.b32 %s4,%s0,3; mov.u32 %s7,0;"
         "setp.eq.u32 %q0,%s4,0; @%q0 bra ZERO;"
         "setp.eq.u32 %q0,%s4,1; @%q0 bra ONE;"
         "setp.eq.u32 %q0,%s4,3; @%q0 bra.uni THREE; mov.u32 %s7,2; bra END;"
         "THREE: mov.u32 %s7,1003; bra END;"
         "ONE: mov.u32 %s7,12; bra END;"
         "ZERO: add.u32 %s7,%s7,101; END:",
         r_switch},
        {"and.b32 %s8,%s2,7; and.b32 %s9,%s0,15; mov.u32 %s7,0; mov.u32 %s4,0;"
         "OUTER: mov.u32 %s5,%s4;"
         "INNER: setp.ge.u32 %q0,%s5,%s9; @%q0 bra NEXT;"
         "rem.u32 %s6,%s5,3; setp.eq.u32 %q1,%s6,1;"
         "@%q1 add.u32 %s7,%s7,1; @!%q1 add.u32 %s7,%s7,%s4;"
         "add.u32 %s5,%s5,1; bra INNER;"
         "NEXT: add.u32 %s4,%s4,1; setp.le.u32 %q2,%s4,%s8; @%q2 bra OUTER;",
         r_nested},
        {"rem.u32 %s4,%s2,3; setp.eq.u32 %q0,%s4,0; @%q0 ret; mov.u32 %s7,%s0;",
         r_early},
        {"rem.u32 %s4,%s2,3; setp.eq.u32 %q0,%s4,0; @%q0 exit; "
         "mov.u32 %s7,%s0;",
         r_early},
        /* Lanes that have left do not hold up the barrier. */
        {"st.shared.u32 [sh],0; bar.sync 0;"
         "rem.u32 %s4,%s2,3; setp.eq.u32 %q0,%s4,0; @%q0 exit;"
         "red.shared.add.u32 [sh],1; bar.sync 0; ld.shared.u32 %s7,[sh];",
         r_survivors},
        {"and.b32 %s4,%s0,3; TABLE: .branchtargets B0,B1,B2,B3;"
         "brx.idx %s4,TABLE;"
         "B0: mov.u32 %s7,101; bra BE; B1: mov.u32 %s7,12; bra BE;"
         "B2: mov.u32 %s7,2; bra BE; B3: mov.u32 %s7,1003; BE:",
         r_switch},
        {"{ .reg .b32 %s0; mov.u32 %s0,5; { .reg .b32 %s0; mov.u32 %s0,6; }"
         "sub.u32 %s7,%s0,4; }",
         r_one},
    };
    LANES_CHECK(cases);
}
END_TEST

/* Only some lanes execute it, and what they and the others hold stays. */
#define SOME_LANES(statements)                                                 \
    "and.b32 %s4,%s0,1; setp.ne.u32 %q0,%s4,0; mov.u32 %s7,%s0;"               \
    "@%q0 bra OVER;" statements "OVER: xor.b32 %s7,%s7,%s0;"                   \
    "ld.global.u32 %s8,[%l0]; xor.b32 %s7,%s7,%s8;"

START_TEST(hints_change_no_value)
{
    static const struct lane_case cases[] = {
        {SOME_LANES("nanosleep.u32 20;"), r_in},
        {SOME_LANES("prefetch.global.L2 [%l0];"), r_in},
        {SOME_LANES("prefetchu.L1 [%l0];"), r_in},
        {SOME_LANES("pmevent 3;"), r_in},
        {SOME_LANES("griddepcontrol.wait;"), r_in},
        {SOME_LANES("griddepcontrol.launch_dependents;"), r_in},
        {SOME_LANES("applypriority.global.L2::evict_normal [%l0],128;"), r_in},
        {SOME_LANES("membar.gl;"), r_in},
        {STORE_IN "membar.gl; membar.sys; fence.sc.gpu; fence.acq_rel.sys;"
                  "bar.sync 0;" LOAD_MIRRORED,
         r_mirrored},
    };
    LANES_CHECK(cases);
}
END_TEST

SUITE_MAIN("softcuda lanes", 30, special_registers_hold_the_position,
           clocks_go_on, three_dimensions_number_every_thread,
           barriers_order_shared_memory, destinations_may_overlap_sources,
           divergent_lanes_come_together, hints_change_no_value)

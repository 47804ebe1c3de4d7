/*
 * What generated text does not do twice: gather, check, save. Results are the
 * business of the other tests; here the ways that cost time are counted.
 */
#include "build_test.h"

#include "../opcodes/machine.h"
#include "exec/module.h"
#include "native/native.h"

#define HEAD                                                                   \
    ".version 8.5\n.target sm_70\n.address_size 64\n"                          \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"   \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .f32 %f<8>;\n" \
    ".shared .align 4 .b8 tile[1024];\n"                                       \
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, "      \
    "[n];\n"                                                                   \
    "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n"                            \
    "mad.lo.s32 %r4, %r3, 256, %r2;\n"
#define END "ret;\n}\n"

static char *text_for(const char *ptx, uint32_t x, uint32_t y,
                      enum sc_native_isa isa)
{
    char log[256] = "";
    struct sc_module *module = NULL;
    struct sc_native_code code;
    const uint32_t block[3] = {x, y, 1};
    machine_open();
    enum sc_exec_status status = machine_load(&module, ptx, log, sizeof log);
    ck_assert_msg(status == SC_EXEC_OK, "%s", log);
    const struct sc_build_kernel *native = &module->kernels[0].native;
    ck_assert_msg(
        sc_native_generate(native->ir, native->func, block, isa, &code), "%s",
        code.why);
    sc_module_unload(module);
    machine_close();
    return code.text;
}

static char *text_of(const char *ptx)
{
    return text_for(ptx, 256, 1, SC_NATIVE_AVX2);
}

/* Lanes of a group, of 16 to a vector. */
static unsigned group_of(const char *ptx, uint32_t x, uint32_t y)
{
    char *text = text_for(ptx, x, y, SC_NATIVE_AVX512);
    const char *at = strstr(text, " GROUP = ");
    unsigned group = 0;
    ck_assert(at && sscanf(at, " GROUP = %u", &group) == 1);
    free(text);
    return group;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

START_TEST(index_made_alike_on_both_ways_needs_no_gather)
{
    char *text =
        text_of(HEAD "setp.lt.s32 %p1, %r4, %r1; @%p1 bra IN;\n"
                     "cvt.s64.s32 %d3, %r2; mov.f32 %f1, 0f00000000;\n"
                     "bra.uni BOTH;\nIN: cvt.s64.s32 %d3, %r2;\n"
                     "mul.wide.s32 %d4, %r4, 4; add.s64 %d5, %d1, %d4;\n"
                     "ld.global.f32 %f1, [%d5];\nBOTH:\n"
                     "mov.u64 %d6, tile; shl.b64 %d7, %d3, 2;\n"
                     "add.s64 %d8, %d6, %d7; st.shared.f32 [%d8], %f1;\n"
                     "bar.sync 0; ld.shared.f32 %f2, [%d8];\n"
                     "mul.wide.s32 %d9, %r4, 4; add.s64 %d10, %d2, %d9;\n"
                     "st.global.f32 [%d10], %f2;\n" END);
    ck_assert_uint_eq(count(text, "ldo_near_u32(shared"), 0);
    ck_assert_uint_eq(count(text, "sto_near_u32(shared"), 0);
    free(text);
}
END_TEST

START_TEST(group_with_all_lanes_asks_once_for_all_its_accesses)
{
    char *text =
        text_of(HEAD "setp.ge.s32 %p1, %r4, %r1; @%p1 bra DONE;\n"
                     "mul.wide.s32 %d3, %r4, 4; add.s64 %d4, %d1, %d3;\n"
                     "ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d4+4];\n"
                     "sub.s32 %r5, %r4, %r1; mul.wide.s32 %d5, %r5, 4;\n"
                     "add.s64 %d6, %d1, %d5; ld.global.f32 %f3, [%d6];\n"
                     "add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3;\n"
                     "add.s64 %d7, %d2, %d3; st.global.f32 [%d7], %f1;\n"
                     "DONE: " END);
    ck_assert_uint_eq(count(text, "if (__builtin_expect(sure, 1))"), 1);
    ck_assert_uint_eq(count(text, "const int fast = 1;"), 2 * 4);
    free(text);
}
END_TEST

START_TEST(barrier_saves_what_was_set_since_the_last)
{
    char *text =
        text_of(HEAD "mul.wide.s32 %d3, %r4, 4; add.s64 %d4, %d1, %d3;\n"
                     "ld.global.f32 %f1, [%d4]; mov.u32 %r5, tile;\n"
                     "mad.lo.s32 %r6, %r2, 4, %r5;\n"
                     "st.shared.f32 [%r6], %f1; bar.sync 0;\n"
                     "xor.b32 %r7, %r2, 1; mad.lo.s32 %r8, %r7, 4, %r5;\n"
                     "ld.shared.f32 %f2, [%r8]; bar.sync 0;\n"
                     "st.shared.f32 [%r6], %f2; bar.sync 0;\n"
                     "ld.shared.f32 %f3, [%r8]; add.f32 %f3, %f3, %f1;\n"
                     "st.global.f32 [%d4], %f3;\n" END);
    /* saved and fetched: %f1 1 and 3 times, %r8 1 and 2, %f2 1 and 1 */
    ck_assert_uint_eq(count(text, "save->v"), 9);
    free(text);
}
END_TEST

/* %r7: the thread's word of `tile`, %r9 of `more`, %d4 of `in` */
#define OWN                                                                    \
    ".shared .align 4 .b8 more[1024];\n"                                       \
    "mov.u32 %r20, %tid.y; mov.u32 %r21, %ntid.x;\n"                           \
    "mad.lo.u32 %r22, %r20, %r21, %r2; shl.b32 %r5, %r22, 2;\n"                \
    "mov.u32 %r6, tile; add.u32 %r7, %r6, %r5;\n"                              \
    "mov.u32 %r8, more; add.u32 %r9, %r8, %r5;\n"                              \
    "mul.wide.s32 %d3, %r4, 4; add.s64 %d4, %d1, %d3;\n"                       \
    "add.s64 %d5, %d2, %d3;\n"

START_TEST(lanes_that_stay_apart_keep_their_groups)
{
    static const char tiles[] =
        HEAD OWN "mov.u32 %r10, 0;\nL: ld.global.f32 %f1, [%d4];\n"
                 "st.shared.f32 [%r7], %f1; st.shared.f32 [%r9], %f1;\n"
                 "bar.sync 0; ld.shared.f32 %f2, [%r6+12];\n"
                 "ld.shared.f32 %f3, [%r8+20]; fma.rn.f32 %f4, %f2, %f3, %f4;\n"
                 "bar.sync 0; add.u32 %r10, %r10, 1; add.s64 %d4, %d4, 64;\n"
                 "setp.lt.u32 %p1, %r10, %r1; @%p1 bra L;\n"
                 "st.global.f32 [%d5], %f4;\n" END;
    static const char update[] =
        HEAD OWN "ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d5];\n"
                 "fma.rn.f32 %f1, %f1, %f2, %f2;\n"
                 "st.global.f32 [%d5], %f1;\n" END;
    static const char own[] =
        HEAD OWN "ld.global.f32 %f1, [%d4]; st.shared.f32 [%r7], %f1;\n"
                 "ld.shared.f32 %f2, [%r7]; st.global.f32 [%d5], %f2;\n" END;
    static const char rim[] = HEAD OWN
        "ld.global.f32 %f1, [%d4]; mad.lo.s32 %r24, %r20, 72, %r6;\n"
        "shl.b32 %r25, %r2, 2; add.u32 %r26, %r24, %r25;\n"
        "st.shared.f32 [%r26+76], %f1; setp.ne.u32 %p1, %r2, 0;\n"
        "@%p1 bra A; st.shared.f32 [%r24+72], %f1;\n"
        "A: setp.ne.u32 %p2, %r2, 15; @%p2 bra B;\n"
        "st.shared.f32 [%r24+140], %f1;\nB: setp.ne.u32 %p3, %r20, "
        "0; add.u32 %r27, %r6, %r25; @%p3 bra C;\n"
        "st.shared.f32 [%r27+4], %f1;\nC: bar.sync 0;\n"
        "ld.shared.f32 %f2, [%r26+72]; st.global.f32 [%d5], %f2;\n" END;
    ck_assert_uint_eq(group_of(rim, 16, 16), 16);
    ck_assert_uint_eq(group_of(tiles, 16, 16), 16);
    ck_assert_uint_eq(group_of(tiles, 256, 1), 16);
    ck_assert_uint_eq(group_of(update, 16, 16), 16);
    ck_assert_uint_eq(group_of(update, 256, 1), 16);
    ck_assert_uint_eq(group_of(own, 256, 1), 16);
    ck_assert_uint_eq(group_of(own, 16, 1), 16);
}
END_TEST

START_TEST(lanes_that_may_meet_are_whole_warps)
{
    static const char half[] = /* two lanes of a warp have one word each */
        HEAD "and.b32 %r5, %r2, 15; shl.b32 %r5, %r5, 2; mov.u32 %r6, tile;\n"
             "add.u32 %r7, %r6, %r5; st.shared.u32 [%r7], %r2;\n"
             "ld.shared.u32 %r8, [%r7]; st.global.u32 [%d2], %r8;\n" END;
    static const char around[] = /* in the next round of a loop */
        HEAD OWN "mov.u32 %r10, 0;\nL: ld.shared.f32 %f1, [%r7];\n"
                 "bar.sync 0; st.shared.f32 [%r7+4], %f1;\n"
                 "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, %r1;\n"
                 "@%p1 bra L; st.global.f32 [%d5], %f1;\n" END;
    static const char next[] =
        HEAD OWN "ld.global.f32 %f1, [%d4+4]; st.global.f32 [%d4], %f1;\n" END;
    static const char counted[] =
        HEAD OWN "atom.shared.add.u32 %r10, [%r6], 1;\n"
                 "ld.shared.u32 %r11, [%r6]; st.global.u32 [%d5], %r11;\n" END;
    ck_assert_uint_eq(group_of(half, 256, 1), 32);
    ck_assert_uint_eq(group_of(half, 16, 1), 16);
    ck_assert_uint_eq(group_of(around, 256, 1), 32);
    ck_assert_uint_eq(group_of(next, 256, 1), 32);
    ck_assert_uint_eq(group_of(counted, 256, 1), 32);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        index_made_alike_on_both_ways_needs_no_gather,
        group_with_all_lanes_asks_once_for_all_its_accesses,
        barrier_saves_what_was_set_since_the_last,
        lanes_that_stay_apart_keep_their_groups,
        lanes_that_may_meet_are_whole_warps};
    return suite_run("softcuda native text", cases,
                     sizeof cases / sizeof *cases, 60);
}

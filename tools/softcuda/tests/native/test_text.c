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

static char *text_of(const char *ptx)
{
    char log[256] = "";
    struct sc_module *module = NULL;
    struct sc_native_code code;
    const uint32_t block[3] = {256, 1, 1};
    machine_open();
    enum sc_exec_status status = machine_load(&module, ptx, log, sizeof log);
    ck_assert_msg(status == SC_EXEC_OK, "%s", log);
    const struct sc_build_kernel *native = &module->kernels[0].native;
    ck_assert_msg(sc_native_generate(native->ir, native->func, block,
                                     SC_NATIVE_AVX2, &code),
                  "%s", code.why);
    sc_module_unload(module);
    machine_close();
    return code.text;
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

int main(void)
{
    const TTest *const cases[] = {
        index_made_alike_on_both_ways_needs_no_gather,
        group_with_all_lanes_asks_once_for_all_its_accesses,
        barrier_saves_what_was_set_since_the_last};
    return suite_run("softcuda native text", cases, 3, 60);
}

/*
 * Addresses in registers of 32 bits, which go round at 2^32, as native code:
 * every space, width and shape, and what the interpreter leaves.
 */
#include "twice.h"

static void all(const char *text)
{
    struct twice t = {.text = text, .grid = {2}, .block = {96}};
    ck_assert_int_eq(twice(&t), SC_EXEC_OK);
    t.block[0] = 45;
    ck_assert_int_eq(twice(&t), SC_EXEC_OK);
}

#define END "st.global.u32 [%d3], %r9;\nret;\n}\n"
/* %r10 the thread's word of `s` less 64 KiB, %r11 the same word of all */
#define BELOW                                                                  \
    ".shared .align 16 .b8 s[4096];",                                          \
        "mov.u32 %r10, s; shl.b32 %r12, %r1, 5; sub.u32 %r11, %r10, 65536;\n"  \
        "add.u32 %r10, %r11, %r12;\n"
#define KERNEL_(variables, start, text) TWICE_HEAD(variables) start text END
#define KERNEL(head, text)              KERNEL_(head, text)

START_TEST(linear_addresses_go_round)
{
    all(KERNEL(BELOW, "st.shared.u32 [%r10+65536], %r1;\n"
                      "st.shared.u8 [%r10+65541], %r2;\n"
                      "st.shared.u16 [%r10+65542], %r2;\n"
                      "st.shared.u64 [%r10+65544], %d2;\nbar.sync 0;\n"
                      "ld.shared.u32 %r3, [%r10+65536];\n"
                      "ld.shared.s8 %r4, [%r10+65541];\n"
                      "ld.shared.u16 %r5, [%r10+65542];\n"
                      "xor.b32 %r9, %r3, %r4; xor.b32 %r9, %r9, %r5;\n"));
}
END_TEST

START_TEST(words_side_by_side_go_round)
{
    all(KERNEL(BELOW, "shl.b32 %r12, %r1, 2; add.u32 %r13, %r11, %r12;\n"
                      "st.shared.u32 [%r13+65540], %r2;\nbar.sync 0;\n"
                      "setp.lt.u32 %p1, %r1, 40;\nmov.u32 %r9, 5;\n"
                      "@%p1 ld.shared.u32 %r9, [%r13+65540];\n"));
}
END_TEST

START_TEST(vectors_go_round)
{
    all(KERNEL(BELOW,
               "st.shared.v4.u32 [%r10+65536], {%r1, %r2, %r0, %r1};\n"
               "st.shared.v2.u64 [%r10+65552], {%d2, %d2};\nbar.sync 0;\n"
               "ld.shared.v2.u32 {%r3, %r4}, [%r10+65536];\n"
               "ld.shared.v4.u16 {%h1, %h2, %h3, %h4}, [%r10+65544];\n"
               "xor.b32 %r9, %r3, %r4; cvt.u32.u16 %r5, %h3;\n"
               "xor.b32 %r9, %r9, %r5;\n"));
}
END_TEST

START_TEST(uniform_addresses_go_round)
{
    all(KERNEL(BELOW, "st.shared.u32 [%r11+65540], %r0;\nbar.sync 0;\n"
                      "ld.shared.u32 %r9, [%r11+65540];\n"));
}
END_TEST

START_TEST(scattered_addresses_go_round)
{
    all(KERNEL(BELOW, "xor.b32 %r12, %r1, 5; mad.lo.u32 %r12, %r12, 24, %r11;\n"
                      "st.shared.u32 [%r12+65536], %r1;\n"
                      "st.shared.v2.u32 [%r12+65544], {%r2, %r1};\n"
                      "bar.sync 0;\nld.shared.u32 %r9, [%r12+65536];\n"
                      "ld.shared.u32 %r8, [%r12+65548];\n"
                      "add.u32 %r9, %r9, %r8;\n"));
}
END_TEST

/* Lane 3 and those behind it lie above 0. */
START_TEST(lanes_on_both_sides_go_round)
{
    all(KERNEL(BELOW, "shl.b32 %r12, %r1, 2; sub.u32 %r13, %r12, 12;\n"
                      "setp.gt.u32 %p1, %r1, 2;\nmov.u32 %r9, 7;\n"
                      "@%p1 st.shared.u32 [%r13], %r1;\nbar.sync 0;\n"
                      "st.shared.u32 [%r13+12], %r1;\nbar.sync 0;\n"
                      "@%p1 ld.shared.u32 %r9, [%r13];\n"));
}
END_TEST

START_TEST(local_addresses_go_round)
{
    all(KERNEL_(".local .align 16 .b8 l[64];",
                "mov.u32 %r10, l; sub.u32 %r10, %r10, 4096;\n"
                "and.b32 %r12, %r1, 3; shl.b32 %r12, %r12, 2;\n"
                "add.u32 %r11, %r10, %r12;\n",
                "st.local.v4.u32 [%r10+4096], {%r1, %r2, %r0, %r1};\n"
                "st.local.u16 [%r10+4112], %h1;\n"
                "ld.local.u32 %r9, [%r11+4096];\n"));
}
END_TEST

START_TEST(parameter_addresses_go_round)
{
    all(KERNEL_("", "mov.b32 %r10, n; sub.u32 %r10, %r10, 64;\n",
                "ld.param.u32 %r9, [%r10+64];\n"));
}
END_TEST

START_TEST(constant_addresses_go_round)
{
    all(PTX_HEAD
        ".const .align 16 .u32 c[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
        ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n"
        "{\n.reg .b32 %r<16>; .reg .b64 %d<4>;\n"
        "ld.param.u64 %d0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, c;\n"
        "and.b32 %r3, %r1, 7; mad.lo.u32 %r3, %r3, 4, %r2;\n"
        "shl.b32 %r4, %r1, 2; and.b32 %r4, %r4, 16; add.u32 %r4, %r4, %r2;\n"
        "sub.u32 %r3, %r3, 64;\nld.const.u32 %r5, [%r3+64];\n"
        "ld.const.u32 %r6, [%r2+12];\n"
        "ld.const.v4.u32 {%r7, %r8, %r9, %r10}, [%r4];\n"
        "add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r10;\n"
        "mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1;\n"
        "st.global.u32 [%d1], %r5;\nret;\n}\n");
}
END_TEST

START_TEST(atomics_go_round)
{
    all(KERNEL(BELOW,
               "st.shared.v4.u32 [%r10+65536], {%r1, 0, %r0, %r2};\n"
               "bar.sync 0;\natom.shared.add.u32 %r9, [%r10+65536], %r1;\n"
               "atom.shared.cas.b32 %r8, [%r10+65540], 0, %r1;\n"
               "red.shared.add.u32 [%r11+65544], 3;\n"
               "atom.shared.max.s64 %d9, [%r10+65536], %d2;\n"
               "red.shared.xor.b32 [%r10+65548], %r1;\nbar.sync 0;\n"
               "ld.shared.u32 %r7, [%r11+65544];\n"
               "add.u32 %r9, %r9, %r8; add.u32 %r9, %r9, %r7;\n"));
}
END_TEST

/* Several accesses behind one base are checked together. */
START_TEST(ranges_go_round)
{
    all(KERNEL(BELOW, "st.shared.u32 [%r10+65536], %r1;\n"
                      "st.shared.u32 [%r10+65540], %r2;\n"
                      "st.shared.u32 [%r10+65560], %r2;\n"
                      "ld.shared.u32 %r3, [%r10+65540];\n"
                      "ld.shared.u32 %r4, [%r10+65560];\n"
                      "add.u32 %r9, %r3, %r4;\n"));
}
END_TEST

static void expect_fault(const char *text, const char *address)
{
    struct twice_result want;
    struct twice t = {.text = text, .grid = {1}, .block = {64}};
    twice_run(&t, "off", "generic", &want);
    ck_assert_int_eq(want.status, SC_EXEC_ILLEGAL_ADDRESS);
    ck_assert_msg(strstr(want.why, address), "%s", want.why);
    free(want.out);
    twice(&t);
}

START_TEST(addresses_behind_the_end_still_fault)
{
    expect_fault(KERNEL(BELOW, "ld.shared.u32 %r9, [%r11+69632];\n"),
                 "address 0x1000");
    expect_fault(KERNEL(BELOW, "st.shared.u32 [%r10+65532], %r1;\n"),
                 "address 0xfffffffc");
}
END_TEST

int main(void)
{
    if (!twice_has_compiler())
        return 77;
    const TTest *const cases[] = {
        linear_addresses_go_round,
        words_side_by_side_go_round,
        vectors_go_round,
        uniform_addresses_go_round,
        scattered_addresses_go_round,
        lanes_on_both_sides_go_round,
        local_addresses_go_round,
        parameter_addresses_go_round,
        constant_addresses_go_round,
        atomics_go_round,
        ranges_go_round,
        addresses_behind_the_end_still_fault,
    };
    return suite_run("softcuda native: addresses of 32 bits", cases,
                     sizeof cases / sizeof *cases, 170);
}

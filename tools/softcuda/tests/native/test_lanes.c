/*
 * Generated code against the interpreter: accesses of which some lanes are
 * off, with these or others where nothing is, addresses that were loaded, and
 * those of which the code says that they lie in the kernel's variables.
 */
#include "twice.h"

#define STORE "st.global.u32 [%d3], %r9;\n"
#define END   STORE "ret;\n}\n"
/* %d10: three words below the thread's own of a shared array, wrapped there */
#define BEHIND                                                                 \
    "sub.u32 %r10, %r50, 3; mul.wide.u32 %d11, %r10, 4;\n"                     \
    "mov.u64 %d12, tile; add.u64 %d10, %d12, %d11;\n"
/* a word of each thread in `tile`, at %r12 */
#define FILL                                                                   \
    "shl.b32 %r11, %r50, 2; mov.u32 %r12, tile; add.u32 %r12, %r12, %r11;\n"   \
    "mad.lo.u32 %r13, %r2, 77, 5; st.shared.u32 [%r12], %r13; bar.sync 0;\n"   \
    "mov.u32 %r9, %r2;\n"
#define TILE ".shared .align 8 .b8 tile[256];"

static void both_ways(const char *text)
{
    twice(&(struct twice){.text = text, .grid = {5}, .block = {64, 1, 1}});
}

static void both_fault(const char *text, enum sc_exec_status status)
{
    struct twice t = {.text = text, .grid = {3}, .block = {64, 1, 1}};
    struct twice_result want = {0};
    twice_run(&t, "off", "generic", &want);
    ck_assert_int_eq(want.status, status);
    free(want.out);
    twice(&t);
}

START_TEST(lanes_off_before_shared_are_the_same)
{
    both_ways(TWICE_HEAD(TILE) FILL BEHIND
              "setp.ge.u32 %p1, %r50, 3;\n"
              "@%p1 ld.shared.u32 %r9, [%d10]; bar.sync 0;\n"
              "add.u32 %r9, %r9, 9; @%p1 st.shared.u32 [%d10], %r9;\n"
              "bar.sync 0; ld.shared.u32 %r14, [%r12];\n"
              "mad.lo.u32 %r9, %r9, 3, %r14;\n" END);
    both_ways(TWICE_HEAD(TILE) FILL BEHIND
              "setp.ge.u32 %p1, %r50, 3;\n"
              "@%p1 ld.shared.u16 %r9, [%d10+2]; @%p1 st.shared.u8 [%d10+1], "
              "%r9; bar.sync 0; ld.shared.u32 %r14, [%r12];\n"
              "mad.lo.u32 %r9, %r9, 3, %r14;\n" END);
}
END_TEST

START_TEST(lanes_off_behind_shared_are_the_same)
{
    both_ways(TWICE_HEAD(TILE) FILL
              "setp.lt.u32 %p1, %r50, 61;\n"
              "@%p1 ld.shared.u32 %r9, [%r12+8];\n"
              "@%p1 ld.shared.u32 %r15, [%r12+12]; xor.b32 %r9, %r9, %r15;\n"
              "bar.sync 0; @%p1 st.shared.u32 [%r12+12], %r9; bar.sync 0;\n"
              "ld.shared.u32 %r14, [%r12]; add.u32 %r9, %r9, %r14;\n" END);
}
END_TEST

/* Lanes 0 to 2 lie 16 GiB behind the others, in nothing. */
#define FAR                                                                    \
    "sub.u32 %r10, %r2, 3; mul.wide.u32 %d10, %r10, 4;\n"                      \
    "add.u64 %d11, %d0, %d10; mov.u32 %r9, %r2;\n"

START_TEST(lanes_off_outside_the_window_are_the_same)
{
    both_ways(TWICE_HEAD("") FAR
              "setp.ge.u32 %p1, %r2, 3; mul.lo.u32 %r11, %r2, 3;\n"
              "@%p1 st.global.u32 [%d11+65536], %r11;\n"
              "selp.b64 %d12, %d3, 4096, %p1;\n"
              "@%p1 ld.global.u32 %r12, [%d11+65536];\n"
              "@%p1 add.u32 %r9, %r9, %r12;\n"
              "@%p1 st.global.u32 [%d12+131072], %r9;\n" END);
}
END_TEST

START_TEST(generic_lanes_in_shared_are_the_same)
{
    both_ways(TWICE_HEAD(TILE) FILL
              "mul.lo.u32 %r14, %r50, 37; and.b32 %r14, %r14, 63;\n"
              "mul.wide.u32 %d10, %r14, 4; mov.u64 %d11, tile;\n"
              "cvta.shared.u64 %d12, %d11; add.u64 %d13, %d12, %d10;\n"
              "ld.u32 %r15, [%d13]; setp.lt.u32 %p1, %r50, 20;\n"
              "selp.b64 %d14, %d13, %d3, %p1; ld.u32 %r16, [%d14];\n"
              "bar.sync 0; st.u32 [%d13], %r50; bar.sync 0;\n"
              "ld.shared.u32 %r17, [%r12]; mad.lo.u32 %r9, %r15, 5, %r17;\n"
              "selp.b32 %r16, %r16, 0, %p1; add.u32 %r9, %r9, %r16;\n" END);
}
END_TEST

/* An index that was loaded, in and out of order, and negative ones. */
START_TEST(loaded_addresses_are_the_same)
{
    both_ways(TWICE_HEAD("") "and.b32 %r10, %r2, 4095; mul.wide.u32 %d10, "
                             "%r10, 4; add.u64 %d11, %d1, %d10;\n"
                             "ld.global.u32 %r11, [%d11];\n"
                             "shr.s32 %r12, %r11, 22; mul.wide.s32 %d12, %r12, "
                             "4; add.s64 %d13, %d1, %d12;\n"
                             "ld.global.u32 %r9, [%d13+4096];\n"
                             "setp.ne.u32 %p1, %r11, 0; selp.b32 %r13, %r2, 7, "
                             "%p1; mul.wide.s32 %d14, %r13, 4;\n"
                             "add.s64 %d15, %d0, %d14; st.global.u32 "
                             "[%d15+65536], %r9;\n" END);
}
END_TEST

START_TEST(lanes_outside_fault)
{
    both_fault(TWICE_HEAD(TILE) FILL BEHIND
               "setp.ge.u32 %p1, %r50, 2;\n\n"
               "@%p1 ld.shared.u32 %r9, [%d10];\n" END,
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) FILL BEHIND
               "setp.ge.u32 %p1, %r50, 2;\n\n"
               "@%p1 st.shared.u32 [%d10], %r9;\n" END,
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD("") FAR "setp.ge.u32 %p1, %r2, 2;\n\n@%p1 "
                                  "ld.global.u32 %r9, [%d11];\n" END,
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) FILL
               "setp.lt.u32 %p1, %r50, 62;\n\n@%p1 ld.shared.u32 %r9, "
               "[%r12+12];\n" END,
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) FILL BEHIND
               "setp.ge.u32 %p1, %r50, 3;\n\n"
               "@%p1 ld.shared.u32 %r9, [%d10+2];\n" END,
               SC_EXEC_MISALIGNED);
}
END_TEST

/* %r9: the word of `tile` at %r12 + %d10, read and then written; %r10 is made
 * by `index` of %r50, the thread, and %r13, a number anywhere. */
#define PICK(index, offset)                                                    \
    FILL index "mul.wide.u32 %d10, %r10, 4; mov.u64 %d12, tile;\n"             \
               "add.u64 %d13, %d12, %d10;\n\n"                                 \
               "ld.shared.u32 %r9, [%d13" offset "];\n"                        \
               "bar.sync 0; st.shared.u32 [%d13" offset "], %r50;\n"           \
               "bar.sync 0; ld.shared.u32 %r14, [%r12];\n"                     \
               "mad.lo.u32 %r9, %r9, 3, %r14;\n"                               \
               "bar.sync 0; atom.shared.add.u32 %r15, [%d13" offset            \
               "], %r2;\n"                                                     \
               "bar.sync 0; ld.shared.u32 %r14, [%r12];\n"                     \
               "mad.lo.u32 %r9, %r9, 3, %r14;\n" END

START_TEST(addresses_in_the_variables_are_the_same)
{
    both_ways(TWICE_HEAD(TILE) PICK("and.b32 %r10, %r13, 63;\n", ""));
    both_ways(TWICE_HEAD(TILE) PICK("bfe.u32 %r10, %r13, 3, 6;\n", ""));
    both_ways(TWICE_HEAD(TILE) PICK("mul.lo.u32 %r16, %r13, 0x9e3779b9;\n"
                                    "shr.u32 %r10, %r16, 26;\n",
                                    ""));
    both_ways(TWICE_HEAD(TILE) PICK("sub.u32 %r10, 63, %r50;\n", ""));
    both_ways(TWICE_HEAD(TILE) PICK("setp.lt.u32 %p1, %r13, 3000;\n"
                                    "selp.b32 %r10, %r50, 5, %p1;\n",
                                    ""));
    both_ways(TWICE_HEAD(TILE) PICK("and.b32 %r16, %r13, 31;\n"
                                    "mad.lo.u32 %r10, %r16, 2, 1;\n",
                                    "-4"));
}
END_TEST

START_TEST(addresses_just_outside_of_the_variables_fault)
{
    both_fault(TWICE_HEAD(TILE) PICK("and.b32 %r10, %r50, 63;\n", "+4"),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("and.b32 %r10, %r50, 63;\n", "-4"),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("mul.lo.u32 %r16, %r50, 2;\n"
                                     "and.b32 %r10, %r16, 64;\n",
                                     ""),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("shl.b32 %r16, %r50, 3;\n"
                                     "bfe.u32 %r10, %r16, 2, 7;\n",
                                     ""),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("mul.lo.u32 %r16, %r50, 0x4000000;\n"
                                     "shr.u32 %r10, %r16, 25;\n",
                                     ""),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("add.u32 %r10, %r50, 1;\n", ""),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("sub.u32 %r10, %r50, 1;\n", ""),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("setp.lt.u32 %p1, %r50, 60;\n"
                                     "selp.b32 %r10, %r50, 64, %p1;\n",
                                     ""),
               SC_EXEC_ILLEGAL_ADDRESS);
    both_fault(TWICE_HEAD(TILE) PICK("shr.u32 %r10, %r50, 1;\n", "+2"),
               SC_EXEC_MISALIGNED);
}
END_TEST

int main(void)
{
    if (!twice_has_compiler())
        return 77;
    const TTest *const cases[] = {
        lanes_off_before_shared_are_the_same,
        lanes_off_behind_shared_are_the_same,
        lanes_off_outside_the_window_are_the_same,
        generic_lanes_in_shared_are_the_same,
        loaded_addresses_are_the_same,
        lanes_outside_fault,
        addresses_in_the_variables_are_the_same,
        addresses_just_outside_of_the_variables_fault,
    };
    return suite_run("softcuda native: lanes", cases,
                     sizeof cases / sizeof *cases, 170);
}

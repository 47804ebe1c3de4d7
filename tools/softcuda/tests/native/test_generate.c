/*
 * Generated code against the interpreter: control flow, memory, barriers, odd
 * blocks, faults.
 */
#include "twice.h"

#include "exec/module.h"

#include <pthread.h>

#define STORE "st.global.u32 [%d3], %r9;\n"
#define END   STORE "ret;\n}\n"
/* %r4: a word of the input, at 4 × %r3 */
#define LOAD                                                                   \
    "and.b32 %r60, %r3, 4095; mul.wide.u32 %d4, %r60, 4;\n"                    \
    "add.u64 %d5, %d1, %d4; ld.global.u32 %r4, [%d5];\n"

/* Every kernel with some of these blocks. */
static const uint32_t blocks[][3] = {
    {64, 1, 1}, {31, 1, 1}, {1, 7, 3},  {32, 1, 1},  {33, 1, 1}, {1, 1, 1},
    {16, 4, 1}, {8, 8, 1},  {20, 5, 1}, {256, 1, 1}, {32, 8, 2}, {5, 1, 1}};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static void all(const char *text, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *b = blocks[(first + i) % BLOCKS];
        twice(&(struct twice){.text = text,
                              .grid = {5},
                              .block = {b[0], b[1], b[2]},
                              .dynamic = 4096,
                              .n = 100});
    }
}

static const char straight[] =
    TWICE_HEAD("") "mov.u32 %r3, %r2;\n" LOAD "add.u32 %r9, %r4, %r2;\n" END;

START_TEST(straight_code_is_the_same)
{
    all(straight, 0, BLOCKS);
}
END_TEST

static const char early[] =
    TWICE_HEAD("") "setp.ge.u32 %p1, %r2, %r0; @%p1 bra DONE;\n"
                   "mov.u32 %r3, %r2;\n" LOAD "mul.lo.u32 %r9, %r4, 3;\n" STORE
                   "DONE: ret;\n}\n";

START_TEST(early_exit_is_the_same)
{
    all(early, 0, 6);
}
END_TEST

static const char forks[] = TWICE_HEAD(
    "") "mov.u32 %r3, %r2;\n" LOAD "mov.u32 %r9, 1; mov.u32 %r8, 5;\n"
        "and.b32 %r5, %r4, 3; setp.eq.u32 %p1, %r5, 0; @%p1 bra A;\n"
        "setp.eq.u32 %p2, %r5, 1; @%p2 bra B;\n"
        "mov.u32 %r8, 7; add.u32 %r9, %r9, %r4; bra C;\n"
        "B: mov.u32 %r8, %r5; shl.b32 %r9, %r4, 2; bra.uni C;\n"
        "A: mul.lo.u32 %r9, %r4, %r8; mov.u32 %r8, %r2;\n"
        "C: add.u32 %r9, %r9, %r8;\n"
        "setp.gt.s32 %p4, %r4, 9;\n"
        "setp.lt.u32 %p3, %r57, 2; @%p3 bra D;\n"
        "setp.gt.s32 %p4, %r4, 0; @!%p4 bra D; xor.b32 %r9, %r9, %r4;\n"
        "D: @%p4 add.u32 %r9, %r9, 11;\n" END;

START_TEST(forks_are_the_same)
{
    all(forks, 2, 6);
}
END_TEST

/* Both ways pack two registers, but not the same two. */
static const char packed[] = TWICE_HEAD(
    "") "mov.u32 %r3, %r2;\n" LOAD
        "xor.b32 %r5, %r4, 77; add.u32 %r6, %r4, 9; and.b32 %r7, %r4, 1;\n"
        "mov.b64 %d9, {%r5, %r6};\n"
        "setp.eq.u32 %p1, %r7, 0; @%p1 bra C;\n"
        "mov.b64 %d9, {%r6, %r4};\n"
        "C: mov.b64 {%r8, %r9}, %d9; shl.b32 %r8, %r8, 3;\n"
        "xor.b32 %r9, %r9, %r8;\n" END;

START_TEST(registers_packed_in_forks_are_the_same)
{
    all(packed, 2, 6);
}
END_TEST

static const char loops[] = TWICE_HEAD(
    "") "mov.u32 %r3, %r2;\n" LOAD
        "and.b32 %r5, %r4, 15; mov.u32 %r9, 0; mov.u32 %r6, 0;\n"
        "OUTER: setp.ge.u32 %p1, %r6, %r5; @%p1 bra AFTER;\n"
        "mov.u32 %r7, 0; and.b32 %r8, %r6, 3;\n"
        "INNER: add.u32 %r3, %r9, %r7;\n" LOAD
        "add.u32 %r9, %r9, %r4; setp.gt.u32 %p2, %r9, 0xf0000000;\n"
        "@%p2 bra NEXT;\n"
        "add.u32 %r7, %r7, 1; setp.le.u32 %p3, %r7, %r8; @%p3 bra INNER;\n"
        "and.b32 %r10, %r9, 255; setp.eq.u32 %p4, %r10, 17; @%p4 ret;\n"
        "NEXT: add.u32 %r6, %r6, 1; bra OUTER;\n"
        "AFTER: add.u32 %r9, %r9, %r6;\n" END;

START_TEST(nested_loops_are_the_same)
{
    all(loops, 4, 6);
}
END_TEST

static const char tiles[] = TWICE_HEAD(
    ".shared .align 4 .b8 tile[4096];") "mov.u32 %r10, tile; shl.b32 %r11, "
                                        "%r1, 2; add.u32 %r12, %r10, %r11;\n"
                                        "mov.u32 %r9, 0; mov.u32 %r6, 0;\n"
                                        "AGAIN: mad.lo.u32 %r3, %r6, 37, "
                                        "%r2;\n" LOAD "st.shared.u32 [%r12], "
                                        "%r4; bar.sync 0;\n"
                                        "mov.u32 %r7, 0; mov.u32 %r13, %r10;\n"
                                        "SUM: ld.shared.u32 %r14, [%r13]; "
                                        "mad.lo.u32 %r9, %r9, 5, %r14;\n"
                                        "add.u32 %r13, %r13, 4; add.u32 %r7, "
                                        "%r7, 1;\n"
                                        "setp.lt.u32 %p1, %r7, %r56; @%p1 bra "
                                        "SUM;\n"
                                        "add.u32 %r15, %r1, %r4; rem.u32 %r15, "
                                        "%r15, %r56; shl.b32 %r15, %r15, 2;\n"
                                        "add.u32 %r15, %r15, %r10; "
                                        "ld.shared.u32 %r14, [%r15];\n"
                                        "xor.b32 %r9, %r9, %r14; bar.sync 0;\n"
                                        "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, "
                                        "%r6, 4; @%p2 bra AGAIN;\n" END;

START_TEST(barriers_in_loops_are_the_same)
{
    all(tiles, 1, 8);
}
END_TEST

static const char leaving[] = TWICE_HEAD(
    ".shared .align 4 .b8 tile[4096];") "mov.u32 %r10, tile; shl.b32 %r11, "
                                        "%r1, 2; add.u32 %r12, %r10, %r11;\n"
                                        "mov.u32 %r3, %r2;\n" LOAD
                                        "st.shared.u32 [%r12], %r4;\n"
                                        "and.b32 %r5, %r4, 7; setp.eq.u32 %p1, "
                                        "%r5, 3; @%p1 bra OUT;\n"
                                        "bar.sync 0;\n"
                                        "sub.u32 %r13, %r56, %r1; sub.u32 "
                                        "%r13, %r13, 1; shl.b32 %r13, %r13, "
                                        "2;\n"
                                        "add.u32 %r13, %r13, %r10; "
                                        "ld.shared.u32 %r9, [%r13];\n"
                                        "setp.eq.u32 %p2, %r5, 2; @%p2 exit;\n"
                                        "barrier.sync 0; st.shared.u32 [%r12], "
                                        "%r9; bar.sync 0;\n"
                                        "ld.shared.u32 %r9, [%r13];\n" STORE
                                        "OUT: ret;\n}\n";

START_TEST(threads_that_left_open_barriers)
{
    all(leaving, 0, 8);
}
END_TEST

/* Warps that come to one barrier at different places, and one that goes. */
static const char apart[] = TWICE_HEAD(
    ".shared .align 4 .b8 tile[4096];") "mov.u32 %r3, %r2;\n" LOAD
                                        "mov.u32 %r10, tile; shl.b32 %r11, "
                                        "%r1, 2; add.u32 %r12, %r10, %r11;\n"
                                        "mov.u32 %r9, %r4; shr.u32 %r5, %r50, "
                                        "5; and.b32 %r6, %r5, 1;\n"
                                        "setp.eq.u32 %p1, %r6, 1; @%p1 bra B;\n"
                                        "st.shared.u32 [%r12], %r4; bar.sync "
                                        "0;\n"
                                        "add.u32 %r9, %r9, 3; setp.eq.u32 %p2, "
                                        "%r5, 2; @%p2 bra OUT;\n"
                                        "bar.sync 0; st.shared.u32 [%r12], "
                                        "%r9; bar.sync 0; bra C;\n"
                                        "B: mul.lo.u32 %r9, %r4, 7; "
                                        "st.shared.u32 [%r12], %r9; bar.sync "
                                        "0;\n"
                                        "xor.b32 %r9, %r9, %r50; bar.sync 0; "
                                        "bar.sync 0;\n"
                                        "C: sub.u32 %r13, %r56, %r1; sub.u32 "
                                        "%r13, %r13, 1;\n"
                                        "shl.b32 %r13, %r13, 2; add.u32 %r13, "
                                        "%r13, %r10;\n"
                                        "ld.shared.u32 %r14, [%r13]; "
                                        "mad.lo.u32 %r9, %r9, 5, %r14;\n"
                                        "OUT: " END;

START_TEST(warps_at_different_barriers_are_the_same)
{
    static const uint32_t x[] = {64, 128, 256, 224};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        twice(&(struct twice){
            .text = apart, .grid = {5}, .block = {x[i], 1, 1}, .n = 100});
}
END_TEST

/* A predicate each. */
static const int borders[] = {-1, 0,  1,  7,  8,  9,  15, 16,
                              17, 31, 32, 33, 47, 48, 64};

static void compare_lanes(const char *lane, const char *how, uint32_t rows)
{
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "%smov.u32 %%r20, %s; mov.u32 %%r9, 1;\n",
                                TWICE_HEAD(""), lane);
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "setp.%s %%p%zu, %%r20, %d; @!%%p%zu bra L%zu;\n"
            "mad.lo.u32 %%r9, %%r9, 33, %%r2;\nL%zu: add.u32 %%r9, %%r9, 1;\n",
            how, i, borders[i], i, i, i);
    snprintf(text + n, sizeof text - n, "%s", END);
    twice(&(struct twice){
        .text = text, .grid = {2}, .block = {rows > 1 ? 64 : 72, rows, 1}});
}

START_TEST(comparisons_at_borders_of_groups_are_the_same)
{
    compare_lanes("%tid.x", "lt.s32", 1);
    compare_lanes("%laneid", "ge.u32", 2);
    compare_lanes("%laneid", "le.s32", 1);
    compare_lanes("%tid.x", "hi.u32", 2);
}
END_TEST

static const char dynamic[] = PTX_HEAD
    ".extern .shared .align 8 .b8 room[];\n"
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
    ".reg .b32 %r<16>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "mov.u64 %d1, room; cvta.shared.u64 %d1, %d1;\n"
    "mul.wide.u32 %d2, %r1, 8; add.u64 %d3, %d1, %d2;\n"
    "mul.wide.u32 %d4, %r4, 77777; st.u64 [%d3], %d4; bar.sync 0;\n"
    "xor.b32 %r5, %r1, 1; min.u32 %r6, %r3, 2; sub.u32 %r6, %r6, 1;\n"
    "and.b32 %r6, %r6, %r5; mul.wide.u32 %d5, %r6, 8; add.u64 %d5, %d5, %d1;\n"
    "ld.u64 %d6, [%d5]; mul.wide.u32 %d7, %r4, 8; add.u64 %d7, %d7, %d0;\n"
    "st.global.u64 [%d7], %d6; ret;\n}\n";

START_TEST(dynamic_shared_memory_is_the_same)
{
    static const uint32_t x[] = {1, 31, 64, 256};
    for (size_t i = 0; i < 4; i++)
        twice(&(struct twice){.text = dynamic,
                              .grid = {7},
                              .block = {x[i]},
                              .dynamic = x[i] * 8});
}
END_TEST

static const char own[] = TWICE_HEAD(
    ".local .align 4 .b8 mine[64];") "mov.u64 %d10, mine; mov.u32 %r3, "
                                     "%r2;\n" LOAD
                                     "mov.u32 %r6, 0; mov.u64 %d11, %d10;\n"
                                     "FILL: st.local.u32 [%d11], %r4; add.u32 "
                                     "%r4, %r4, %r2;\n"
                                     "add.u64 %d11, %d11, 4; add.u32 %r6, %r6, "
                                     "1;\n"
                                     "setp.lt.u32 %p1, %r6, 16; @%p1 bra "
                                     "FILL;\n"
                                     "and.b32 %r7, %r4, 15; mul.wide.u32 %d12, "
                                     "%r7, 4;\n"
                                     "add.u64 %d12, %d12, %d10; ld.local.u32 "
                                     "%r9, [%d12];\n"
                                     "cvta.local.u64 %d13, %d12; ld.u32 %r8, "
                                     "[%d13]; add.u32 %r9, %r9, %r8;\n"
                                     "st.u32 [%d13], %r9; ld.local.u32 %r8, "
                                     "[%d12]; xor.b32 %r9, %r8, 5;\n" END;

START_TEST(local_memory_is_the_same)
{
    all(own, 3, 5);
}
END_TEST

static const char table[] = TWICE_HEAD(
    "") "mov.u32 %r3, %r2;\n" LOAD "and.b32 %r5, %r4, 3; mov.u32 %r9, %r2;\n"
        "WAYS: .branchtargets A, B, C, A;\n"
        "brx.idx %r5, WAYS;\n"
        "C: add.u32 %r9, %r9, 1000; bra E;\n"
        "A: mul.lo.u32 %r9, %r9, 77; bra E;\n"
        "B: add.u32 %r9, %r9, 5; setp.gt.s32 %p1, %r4, 0; @%p1 bra A;\n"
        "E: rem.u32 %r6, %r57, 3;\n"
        "MORE: .branchtargets F, G, H;\n"
        "brx.idx %r6, MORE;\n"
        "F: add.u32 %r9, %r9, 1; bra H;\n"
        "G: shl.b32 %r9, %r9, 1;\n"
        "H: xor.b32 %r9, %r9, %r4;\n" END;

START_TEST(jump_tables_are_the_same)
{
    all(table, 0, 5);
}
END_TEST

static const char widths[] = TWICE_HEAD(
    "") "cvt.u64.u32 %d10, %r2; add.u64 %d11, %d1, %d10; ld.global.u8 %r4, "
        "[%d11];\n"
        "ld.global.s8 %r5, [%d11+1]; mul.wide.u32 %d12, %r2, 2;\n"
        "add.u64 %d12, %d12, %d1; ld.global.u16 %h1, [%d12];\n"
        "ld.global.s16 %r6, [%d12+2]; cvt.u32.u16 %r7, %h1;\n"
        "mul.wide.u32 %d13, %r2, 8; add.u64 %d13, %d13, %d1;\n"
        "ld.global.v2.u32 {%r10, %r11}, [%d13]; ld.global.u64 %d14, [%d13+8];\n"
        "and.b32 %r12, %r10, 127; mul.wide.u32 %d15, %r12, 16;\n"
        "add.u64 %d15, %d15, %d1; ld.global.v4.u32 {%r13, %r14, %r15, %r16}, "
        "[%d15];\n"
        "ld.global.v2.u64 {%d16, %d17}, [%d15+16];\n"
        "add.u32 %r9, %r4, %r5; add.u32 %r9, %r9, %r6; add.u32 %r9, %r9, %r7;\n"
        "xor.b32 %r9, %r9, %r11; xor.b32 %r9, %r9, %r13; add.u32 %r9, %r9, "
        "%r16;\n"
        "xor.b64 %d16, %d16, %d17; xor.b64 %d16, %d16, %d14; cvt.u32.u64 %r17, "
        "%d16;\n"
        "xor.b32 %r9, %r9, %r17;\n"
        "mul.wide.u32 %d18, %r2, 16; add.u64 %d18, %d18, %d0; add.u64 %d18, "
        "%d18, 1048576;\n"
        "st.global.v4.u32 [%d18], {%r9, %r17, %r14, %r15};\n"
        "mul.wide.u32 %d19, %r2, 4; add.u64 %d19, %d19, %d0;\n"
        "setp.lt.s32 %p1, %r17, 0; @%p1 st.global.u8 [%d19+2097152], %r9;\n"
        "@!%p1 st.global.u16 [%d19+2097154], %h1;\n" END;

START_TEST(widths_and_vectors_are_the_same)
{
    all(widths, 0, 6);
}
END_TEST

/* 32-bit indices that wrap within a group, and large strides */
static const char wrapping[] =
    TWICE_HEAD("") "sub.u32 %r10, %r1, 3; mul.wide.u32 %d10, %r10, 4; shr.u64 "
                   "%d11, %d10, 20;\n"
                   "cvt.u32.u64 %r9, %d11; cvt.s64.s32 %d12, %r10; add.s64 "
                   "%d12, %d12, 3;\n"
                   "shl.b64 %d12, %d12, 2; add.u64 %d13, %d12, %d1; "
                   "ld.global.u32 %r11, [%d13];\n"
                   "add.u32 %r9, %r9, %r11; cvt.u64.u32 %d14, %r10; add.u64 "
                   "%d14, %d14, 3;\n"
                   "and.b64 %d14, %d14, 1023; shl.b64 %d14, %d14, 2; add.u64 "
                   "%d15, %d14, %d1;\n"
                   "ld.global.u32 %r12, [%d15]; add.u32 %r9, %r9, %r12;\n"
                   "sub.u32 %r13, 1000, %r1; mul.wide.u32 %d16, %r13, 4; "
                   "add.u64 %d16, %d16, %d1;\n"
                   "ld.global.u32 %r14, [%d16]; xor.b32 %r9, %r9, %r14;\n"
                   "mul.wide.s32 %d17, %r1, -4; add.u64 %d17, %d17, %d1; "
                   "ld.global.u32 %r15, [%d17+8000];\n"
                   "add.u32 %r9, %r9, %r15;\n" END;

START_TEST(wrapping_indices_are_the_same)
{
    all(wrapping, 0, 5);
}
END_TEST

static const char reversed[] = TWICE_HEAD(
    ".shared .align 8 .b8 tile[8192];") "mov.u32 %r3, %r2;\n" LOAD
                                        "mov.u32 %r10, tile; shl.b32 %r11, "
                                        "%r1, 2; add.u32 %r12, %r10, %r11;\n"
                                        "st.shared.u32 [%r12], %r4; bar.sync "
                                        "0;\n"
                                        "sub.u32 %r13, %r56, %r1; sub.u32 "
                                        "%r14, %r13, 1; shl.b32 %r15, %r14, "
                                        "2;\n"
                                        "add.u32 %r16, %r10, %r15; "
                                        "ld.shared.u32 %r17, [%r16]; bar.sync "
                                        "0;\n"
                                        "mul.wide.s32 %d10, %r14, 8; mov.u64 "
                                        "%d11, tile; add.u64 %d12, %d11, "
                                        "%d10;\n"
                                        "mul.wide.u32 %d13, %r17, 3; "
                                        "st.shared.u64 [%d12], %d13; bar.sync "
                                        "0;\n"
                                        "ld.shared.v2.u32 {%r18, %r19}, "
                                        "[%d12]; ld.shared.u16 %r20, "
                                        "[%d12+2];\n"
                                        "mul.wide.s32 %d14, %r1, -8; add.u64 "
                                        "%d15, %d11, %d14;\n"
                                        "mad.wide.u32 %d16, %r56, 8, %d15; "
                                        "ld.shared.u64 %d17, [%d16+-8];\n"
                                        "cvt.u32.u64 %r21, %d17; add.u32 %r9, "
                                        "%r18, %r19; xor.b32 %r9, %r9, %r20;\n"
                                        "mad.lo.u32 %r9, %r9, 7, %r21; add.u32 "
                                        "%r9, %r9, %r17;\n" END;

START_TEST(reversed_lanes_are_the_same)
{
    all(reversed, 9, 7);
}
END_TEST

static const char constants[] = PTX_HEAD
    ".visible .const .align 4 .b32 some[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
    ".visible .global .align 4 .b32 more[4] = {7, 70, 700, 7000};\n"
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
    ".reg .b32 %r<16>; .reg .b64 %d<12>; .reg .pred %p<4>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "mov.u64 %d1, some; and.b32 %r5, %r4, 7; mul.wide.u32 %d2, %r5, 4;\n"
    "add.u64 %d3, %d1, %d2; ld.const.u32 %r6, [%d3]; mov.u32 %r7, 0;\n"
    "mov.u32 %r8, 0; add.u64 %d4, %d1, 8;\n"
    "L: ld.const.u32 %r9, [%d4+-8]; mad.lo.u32 %r7, %r7, 10, %r9;\n"
    "ld.const.u32 %r9, [%d4]; add.u32 %r7, %r7, %r9; add.u64 %d4, %d4, 4;\n"
    "add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 6; @%p1 bra L;\n"
    "ld.const.u32 %r10, [some+12]; ld.global.u32 %r11, [more+8];\n"
    "cvta.const.u64 %d5, %d3; ld.u32 %r12, [%d5]; add.u32 %r6, %r6, %r12;\n"
    "xor.b32 %r6, %r6, %r7; mad.lo.u32 %r6, %r10, %r11, %r6;\n"
    "mul.wide.u32 %d6, %r4, 4; add.u64 %d7, %d0, %d6;\n"
    "st.global.u32 [%d7], %r6; ret;\n}\n";

START_TEST(constants_are_the_same)
{
    all(constants, 0, 2);
}
END_TEST

static const char reals[] =
    TWICE_HEAD("") "mov.u32 %r3, %r2;\n" LOAD
                   "mov.b32 %f1, %r4; cvt.rn.f32.u32 %f2, %r4; fma.rn.f32 %f3, "
                   "%f2, %f2, %f1;\n"
                   "sqrt.rn.f32 %f4, %f2; div.rn.f32 %f5, %f3, %f4; min.f32 "
                   "%f6, %f5, %f1;\n"
                   "setp.lt.f32 %p1, %f6, %f2; selp.f32 %f7, %f5, %f3, %p1;\n"
                   "cvt.f64.f32 %g1, %f7; cvt.rn.f64.s32 %g2, %r4; fma.rn.f64 "
                   "%g3, %g1, %g2, %g2;\n"
                   "cvt.rn.f32.f64 %f8, %g3; mov.b32 %r9, %f8;\n"
                   "sin.approx.f32 %f9, %f4; ex2.approx.f32 %f10, %f9; mov.b32 "
                   "%r8, %f10;\n"
                   "xor.b32 %r9, %r9, %r8;\n" END;

START_TEST(reals_are_the_same)
{
    all(reals, 0, 3);
}
END_TEST

/* ---- faults ---- */

static void expect_fault(const char *text, enum sc_exec_status status)
{
    struct twice_result want;
    struct twice t = {.text = text, .grid = {3}, .block = {64}};
    twice_run(&t, "off", "generic", &want);
    ck_assert_int_eq(want.status, status);
    free(want.out);
    twice(&t);
}

START_TEST(faults_have_their_line)
{
    expect_fault(TWICE_HEAD("") "mov.u64 %d10, 4096;\n"
                                "ld.global.u32 %r9, [%d10];\n" END,
                 SC_EXEC_ILLEGAL_ADDRESS);
    expect_fault(TWICE_HEAD("") "add.u64 %d10, %d3, 2;\n"
                                "ld.global.u32 %r9, [%d10];\n" END,
                 SC_EXEC_MISALIGNED);
    expect_fault(TWICE_HEAD("") "mul.wide.u32 %d10, %r1, %r1;\n"
                                "shl.b64 %d10, %d10, 32;\n"
                                "add.u64 %d10, %d10, %d3;\n\n"
                                "st.global.u32 [%d10], %r9;\n" END,
                 SC_EXEC_ILLEGAL_ADDRESS);
    expect_fault(TWICE_HEAD("") "setp.eq.u32 %p1, %r1, 40;\n@%p1 trap;\n" END,
                 SC_EXEC_TRAP);
    expect_fault(TWICE_HEAD("") "shr.u32 %r5, %r1, 4;\n"
                                "W: .branchtargets A, B;\n"
                                "brx.idx %r5, W;\nA: add.u32 %r9, %r5, 1;\n"
                                "B: add.u32 %r9, %r5, 2;\n" END,
                 SC_EXEC_ILLEGAL_INSTRUCTION);
    expect_fault(
        TWICE_HEAD(
            ".shared .b32 s[16];") "mov.u32 %r10, s; shl.b32 %r11, %r1, 2;\n"
                                   "add.u32 %r10, %r10, %r11;\nst.shared.u32 "
                                   "[%r10], %r1;\n" END,
        SC_EXEC_ILLEGAL_ADDRESS);
}
END_TEST

/* The last page of the window is a hole: 64 MiB less 4 KiB behind its begin,
 * 256 bytes before `out`. */
START_TEST(holes_have_their_line)
{
    expect_fault(TWICE_HEAD("") "add.u64 %d10, %d3, 67104512;\n\n"
                                "ld.global.u32 %r9, [%d10];\n" END,
                 SC_EXEC_ILLEGAL_ADDRESS);
    expect_fault(TWICE_HEAD("") "setp.gt.u32 %p1, %r1, 37;\n"
                                "add.u64 %d10, %d3, 67104512;\n\n"
                                "@%p1 st.global.u32 [%d10], %r1;\n" END,
                 SC_EXEC_ILLEGAL_ADDRESS);
}
END_TEST

/* An address would keep an object from being found again in another process. */
START_TEST(text_holds_no_address_of_a_variable)
{
    static const char text[] = PTX_HEAD
        ".global .u32 v[64];\n.const .u32 c[4];\n"
        ".visible .entry k()\n{\n.reg .b32 %r<4>;.reg .b64 %d<4>;\n"
        "mov.u32 %r1, %tid.x;\nld.const.u32 %r2, [c+4];\n"
        "mov.u64 %d1, v;\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
        "st.global.u32 [%d2], %r2;\nst.global.u32 [v], %r2;\nret;\n}\n";
    static const uint32_t block[3] = {32, 1, 1};
    struct sc_native_code code;
    device_open();
    struct sc_module *module = device_load(text);
    const struct sc_build_kernel *native = &module->kernels[0].native;
    ck_assert(sc_native_generate(native->ir, native->func, block,
                                 SC_NATIVE_GENERIC, &code));
    ck_assert_uint_eq(module->variable_count, 2);
    for (size_t i = 0; i < module->variable_count; i++) {
        char address[20];
        snprintf(address, sizeof address, "%llx",
                 (unsigned long long)module->variables[i].address);
        ck_assert_msg(!strstr(code.text, address), "%s", address);
    }
    free(code.text);
    sc_module_unload(module);
    device_close();
}
END_TEST

/* A kernel of `insts` instructions, every `every`th a branch on data. */
static char *large_kernel(int insts, int every)
{
    char *text = malloc((size_t)insts * 120 + 4096);
    char *at = stpcpy(text, PTX_HEAD
                      ".visible .entry k(.param .u64 p)\n{\n.reg .pred %q;"
                      ".reg .b32 %r<40>;.reg .b64 %d<4>;\n"
                      "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
                      "mad.wide.u32 %d2, %r1, 4, %d1;\n"
                      "ld.global.u32 %r2, [%d2];\n");
    for (int i = 0; i < insts; i++) {
        int a = 2 + i % 32, b = 2 + (i * 7 + 3) % 32;
        at += sprintf(at, "add.u32 %%r%d, %%r%d, %d;\n", a, b, i);
        if (i % every == every - 1)
            at += sprintf(at,
                          "setp.gt.u32 %%q, %%r%d, %d; @%%q bra L%d;\n"
                          "st.global.u32 [%%d2], %%r%d;\nL%d:\n",
                          a, i, i, b, i);
    }
    strcpy(at, "st.global.u32 [%d2], %r2;\nret;\n}\n");
    return text;
}

/* Only the text: compilers take many seconds for it. */
START_TEST(large_kernels_are_generated)
{
    static const struct {
        int insts, every;
    } sizes[] = {{30000, 1000}, {12000, 20}};
    static const uint32_t block[3] = {256, 1, 1};
    struct sc_native_code code;
    device_open();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = large_kernel(sizes[i].insts, sizes[i].every);
        struct sc_module *module = device_load(text);
        const struct sc_build_kernel *native = &module->kernels[0].native;
        ck_assert_msg(sc_native_generate(native->ir, native->func, block,
                                         SC_NATIVE_GENERIC, &code),
                      "%d: %s", sizes[i].insts, code.why);
        free(code.text);
        free(text);
        sc_module_unload(module);
    }
    device_close();
}
END_TEST

static volatile int cancelled;

static void *cancel_later(void *unused)
{
    usleep(300000);
    cancelled = 1;
    return unused;
}

START_TEST(endless_loop_is_cancelled)
{
    static const char text[] =
        PTX_HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n"
                 "L: add.u32 %r1, %r1, 1;\nbra L;\n}\n";
    pthread_t thread;
    enter_room();
    setenv("SOFTCUDA_NATIVE", "wait", 1);
    device_open();
    struct sc_module *module = device_load(text);
    struct sc_launch launch = {
        .grid = {4, 1, 1}, .block = {64, 1, 1}, .cancel = &cancelled};
    pthread_create(&thread, NULL, cancel_later, NULL);
    ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, NULL),
                     SC_EXEC_TIMEOUT);
    pthread_join(thread, NULL);
    sc_module_unload(module);
    device_close();
}
END_TEST

int main(void)
{
    if (!twice_has_compiler())
        return 77;
    const TTest *const cases[] = {
        straight_code_is_the_same,
        early_exit_is_the_same,
        forks_are_the_same,
        registers_packed_in_forks_are_the_same,
        nested_loops_are_the_same,
        barriers_in_loops_are_the_same,
        threads_that_left_open_barriers,
        warps_at_different_barriers_are_the_same,
        comparisons_at_borders_of_groups_are_the_same,
        dynamic_shared_memory_is_the_same,
        local_memory_is_the_same,
        jump_tables_are_the_same,
        widths_and_vectors_are_the_same,
        wrapping_indices_are_the_same,
        reversed_lanes_are_the_same,
        constants_are_the_same,
        reals_are_the_same,
        faults_have_their_line,
        holes_have_their_line,
        text_holds_no_address_of_a_variable,
        large_kernels_are_generated,
        endless_loop_is_cancelled,
    };
    return suite_run("softcuda native: generated code", cases,
                     sizeof cases / sizeof *cases, 170);
}

/*
 * Atomics and warp operations as native code, bit for bit what the
 * interpreter leaves: every operation, type and space, whole and partial
 * warps, with and without divergence.
 *
 * SOFTCUDA_ISA=generic, avx2 or avx512 chooses the code (default: the best).
 */
#include "common/suite.h"

#include <string.h>

#include "../opcodes/machine.h"
#include "../opcodes/text.h"
#include "both.h"

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* ---- warp operations ---- */

/*
 * %s0 is the thread's input, %s1 its lane, %s2 one of few values, %s3 the mask
 * of its 8 lanes, %s4 that of its 16, %q0 a bit of the input, %q1 the same in
 * all threads; the result is %s7, and %q2 where `truth` is set.
 */
struct operation {
    const char *text;
    bool truth;
};

static const struct operation operations[] = {
    {"shfl.sync.up.b32 %s7|%q2,%s0,3,0,-1;", true},
    {"shfl.sync.up.b32 %s7|%q2,%s0,1,0x1800,-1;", true},
    {"shfl.sync.up.b32 %s7,%s0,%s2,0x1000,-1;", false},
    {"shfl.sync.down.b32 %s7|%q2,%s0,5,31,-1;", true},
    {"shfl.sync.down.b32 %s7|%q2,%s0,16,31,-1;", true},
    {"shfl.sync.down.b32 %s7|%q2,%s0,2,0x1c03,-1;", true},
    {"shfl.sync.down.b32 %s7|%q2,%s0,%s2,%s5,-1;", true},
    {"shfl.sync.bfly.b32 %s7,%s0,1,31,-1;", false},
    {"shfl.sync.bfly.b32 %s7,%s0,16,31,-1;", false},
    {"shfl.sync.bfly.b32 %s7|%q2,%s0,13,0x100f,-1;", true},
    {"mov.b32 %s6,31; mov.b32 %s8,8; shfl.sync.bfly.b32 %s7,%s0,%s8,%s6,-1;",
     false},
    {"shfl.sync.bfly.b32 %s7|%q2,%s0,%s2,0x181f,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,0,31,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,%s9,31,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,%s9,0x181f,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,%s0,31,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,%s0,0x1c07,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s9,%s0,7,-1;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,%s0,31,%s3;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,9,31,%s4;", true},
    {"shfl.sync.idx.b32 %s7|%q2,%s0,9,31,0xff00fdff;", true},
    {"shfl.sync.up.b32 %s7|%q2,%s0,3,0,%s3;", true},
    {"shfl.sync.down.b32 %s7|%q2,%s0,3,31,%s3;", true},
    {"shfl.sync.bfly.b32 %s7|%q2,%s0,9,31,%s3;", true},
    {"shfl.sync.bfly.b32 %s7|%q2,%s0,9,31,0xf0f0f0f0;", true},
    {"vote.sync.ballot.b32 %s7,%q0,-1;", false},
    {"vote.sync.ballot.b32 %s7,!%q0,%s3;", false},
    {"vote.sync.ballot.b32 %s7,%q1,%s4;", false},
    {"vote.sync.any.pred %q2,%q0,%s3;", true},
    {"vote.sync.all.pred %q2,%q0,%s3;", true},
    {"vote.sync.uni.pred %q2,!%q0,%s3;", true},
    {"vote.sync.any.pred %q2,%q0,-1;", true},
    {"vote.sync.all.pred %q2,!%q1,-1;", true},
    {"vote.sync.uni.pred %q2,%q0,-1;", true},
    {"match.any.sync.b32 %s7,%s2,-1;", false},
    {"match.any.sync.b32 %s7,%s2,%s3;", false},
    {"match.any.sync.b32 %s7,%s9,-1;", false},
    {"match.any.sync.b64 %s7,%l9,%s4;", false},
    {"match.all.sync.b32 %s7|%q2,%s2,-1;", true},
    {"match.all.sync.b32 %s7|%q2,%s9,-1;", true},
    {"match.all.sync.b32 %s7|%q2,%s10,%s3;", true},
    {"match.all.sync.b64 %s7|%q2,%l9,%s3;", true},
    {"redux.sync.add.u32 %s7,%s0,-1;", false},
    {"redux.sync.add.s32 %s7,%s9,%s3;", false},
    {"redux.sync.min.u32 %s7,%s0,%s4;", false},
    {"redux.sync.max.u32 %s7,%s0,-1;", false},
    {"redux.sync.min.s32 %s7,%s0,-1;", false},
    {"redux.sync.max.s32 %s7,%s0,%s3;", false},
    {"redux.sync.and.b32 %s7,%s0,%s3;", false},
    {"redux.sync.or.b32 %s7,%s0,-1;", false},
    {"redux.sync.xor.b32 %s7,%s0,%s4;", false},
    {"redux.sync.xor.b32 %s7,%s9,-1;", false},
    {"elect.sync %s7|%q2,-1;", true},
    {"elect.sync %s7|%q2,%s3;", true},
    {"activemask.b32 %s7;", false},
    {"bar.warp.sync -1;", false},
    {"mov.u32 %s7,%lanemask_lt;", false},
    {"mov.u32 %s7,%laneid;", false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* Without masks, for text older than these. */
static const struct operation old_operations[] = {
    {"shfl.up.b32 %s7|%q2,%s0,3,0;", true},
    {"shfl.idx.b32 %s7|%q2,%s0,5,31;", true},
    {"shfl.bfly.b32 %s7|%q2,%s0,%s2,31;", true},
    {"vote.ballot.b32 %s7,%q0;", false},
    {"vote.any.pred %q2,%q0;", true},
};
enum { OLD_OPERATIONS = sizeof old_operations / sizeof *old_operations };

enum form { PLAIN, GUARDED, BRANCH, FORMS };

enum { CTAS = 2, MOST_THREADS = 96 };

static void put_warp_head(struct text *t, const char *head)
{
    text_put(t,
             "%s.visible .entry k(.param .u64 pi,.param .u64 po,.param .u64 p2,"
             ".param .u64 p3)\n{\n"
             ".reg .b64 %%l<12>;\n.reg .b32 %%s<24>;\n.reg .pred %%q<8>;\n"
             "ld.param.u64 %%l0,[pi]; ld.param.u64 %%l1,[po];\n"
             "mov.u32 %%s11,%%tid.x; mov.u32 %%s12,%%ctaid.x;\n"
             "mov.u32 %%s13,%%ntid.x; mad.lo.u32 %%s12,%%s12,%%s13,%%s11;\n"
             "mul.wide.u32 %%l2,%%s12,4; add.s64 %%l0,%%l0,%%l2;\n"
             "add.s64 %%l1,%%l1,%%l2; ld.global.u32 %%s0,[%%l0];\n"
             "mov.u32 %%s9,%%ctaid.x; add.u32 %%s9,%%s9,9;\n"
             "mov.u32 %%s1,%%laneid; and.b32 %%s2,%%s0,3;\n"
             "and.b32 %%s3,%%s1,24; shl.b32 %%s3,255,%%s3;\n"
             "and.b32 %%s4,%%s1,16; shl.b32 %%s4,65535,%%s4;\n"
             "mov.u32 %%s5,31; shr.u32 %%s10,%%s1,3; cvt.u64.u32 %%l9,%%s2;\n"
             "shl.b64 %%l9,%%l9,33; and.b32 %%s14,%%s0,64;\n"
             "setp.ne.u32 %%q0,%%s14,0; setp.ne.u32 %%q1,%%s9,9;\n"
             "and.b32 %%s15,%%s0,512; setp.ne.u32 %%q5,%%s15,0;\n",
             head);
}

/* One result after the other, each for all threads. */
static const char *warp_text(enum form form, bool old)
{
    struct text *t = text_begin();
    int at = 0, count = old ? OLD_OPERATIONS : OPERATIONS;
    put_warp_head(t, old ? ".version 6.0\n.target sm_50\n.address_size 64\n"
                         : MACHINE_HEAD);
    for (int i = 0; i < count; i++) {
        const struct operation *o = old ? &old_operations[i] : &operations[i];
        bool several = strchr(o->text, ';')[1] != '\0';
        if (several && form == GUARDED)
            continue;
        text_put(t, "mov.u32 %%s7,0xdead; setp.ne.u32 %%q2,%%s2,1;\n");
        if (form == BRANCH)
            text_put(t, "@%%q5 bra L%d;\n", i);
        text_put(t, "%s%s\n", form == GUARDED ? "@!%q5 " : "", o->text);
        if (form == BRANCH)
            text_put(t, "L%d:\n", i);
        if (o->truth)
            text_put(t, "@%%q2 add.u32 %%s7,%%s7,0x10000;\n");
        text_put(t, "st.global.u32 [%%l1+%d],%%s7;\n", at);
        at += CTAS * MOST_THREADS * 4;
    }
    text_put(t, "ret;\n}\n");
    return t->buffer;
}

static void check_warps(enum form form, bool old)
{
    static const uint32_t sizes[FORMS][3] = {
        [PLAIN] = {31, 33, 96}, [GUARDED] = {1, 70}, [BRANCH] = {33, 96}};
    enum { LANES = CTAS * MOST_THREADS };
    uint32_t *in = both_open((size_t)(1 + OPERATIONS) * LANES * 4);
    for (uint32_t i = 0; i < LANES; i++)
        in[i] = hash(i);
    for (int i = 0; i < 3 && sizes[form][i]; i++) {
        uint32_t threads = sizes[form][i];
        struct both t = {
            .ptx = warp_text(form, old),
            .ctas = CTAS,
            .threads = threads,
            .arguments = {machine_address(in), machine_address(in + LANES)}};
        both_run(&t);
    }
    both_close();
}

START_TEST(whole_warps_agree)
{
    check_warps(PLAIN, false);
    check_warps(PLAIN, true);
}
END_TEST

START_TEST(guarded_operations_agree)
{
    check_warps(GUARDED, false);
    check_warps(GUARDED, true);
}
END_TEST

START_TEST(parted_warps_agree)
{
    check_warps(BRANCH, false);
    check_warps(BRANCH, true);
}
END_TEST

/* ---- atomics ---- */

static const struct atomic {
    const char *name, *type;
    int bytes;
    bool reduces;        /* red has it, too */
    uint64_t bits, mask; /* an operand is bits | (random & mask) */
} atomics[] = {
    {"add", "u32", 4, true, 0, 0xff0000ff},
    {"add", "s32", 4, true, 0, ~0u},
    {"add", "u64", 8, true, 0, ~0ull},
    {"add.noftz", "f16", 2, true, 0x3c00, 0x83ff},
    {"add.noftz", "bf16", 2, true, 0x3f80, 0x807f},
    {"add.noftz", "f16x2", 4, true, 0x3c003c00, 0x83ff83ff},
    {"add.noftz", "bf16x2", 4, true, 0x3f803f80, 0x807f807f},
    {"add", "f32", 4, true, 0x3e000000, 0x80ffffff},
    {"add", "f64", 8, true, 0x3fe0000000000000, 0x801fffffffffffff},
    {"min", "u32", 4, true, 0, ~0u},
    {"min", "s32", 4, true, 0, ~0u},
    {"min", "u64", 8, true, 0, ~0ull},
    {"min", "s64", 8, true, 0, ~0ull},
    {"max", "u32", 4, true, 0, ~0u},
    {"max", "s32", 4, true, 0, ~0u},
    {"max", "u64", 8, true, 0, ~0ull},
    {"max", "s64", 8, true, 0, ~0ull},
    {"and", "b32", 4, true, 0x70, ~0u},
    {"and", "b64", 8, true, 0x70, ~0ull},
    {"or", "b32", 4, true, 0, 0x11111111},
    {"or", "b64", 8, true, 0, 0x1111111111111111},
    {"xor", "b32", 4, true, 0, ~0u},
    {"xor", "b64", 8, true, 0, ~0ull},
    {"inc", "u32", 4, true, 2, 7},
    {"dec", "u32", 4, true, 2, 7},
    {"exch", "b32", 4, false, 0, ~0u},
    {"exch", "b64", 8, false, 0, ~0ull},
    {"cas", "b16", 2, false, 0, 1},
    {"cas", "b32", 4, false, 0, 1},
    {"cas", "b64", 8, false, 0, 1},
};
enum { ATOMICS = sizeof atomics / sizeof *atomics };

enum space { GLOBAL, SHARED, ANY_GLOBAL, ANY_SHARED, SPACES };
/* a cell of its own; few cells; one cell; one cell and one operand */
enum pattern { OWN, FEW, ONE, SAME, PATTERNS };
enum verb { WANTED, UNWANTED, REDUCED, VERBS };

enum {
    SLOTS = SPACES * PATTERNS, /* each with MOST_THREADS cells */
    CELLS = SLOTS * MOST_THREADS,
};

/* %l0 cells, %l1 operands, %l2 results; shared cells are a copy of those of
 * the shared slots, which come first and last. */
static void put_atomic_head(struct text *t, int bits)
{
    text_put(
        t,
        MACHINE_HEAD
        ".visible .entry k(.param .u64 p0,.param .u64 p1,.param .u64 p2,"
        ".param .u64 p3)\n{\n.shared .align 8 .b8 sh[%d];\n"
        ".reg .b64 %%l<16>;\n.reg .b32 %%s<8>;\n.reg .pred %%q<4>;\n"
        ".reg .b%d %%b,%%c,%%u,%%d;\n"
        "ld.param.u64 %%l0,[p0]; ld.param.u64 %%l1,[p1];\n"
        "ld.param.u64 %%l2,[p2]; mov.u32 %%s0,%%tid.x; mov.u32 %%s1,%%ntid.x;\n"
        "ld.global.b%d %%u,[%%l1]; mul.wide.u32 %%l3,%%s0,8;\n"
        "add.s64 %%l4,%%l1,%%l3; ld.global.b%d %%b,[%%l4];\n"
        "ld.global.b%d %%c,[%%l4+%d]; add.s64 %%l2,%%l2,%%l3;\n"
        "mul.lo.u32 %%s2,%%s0,5; and.b32 %%s2,%%s2,3; mul.wide.u32 %%l5,%%s2,8;"
        "\nmov.u64 %%l6,sh; cvta.shared.u64 %%l7,%%l6;\n"
        "mul.lo.u32 %%s3,%%s0,11; and.b32 %%s3,%%s3,7;\n"
        "setp.ne.u32 %%q0,%%s3,3;\n",
        CELLS / 2 * 8, bits, bits, bits, bits, MOST_THREADS * 8);
}

/* Shared cells from global ones (in) or back. */
static void put_copy(struct text *t, bool in)
{
    text_put(t,
             "bar.sync 0; mov.u32 %%s4,%%s0;\nC%d: setp.ge.u32 %%q1,%%s4,%d;"
             "@%%q1 bra E%d;\nmul.wide.u32 %%l8,%%s4,8;"
             "add.s64 %%l9,%%l0,%%l8; add.s64 %%l10,%%l6,%%l8;\n",
             in, CELLS / 2, in);
    if (in)
        text_put(t, "ld.global.b64 %%l11,[%%l9]; st.shared.b64 [%%l10],%%l11;");
    else
        text_put(t, "ld.shared.b64 %%l11,[%%l10]; st.global.b64 [%%l9],%%l11;");
    text_put(t, "\nadd.u32 %%s4,%%s4,%%s1; bra C%d;\nE%d: bar.sync 0;\n", in,
             in);
}

static void put_atomic(struct text *t, const struct atomic *a, int slot,
                       enum space space, enum pattern pattern, enum verb verb)
{
    static const char *const from[] = {"%l3", "%l5", NULL, NULL};
    static const char *const base[] = {"%l0", "%l6", "%l0", "%l7"};
    int at = slot * MOST_THREADS * 8;
    if (from[pattern])
        text_put(t, "add.s64 %%l12,%s,%s;\n", base[space], from[pattern]);
    else
        text_put(t, "mov.u64 %%l12,%s;\n", base[space]);
    text_put(t, "%s%s%s.%s.%s %s[%%l12+%d],%s%s;\n", slot % 2 ? "@%q0 " : "",
             verb == REDUCED ? "red" : "atom",
             space == GLOBAL   ? ".global"
             : space == SHARED ? ".shared"
                               : "",
             a->name, a->type, verb == REDUCED ? "" : "%d,", at,
             pattern == SAME ? "%u" : "%b",
             strcmp(a->name, "cas") == 0 ? ",%c" : "");
    if (verb == WANTED)
        text_put(t, "st.global.b%d [%%l2+%d],%%d;\n", a->bytes * 8, at);
}

static const char *atomic_text(const struct atomic *a, int round)
{
    struct text *t = text_begin();
    int bits = a->bytes * 8, shared = 0, global = SLOTS / 2;
    put_atomic_head(t, bits);
    put_copy(t, true);
    for (int i = 0; i < SLOTS; i++) {
        enum space space = (enum space)(i % SPACES);
        enum pattern pattern = (enum pattern)(i / SPACES);
        enum verb verb = (enum verb)((i + i / SPACES + round) % VERBS);
        bool in_shared = space == SHARED || space == ANY_SHARED;
        int slot = in_shared ? shared++ : global++;
        if (verb == REDUCED && !a->reduces)
            verb = UNWANTED;
        put_atomic(t, a, slot, space, pattern, verb);
    }
    put_copy(t, false);
    text_put(t, "ret;\n}\n");
    return t->buffer;
}

static uint64_t random_operand(const struct atomic *a, uint32_t seed)
{
    uint64_t random = hash(seed) | (uint64_t)hash(seed + 77777) << 32;
    return a->bits | (random & a->mask);
}

static void check_atomic(const struct atomic *a, int round, uint32_t threads,
                         uint64_t *data)
{
    uint64_t *operands = data + CELLS;
    for (uint32_t i = 0; i < CELLS; i++)
        data[i] = random_operand(a, i);
    for (uint32_t i = 0; i < 2 * MOST_THREADS; i++)
        operands[i] = random_operand(a, CELLS + i);
    struct both t = {
        .ptx = atomic_text(a, round),
        .ctas = 1,
        .threads = threads,
        .arguments = {machine_address(data), machine_address(operands),
                      machine_address(operands + 2 * MOST_THREADS)}};
    both_run(&t);
}

START_TEST(atomics_agree)
{
    static const uint32_t sizes[] = {1, 31, 33, 70};
    uint64_t *data =
        both_open((size_t)(2 * CELLS + 3 * MOST_THREADS) * sizeof *data);
    for (int i = 0; i < ATOMICS; i++)
        check_atomic(&atomics[i], i, sizes[(i + i / 4) % 4], data);
    both_close();
}
END_TEST

START_TEST(contended_sums_are_exact)
{
    enum { SUMS = 6, GRID = 64, THREADS = 100 };
    static const char text[] = MACHINE_HEAD
        ".visible .entry k(.param .u64 p0,.param .u64 p1,.param .u64 p2,"
        ".param .u64 p3)\n{\n.reg .b64 %l<4>; .reg .b32 %s<4>; .reg .f32 %f;\n"
        ".reg .f64 %d;\nld.param.u64 %l0,[p0]; mov.u32 %s0,%tid.x;\n"
        "and.b32 %s1,%s0,3; mul.wide.u32 %l1,%s1,8; add.s64 %l1,%l0,%l1;\n"
        "red.global.add.u32 [%l0+64],1;\nred.global.add.u64 [%l0+72],%l1;\n"
        "red.global.add.u32 [%l1],%s0;\nmov.f32 %f,0f3F800000;\n"
        "red.global.add.f32 [%l0+80],%f;\nmov.f64 %d,0d3FF0000000000000;\n"
        "red.global.add.f64 [%l0+88],%d;\nred.global.max.s32 [%l0+96],%s0;\n"
        "atom.global.inc.u32 %s2,[%l0+104],999999;\nret;\n}\n";
    uint64_t *data = both_open(256);
    struct both t = {.ptx = text,
                     .ctas = GRID,
                     .threads = THREADS,
                     .arguments = {machine_address(data)}};
    both_run(&t);
    float real;
    double wide;
    memcpy(&real, &data[10], sizeof real);
    memcpy(&wide, &data[11], sizeof wide);
    ck_assert_uint_eq(data[8], GRID * THREADS);
    ck_assert_uint_eq(data[0] + data[1] + data[2] + data[3],
                      GRID * (THREADS * (THREADS - 1) / 2));
    ck_assert_float_eq(real, GRID * THREADS);
    ck_assert_double_eq(wide, GRID * THREADS);
    ck_assert_uint_eq(data[12], THREADS - 1);
    ck_assert_uint_eq(data[13], GRID * THREADS);
    both_close();
}
END_TEST

/* ---- loops in steps of the grid, whose groups are several vectors ---- */

static const char strides[] = MACHINE_HEAD
    ".visible .entry k(.param .u64 p0,.param .u64 p1,.param .u64 p2,"
    ".param .u64 p3)\n{\n.shared .align 4 .b8 sh[1024];\n"
    ".reg .b64 %l<8>; .reg .b32 %s<16>; .reg .pred %q<4>;\n"
    "ld.param.u64 %l0,[p0]; ld.param.u64 %l1,[p1]; ld.param.u32 %s9,[p2];\n"
    "mov.u32 %s0,%tid.x; mov.u32 %s1,%ntid.x; mov.u32 %s2,%ctaid.x;\n"
    "mov.u32 %s3,%nctaid.x; mad.lo.u32 %s4,%s2,%s1,%s0;\n"
    "mul.lo.u32 %s5,%s3,%s1; mul.wide.u32 %l2,%s0,4; mov.u64 %l3,sh;\n"
    "add.s64 %l3,%l3,%l2; mov.u32 %s6,0; st.shared.u32 [%l3],%s6;\n"
    "mov.u32 %s7,%laneid; bar.sync 0;\n"
    "setp.ge.s32 %q0,%s4,%s9; @%q0 bra END;\n"
    "LOOP: mul.wide.s32 %l4,%s4,4; add.s64 %l5,%l0,%l4;\n"
    "ld.global.u32 %s8,[%l5]; and.b32 %s10,%s8,63; mul.wide.u32 %l6,%s10,4;\n"
    "mov.u64 %l7,sh; add.s64 %l6,%l7,%l6; atom.shared.add.u32 %s11,[%l6],%s8;\n"
    "and.b32 %s12,%s8,256; setp.eq.s32 %q1,%s12,0; @%q1 bra NEXT;\n"
    "add.u32 %s6,%s6,%s8; xor.b32 %s6,%s6,%s7;\n"
    "NEXT: add.s64 %l5,%l1,%l4; st.global.u32 [%l5],%s6;\n"
    "add.s32 %s4,%s4,%s5; setp.lt.s32 %q0,%s4,%s9; @%q0 bra LOOP;\n"
    "END: bar.sync 0; ld.shared.u32 %s13,[%l3];\n"
    "atom.global.add.u32 %s14,[%l1+-256],%s13; ret;\n}\n";

START_TEST(loops_in_steps_of_the_grid_agree)
{
    static const uint32_t sizes[] = {64, 96, 128, 256};
    enum { WORDS = 5000, GAP = 64 };
    uint32_t *in = both_open((2 * WORDS + GAP) * 4);
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = hash(i);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct both t = {.ptx = strides,
                         .ctas = 3,
                         .threads = sizes[i],
                         .arguments = {machine_address(in),
                                       machine_address(in + WORDS + GAP),
                                       WORDS}};
        both_run(&t);
    }
    both_close();
}
END_TEST

/* Every place an atomic operation must not be at: status, line, address. */
START_TEST(wild_atomics_fault_alike)
{
    static const char *const addresses[] = {
        "mov.u64 %l1,0x40;",                             /* nowhere */
        "add.s64 %l1,%l0,2;",                            /* misaligned */
        "mul.wide.u32 %l1,%s0,8; add.s64 %l1,%l1,0x40;", /* linear, nowhere */
        "mul.wide.u32 %l1,%s0,6; add.s64 %l1,%l0,%l1;",  /* misaligned later */
        "and.b32 %s1,%s0,5; mul.wide.u32 %l1,%s1,1; add.s64 %l1,%l0,%l1;",
    };
    static const char *const verbs[] = {
        "red.global.add.u32 [%l1],1;", "atom.global.add.f32 %f,[%l1],%f;",
        "atom.cas.b32 %s2,[%l1],%s0,%s0;", "red.max.u32 [%l1],%s0;"};
    uint64_t *data = both_open(4096);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
            struct text *t = text_begin();
            text_put(t,
                     MACHINE_HEAD
                     ".visible .entry k(.param .u64 p0,.param .u64 p1,"
                     ".param .u64 p2,.param .u64 p3)\n{\n.reg .b64 %%l<4>;"
                     ".reg .b32 %%s<4>; .reg .f32 %%f;\nld.param.u64 %%l0,[p0];"
                     "mov.u32 %%s0,%%tid.x; mov.f32 %%f,0f3F800000;\n%s\n%s\n"
                     "st.global.f32 [%%l0],%%f;\nret;\n}\n",
                     addresses[i], verbs[k]);
            struct both w = {.ptx = t->buffer,
                             .ctas = 1,
                             .threads = 40,
                             .arguments = {machine_address(data)}};
            both_fault(&w);
        }
    both_close();
}
END_TEST

int main(void)
{
    both_skip();
    Suite *suite = suite_create("softcuda native atomics and warps");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, whole_warps_agree);
    tcase_add_test(tcase, guarded_operations_agree);
    tcase_add_test(tcase, parted_warps_agree);
    tcase_add_test(tcase, contended_sums_are_exact);
    tcase_add_test(tcase, wild_atomics_fault_alike);
    tcase_add_test(tcase, atomics_agree);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("loops");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, loops_in_steps_of_the_grid_agree);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}

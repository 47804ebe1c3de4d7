/*
 * Random kernels, native against the interpreter: divergence, loops, early
 * exits, shared memory with barriers, guards, local memory.
 *
 * test_random [FIRST COUNT]: kernel number i is always the same one;
 * test_random NUMBER prints it. The text never reads a register or word nobody wrote, and threads meet in
 * memory only across barriers, so there is one right answer.
 */
#include "twice.h"

#include <stdarg.h>

static uint64_t state;
static char text[1 << 20];
static size_t length;
static int labels, depth, loop_depth, budget;
static bool may_leave;     /* no barrier after this point */
static const char *breaks; /* label behind the loop we are in, or NULL */

static uint32_t below(uint32_t n)
{
    return twice_random(&state) % n;
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    length +=
        (size_t)vsnprintf(text + length, sizeof text - length, format, list);
    va_end(list);
    if (length >= sizeof text)
        abort();
}

/* %r10 … %r19 are the variables, %r20 … scratch, %r30 + depth counters. */
static uint32_t variable(void)
{
    return 10 + below(10);
}

static const char *operand(void)
{
    static char names[4][24];
    static int turn;
    char *name = names[turn++ & 3];
    static const uint32_t odd[] = {0,          1,          31, 32, 0x80000000,
                                   0x7fffffff, 0xffffffff, 3,  7,  0x10001};
    if (below(4) == 0)
        snprintf(name, 24, "0x%x",
                 below(2) ? odd[below(10)] : twice_random(&state));
    else if (below(8) == 0)
        snprintf(name, 24, "%s", below(2) ? "%tid.x" : "%ctaid.x");
    else
        snprintf(name, 24, "%%r%u", below(6) ? variable() : 1 + below(2));
    return name;
}

static void put_arithmetic(const char *guard)
{
    static const char *const two[] = {
        "add.u32",    "sub.u32",    "mul.lo.u32", "mul.hi.s32", "and.b32",
        "or.b32",     "xor.b32",    "shl.b32",    "shr.u32",    "shr.s32",
        "min.s32",    "max.u32",    "add.u32",    "add.u32",    "sub.u32",
        "mul.lo.s32", "mul.hi.u32", "div.u32",    "rem.s32"};
    uint32_t to = variable(), kind = below(10);
    if (kind < 7) {
        const char *op = two[below(sizeof two / sizeof *two)];
        put("%s%s %%r%u, %s, %s;\n", guard, op, to, operand(), operand());
    } else if (kind == 7) {
        put("%smad.lo.u32 %%r%u, %s, %s, %s;\n", guard, to, operand(),
            operand(), operand());
    } else if (kind == 8) {
        put("%sselp.b32 %%r%u, %s, %s, %%p%u;\n", guard, to, operand(),
            operand(), 1 + below(4));
    } else {
        put("%smov.u32 %%r%u, %s;\n", guard, to, operand());
    }
}

static void put_float(void)
{
    static const char *const ops[] = {"add.rn.f32", "mul.rn.f32", "sub.rn.f32",
                                      "min.f32", "div.rn.f32"};
    uint32_t to = 1 + below(6), a = 1 + below(6), b = 1 + below(6);
    switch (below(4)) {
    case 0:
        put("cvt.rn.f32.s32 %%f%u, %%r%u;\n", to, variable());
        break;
    case 1:
        put("cvt.rzi.s32.f32 %%r%u, %%f%u;\n", variable(), a);
        break;
    case 2:
        put("fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", to, a, b, 1 + below(6));
        break;
    default:
        put("%s %%f%u, %%f%u, %%f%u;\n", ops[below(5)], to, a, b);
    }
}

static void put_wide(void)
{
    uint32_t to = 20 + below(4), a = 20 + below(4), b = 20 + below(4);
    switch (below(5)) {
    case 0:
        put("mul.wide.%s %%d%u, %%r%u, %s;\n", below(2) ? "u32" : "s32", to,
            variable(), operand());
        break;
    case 1:
        put("cvt.%s %%d%u, %%r%u;\n", below(2) ? "u64.u32" : "s64.s32", to,
            variable());
        break;
    case 2:
        put("cvt.u32.u64 %%r%u, %%d%u;\n", variable(), a);
        break;
    case 3:
        put("shl.b64 %%d%u, %%d%u, %u;\n", to, a, below(66));
        break;
    default:
        put("%s.u64 %%d%u, %%d%u, %%d%u;\n",
            below(2)   ? "add"
            : below(2) ? "sub"
                       : "mul.lo",
            to, a, b);
    }
}

static void put_compare(void)
{
    static const char *const how[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    put("setp.%s.%s %%p%u, %s, %s;\n", how[below(6)], below(2) ? "u32" : "s32",
        1 + below(4), operand(), operand());
}

/* %p5: true for a good share of threads, or the same in all. */
static void put_condition(void)
{
    uint32_t kind = below(8);
    if (kind == 0)
        put("setp.lt.u32 %%p5, %%ctaid.x, %u;\n", below(5));
    else if (kind == 1)
        put("mov.pred %%p5, %%p%u;\n", 1 + below(4));
    else if (kind == 2)
        put("setp.lt.u32 %%p5, %%r1, %u;\n", below(70));
    else
        put("shr.u32 %%r20, %%r%u, %u; and.b32 %%r20, %%r20, %u;\n"
            "setp.%s.u32 %%p5, %%r20, %u;\n",
            variable(), below(20), 1 + below(7), below(2) ? "eq" : "lt",
            below(4));
}

static void put_global_load(const char *guard)
{
    put("and.b32 %%r21, %s, 4095;\n", operand());
    if (below(2))
        put("mul.wide.u32 %%d10, %%r21, 4; add.u64 %%d11, %%d1, %%d10;\n");
    else
        put("cvt.u64.u32 %%d10, %%r21; shl.b64 %%d10, %%d10, 2;\n"
            "add.u64 %%d11, %%d10, %%d1;\n");
    put("%sld.global.u32 %%r%u, [%%d11];\n", guard, variable());
}

/* Along with neighbours: contiguous or strided over the lanes. */
static void put_near_load(void)
{
    uint32_t k = 1 + below(3);
    put("mad.lo.u32 %%r21, %%r1, %u, %u; mul.wide.%s %%d10, %%r21, 4;\n"
        "add.u64 %%d11, %%d1, %%d10; ld.global.u32 %%r%u, [%%d11];\n",
        k, below(64), below(2) ? "u32" : "s32", variable());
}

/* The thread's own 16 words behind the first megabyte of `out`. */
static void put_own(bool load, const char *guard)
{
    put("and.b32 %%r21, %s, 15; shl.b32 %%r22, %%r2, 4;\n"
        "add.u32 %%r22, %%r22, %%r21; mul.wide.u32 %%d10, %%r22, 4;\n"
        "add.u64 %%d11, %%d0, %%d10;\n",
        operand());
    if (load)
        put("%sld.global.u32 %%r%u, [%%d11+1048576];\n", guard, variable());
    else
        put("%sst.global.u32 [%%d11+1048576], %s;\n", guard, operand());
}

static void put_local(bool load)
{
    put("and.b32 %%r21, %%r%u, 7; mul.wide.u32 %%d10, %%r21, 4;\n"
        "mov.u64 %%d11, mine; add.u64 %%d11, %%d11, %%d10;\n",
        variable());
    if (load)
        put("ld.local.u32 %%r%u, [%%d11];\n", variable());
    else
        put("st.local.u32 [%%d11], %%r%u;\n", variable());
}

static const char *guard(void)
{
    static char name[16];
    if (below(4))
        return "";
    snprintf(name, sizeof name, "@%s%%p%u ", below(2) ? "!" : "", 1 + below(4));
    return name;
}

static void put_simple(void)
{
    switch (below(14)) {
    case 0:
        put_global_load(guard());
        break;
    case 1:
        put_near_load();
        break;
    case 2:
        put_own(true, guard());
        break;
    case 3:
        put_own(false, guard());
        break;
    case 4:
        put_compare();
        break;
    case 5:
        put_local(below(2));
        break;
    case 6:
        put_float();
        break;
    case 7:
        put_wide();
        break;
    default:
        put_arithmetic(guard());
    }
}

static void put_block(void);

static void put_if(void)
{
    int label = labels++;
    put_condition();
    put("@%s%%p5 bra E%d;\n", below(2) ? "!" : "", label);
    put_block();
    if (below(2)) {
        put("bra F%d;\nE%d:\n", label, label);
        put_block();
        put("F%d:\n", label);
    } else {
        put("E%d:\n", label);
    }
}

static void put_loop(void)
{
    int label = labels++;
    char after[16];
    const char *outer = breaks;
    uint32_t counter = 30 + (uint32_t)loop_depth;
    snprintf(after, sizeof after, "A%d", label);
    if (loop_depth == 3)
        return;
    if (below(3))
        put("and.b32 %%r%u, %%r%u, %u;\n", counter, variable(), 3 + below(5));
    else
        put("mov.u32 %%r%u, %u;\n", counter, below(5));
    loop_depth++;
    breaks = after;
    bool tested = below(2);
    put("L%d:\n", label);
    if (tested)
        put("setp.eq.u32 %%p6, %%r%u, 0; @%%p6 bra %s;\n", counter, after);
    put_block();
    put("sub.u32 %%r%u, %%r%u, 1;\n", counter, counter);
    if (tested)
        put("bra L%d;\n", label);
    else
        put("setp.gt.s32 %%p6, %%r%u, 0; @%%p6 bra L%d;\n", counter, label);
    put("%s:\n", after);
    breaks = outer;
    loop_depth--;
}

static void put_table(void)
{
    int label = labels++;
    put("and.b32 %%r20, %%r%u, 3;\nW%d: .branchtargets X%d, Y%d, X%d, Z%d;\n"
        "brx.idx %%r20, W%d;\n",
        variable(), label, label, label, label, label, label);
    put("Y%d:\n", label);
    put_block();
    if (below(2))
        put("bra Z%d;\n", label);
    put("X%d:\n", label);
    put_block();
    put("Z%d:\n", label);
}

static void put_statement(void)
{
    uint32_t kind = below(20);
    budget--;
    if (depth < 4 && budget > 0 && kind < 3)
        put_if();
    else if (depth < 4 && budget > 0 && kind < 5)
        put_loop();
    else if (depth < 3 && budget > 0 && kind == 5)
        put_table();
    else if (breaks && kind == 6) {
        put_condition();
        put("@%%p5 bra %s;\n", breaks);
    } else if (may_leave && kind == 7 && below(3) == 0) {
        put_condition();
        put("@%%p5 %s;\n", below(2) ? "ret" : "bra END");
    } else {
        put_simple();
    }
}

static void put_block(void)
{
    depth++;
    for (uint32_t n = 1 + below(5); n > 0 && budget > 0; n--)
        put_statement();
    depth--;
}

/* All write their word, all meet, all read others' words, all meet. */
static void put_exchange(void)
{
    put("st.shared.u32 [%%r40], %s;\nbar.sync 0;\n", operand());
    for (uint32_t n = 1 + below(3); n > 0; n--) {
        if (below(2))
            put("add.u32 %%r21, %%r1, %u; rem.u32 %%r21, %%r21, %%r56;\n",
                below(9));
        else
            put("rem.u32 %%r21, %s, %%r56;\n", operand());
        put("shl.b32 %%r21, %%r21, 2; add.u32 %%r21, %%r21, %%r41;\n"
            "ld.shared.u32 %%r%u, [%%r21];\n",
            variable());
    }
    put("bar.sync 0;\n");
}

/* A loop all threads of the block go round equally often. */
static void put_meeting_loop(void)
{
    int label = labels++;
    put("mov.u32 %%r42, %u;\nM%d:\n", 1 + below(3), label);
    put_exchange();
    put_block();
    put("sub.u32 %%r42, %%r42, 1; setp.ne.u32 %%p7, %%r42, 0;\n"
        "@%%p7 bra M%d;\n",
        label);
}

static void make(uint32_t number)
{
    state = number * UINT64_C(0x9e3779b97f4a7c15) + 7;
    twice_random(&state);
    length = 0;
    labels = depth = loop_depth = 0;
    breaks = NULL;
    may_leave = below(3) == 0;
    budget = 20 + (int)below(60);
    bool meets = !may_leave && below(2);
    put("%s", TWICE_HEAD(".shared .align 4 .b8 tile[4096];\n"
                         ".local .align 4 .b8 mine[32];"));
    for (uint32_t i = 0; i < 10; i++)
        put("add.u32 %%r3, %%r2, %u; and.b32 %%r60, %%r3, 4095;\n"
            "mul.wide.u32 %%d4, %%r60, 4; add.u64 %%d5, %%d1, %%d4;\n"
            "ld.global.u32 %%r%u, [%%d5];\n",
            i * 300, 10 + i);
    for (uint32_t i = 1; i <= 6; i++)
        put("cvt.rn.f32.s32 %%f%u, %%r%u; setp.lt.s32 %%p%u, %%r%u, %%r%u;\n",
            i, 10 + i, i, 10 + i, 11 + i);
    for (uint32_t i = 0; i < 4; i++)
        put("cvt.u64.u32 %%d%u, %%r%u;\n", 20 + i, 10 + i);
    for (uint32_t i = 0; i < 8; i++)
        put("st.local.u32 [mine+%u], %%r%u;\n", 4 * i, 10 + i);
    put("mov.u32 %%r41, tile; shl.b32 %%r40, %%r1, 2;\n"
        "add.u32 %%r40, %%r40, %%r41;\n");
    while (budget > 0) {
        if (meets && below(4) == 0)
            put_exchange();
        else if (meets && below(4) == 0)
            put_meeting_loop();
        else
            put_block();
    }
    put("shl.b32 %%r22, %%r2, 4; mul.wide.u32 %%d10, %%r22, 4;\n"
        "add.u64 %%d11, %%d0, %%d10;\n");
    for (uint32_t i = 0; i < 10; i++)
        put("st.global.u32 [%%d11+%u], %%r%u;\n", 2097152 + 4 * i, 10 + i);
    for (uint32_t i = 0; i < 2; i++)
        put("st.global.f32 [%%d11+%u], %%f%u; st.global.u64 [%%d11+%u], "
            "%%d%u;\n",
            2097192 + 4 * i, 1 + i, 2097200 + 8 * i, 20 + i);
    put("END: ret;\n}\n");
}

/* ---- the suite ---- */

static uint32_t first, count = 60;

static void run(uint32_t number)
{
    static const char *const isas[] = {"avx512", "avx2", "avx512", "generic"};
    static const uint32_t blocks[][3] = {{64, 1, 1},  {16, 4, 1}, {33, 1, 1},
                                         {8, 8, 1},   {7, 5, 2},  {32, 2, 1},
                                         {128, 1, 1}, {5, 1, 1}};
    make(number);
    const uint32_t *b = blocks[below(8)];
    struct twice t = {
        .text = text, .grid = {3}, .block = {b[0], b[1], b[2]}, .n = 1};
    struct twice_result want;
    twice_run(&t, "off", "generic", &want);
    ck_assert_msg(want.status == SC_EXEC_OK, "%s\n%s", want.why, text);
    const char *isa = isas[number % 4];
    twice_compare(&t, twice_has(isa) ? isa : "generic", &want);
    free(want.out);
}

START_TEST(random_kernel_is_the_same)
{
    run((uint32_t)_i);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 2) {
        make((uint32_t)strtoul(argv[1], NULL, 0));
        fputs(text, stdout);
        return EXIT_SUCCESS;
    }
    if (argc > 2) {
        first = (uint32_t)strtoul(argv[1], NULL, 0);
        count = (uint32_t)strtoul(argv[2], NULL, 0);
    }
    if (!twice_has_compiler())
        return 77;
    Suite *suite = suite_create("softcuda native: random kernels");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, random_kernel_is_the_same, (int)first,
                        (int)(first + count));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

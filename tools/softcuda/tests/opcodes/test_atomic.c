/*
 * atom and red: every operation and type, alone and contended.
 *
 * Alone, each lane has a cell of its own and both the value returned and the
 * value left must be exact. Contended, all lanes of several CTAs share one
 * cell, and only what no order can change is checked.
 */
#include "common/suite.h"

#include <inttypes.h>
#include <string.h>

#include "expect.h"
#include "inputs.h"
#include "machine.h"
#include "opcase.h"
#include "runner.h"
#include "text.h"

enum { THREADS = 96, CTAS = 8, LANES = THREADS * CTAS };

enum operation { ADD, MIN, MAX, AND, OR, XOR, INC, DEC, EXCH, CAS, OPERATIONS };

static const char *const names[OPERATIONS] = {
    "add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"};

static const struct form {
    enum operation op;
    enum op_type type;
    bool reduces; /* red has it, too */
} forms[] = {
    {ADD, U32, true},   {ADD, S32, true},  {ADD, U64, true},
    {ADD, F16, true},   {ADD, BF16, true}, {ADD, F32, true},
    {ADD, F64, true},   {MIN, U32, true},  {MIN, S32, true},
    {MIN, U64, true},   {MIN, S64, true},  {MAX, U32, true},
    {MAX, S32, true},   {MAX, U64, true},  {MAX, S64, true},
    {AND, B32, true},   {AND, B64, true},  {OR, B32, true},
    {OR, B64, true},    {XOR, B32, true},  {XOR, B64, true},
    {INC, U32, true},   {DEC, U32, true},  {EXCH, B32, false},
    {EXCH, B64, false}, {CAS, B16, false}, {CAS, B32, false},
    {CAS, B64, false},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Value left in the cell; c is the third operand of cas. */
static uint64_t applied(const struct form *f, uint64_t old, uint64_t b,
                        uint64_t c, bool flush)
{
    sfp_i128 x = op_int(f->type, old), y = op_int(f->type, b);
    const struct sfp_format *format = op_type_format(f->type);
    switch (f->op) {
    case ADD:
        if (format)
            return sfp_pack(format,
                            sfp_add(sfp_unpack(format, old, flush),
                                    sfp_unpack(format, b, flush), SFP_RN),
                            SFP_RN, flush ? SFP_FTZ : 0);
        return op_wrap(f->type, x + y);
    case MIN:
        return op_wrap(f->type, x < y ? x : y);
    case MAX:
        return op_wrap(f->type, x > y ? x : y);
    case AND:
        return old & b;
    case OR:
        return old | b;
    case XOR:
        return old ^ b;
    case INC:
        return x >= y ? 0 : old + 1;
    case DEC:
        return x == 0 || x > y ? b : old - 1;
    case EXCH:
        return b;
    default:
        return old == b ? c : old;
    }
}

static const char *mnemonic(const struct form *f, const char *verb,
                            const char *space, const char *scope)
{
    static char text[80];
    bool half = f->type == F16 || f->type == BF16;
    snprintf(text, sizeof text, "%s%s%s.%s%s.%s", verb, scope, space,
             names[f->op], half ? ".noftz" : "", op_type_name(f->type));
    return text;
}

/* Parameters: cells, b, c, out, mask; one 8-byte slot per lane. */
static void put_head(struct text *t, int bits)
{
    text_put(t,
             MACHINE_HEAD
             ".visible .entry k(.param .u64 p0,.param .u64 p1,.param .u64 p2,\n"
             " .param .u64 p3,.param .u64 p4)\n{\n"
             ".shared .align 8 .b8 sh[%d];\n"
             ".reg .b64 %%l<12>,%%off,%%soff;\n.reg .b32 %%s<8>;\n"
             ".reg .b%d %%d,%%b,%%c;\n.reg .pred %%active,%%q;\n"
             "mov.u32 %%s0,%%tid.x; mov.u32 %%s1,%%ctaid.x;\n"
             "mul.wide.u32 %%soff,%%s0,8; mad.lo.u32 %%s1,%%s1,%d,%%s0;\n"
             "mul.wide.u32 %%off,%%s1,8;\n",
             THREADS * 8, bits, THREADS);
    for (int i = 0; i < 5; i++)
        text_put(t, "ld.param.u64 %%l%d,[p%d];\n", i, i);
    text_put(t,
             "add.s64 %%l5,%%l1,%%off; ld.global.b%d %%b,[%%l5];\n"
             "add.s64 %%l5,%%l2,%%off; ld.global.b%d %%c,[%%l5];\n"
             "add.s64 %%l6,%%l3,%%off;\n"
             "add.s64 %%l5,%%l4,%%off; ld.global.u32 %%s2,[%%l5];\n"
             "setp.ne.u32 %%active,%%s2,0;\n",
             bits, bits);
}

enum place { IN_GLOBAL, IN_SHARED, GENERIC_GLOBAL, GENERIC_SHARED, PLACES };

static const char *const place_space[PLACES] = {".global", ".shared", "", ""};

static bool in_shared(enum place place)
{
    return place == IN_SHARED || place == GENERIC_SHARED;
}

struct cells {
    uint64_t *cell, *b, *c, *out, *mask;
};

static struct cells make_cells(void)
{
    size_t bytes = LANES * sizeof(uint64_t);
    return (struct cells){machine_alloc(bytes), machine_alloc(bytes),
                          machine_alloc(bytes), machine_alloc(bytes),
                          machine_alloc(bytes)};
}

static enum sc_exec_status launch(const char *ptx, const struct cells *m)
{
    uint64_t arguments[] = {machine_address(m->cell), machine_address(m->b),
                            machine_address(m->c), machine_address(m->out),
                            machine_address(m->mask)};
    return machine_run(ptx, CTAS, THREADS, arguments, 5);
}

/* Each lane its own cell; under shared, the cell is copied there and back. */
static void put_alone(struct text *t, const struct form *f, enum place place,
                      const char *verb, const char *scope)
{
    int bits = op_type_bits(f->type);
    const char *text = mnemonic(f, verb, place_space[place], scope);
    put_head(t, bits);
    text_put(t, "add.s64 %%l7,%%l0,%%off;\n");
    if (in_shared(place))
        text_put(t, "mov.u64 %%l8,sh; add.s64 %%l8,%%l8,%%soff;\n"
                    "ld.global.b64 %%l9,[%%l7]; st.shared.b64 [%%l8],%%l9;\n");
    else
        text_put(t, "mov.u64 %%l8,%%l7;\n");
    if (place == GENERIC_SHARED)
        text_put(t, "cvta.shared.u64 %%l8,%%l8;\n");
    text_put(t, "ld.global.b%d %%d,[%%l6];\n@%%active %s %s[%%l8],%%b%s;\n",
             bits, text, *verb == 'a' ? "%d," : "", f->op == CAS ? ",%c" : "");
    text_put(t, "st.global.b%d [%%l6],%%d;\n", bits);
    if (in_shared(place))
        text_put(t, "ld%s.b64 %%l9,[%%l8]; st.global.b64 [%%l7],%%l9;\n",
                 place_space[place]);
    text_put(t, "ret;\n}\n");
}

static void fill_alone(const struct form *f, const struct cells *m)
{
    char signature[16], kind = op_type_kind(f->type);
    char class = f->type == BF16 ? 'b' : op_type_is_float(f->type) ? 'f' : 'i';
    uint64_t *in[] = {m->cell, m->b, m->c}, seed = input_seed();
    snprintf(signature, sizeof signature, "%c %c%c%c%c%c%c", kind, kind, class,
             kind, class, kind, class);
    input_fill(signature, in, LANES, seed);
    for (int i = 0; i < LANES; i++) {
        m->mask[i] = i < THREADS || (input_random(&seed) >> 35 & 1);
        m->out[i] = 0x5a5a;
        if (f->op == CAS && i % 3)
            m->b[i] = m->cell[i];
    }
}

static void check_alone(const struct form *f, enum place place,
                        const char *verb, const char *scope)
{
    struct text *t = text_begin();
    struct op_case c = {.compare = op_type_compare(f->type)};
    static uint64_t before[LANES];
    machine_forget();
    struct cells m = make_cells();
    fill_alone(f, &m);
    memcpy(before, m.cell, sizeof before);
    put_alone(t, f, place, verb, scope);
    if (launch(t->buffer, &m) != SC_EXEC_OK)
        return;
    for (int i = 0; i < LANES; i++) {
        bool returns = m.mask[i] && *verb == 'a';
        uint64_t out = returns ? before[i] : 0x5a5a;
        uint64_t left = before[i], flushed = before[i];
        if (m.mask[i]) {
            left = applied(f, before[i], m.b[i], m.c[i], false);
            flushed = applied(f, before[i], m.b[i], m.c[i], f->type == F32);
        }
        EXPECT(m.out[i] == out,
               "lane %d returned %#" PRIx64 ", want %#" PRIx64 "\n%s", i,
               m.out[i], out, t->buffer);
        /* The ISA lets add.f32 in global memory flush subnormals. */
        EXPECT(runner_agrees(&c, m.cell[i], left, 0) || m.cell[i] == flushed,
               "lane %d left %#" PRIx64 ", want %#" PRIx64 "\n%s", i, m.cell[i],
               left, t->buffer);
    }
}

START_TEST(each_lane_alone_returns_old_and_leaves_new)
{
    machine_open();
    for (int i = 0; i < FORMS; i++) {
        for (int place = 0; place < PLACES; place++) {
            check_alone(&forms[i], place, "atom", "");
            if (forms[i].reduces)
                check_alone(&forms[i], place, "red", "");
        }
    }
    machine_close();
}
END_TEST

START_TEST(orders_and_scopes_are_accepted)
{
    static const char *const scopes[] = {
        ".relaxed.cta", ".relaxed.gpu", ".relaxed.sys", ".acquire.gpu",
        ".release.gpu", ".acq_rel.gpu", ".acq_rel.sys"};
    machine_open();
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        check_alone(&forms[0], IN_GLOBAL, "atom", scopes[i]);
        check_alone(&forms[FORMS - 2], GENERIC_GLOBAL, "atom", scopes[i]);
        if (i < 3)
            check_alone(&forms[0], IN_GLOBAL, "red", scopes[i]);
    }
    machine_close();
}
END_TEST

/* All lanes on one cell, or one per CTA in shared memory. */
static void put_contended(struct text *t, const struct form *f,
                          enum place place, const char *verb)
{
    int bits = op_type_bits(f->type);
    const char *text = mnemonic(f, verb, place_space[place], "");
    put_head(t, bits);
    text_put(t, "mov.u64 %%l8,%%l0;\nsetp.eq.u32 %%q,%%s0,0;\n");
    if (in_shared(place))
        text_put(t, "mov.u64 %%l8,sh;\nld.global.b64 %%l9,[%%l0];\n"
                    "@%%q st.shared.b64 [%%l8],%%l9;\nbar.sync 0;\n");
    if (place == GENERIC_SHARED)
        text_put(t, "cvta.shared.u64 %%l8,%%l8;\n");
    text_put(t, "@%%active %s %s[%%l8],%%b%s;\n", text,
             *verb == 'a' ? "%d," : "", f->op == CAS ? ",%c" : "");
    if (*verb == 'a')
        text_put(t, "@%%active st.global.b%d [%%l6],%%d;\n", bits);
    if (in_shared(place))
        text_put(t,
                 "bar.sync 0;\nld%s.b64 %%l9,[%%l8];\n"
                 "mov.u32 %%s3,%%ctaid.x; mad.wide.u32 %%l0,%%s3,8,%%l0;\n"
                 "@%%q st.global.b64 [%%l0+8],%%l9;\n",
                 place_space[place]);
    text_put(t, "ret;\n}\n");
}

static uint64_t small_number(enum op_type type, uint64_t n)
{
    const struct sfp_format *format = op_type_format(type);
    if (format)
        return sfp_pack(format, sfp_from_int((sfp_i128)n), SFP_RN, 0);
    return n;
}

/* Operands whose total no order changes: small counts for sums. */
static uint64_t operand(const struct form *f, int lane, uint64_t r)
{
    switch (f->op) {
    case ADD:
        return small_number(f->type, op_type_bits(f->type) == 16 ? lane % 8 == 0
                                                                 : lane % 5);
    case INC:
    case DEC:
        return 36;
    case CAS:
        return (uint64_t)lane; /* only one lane can find its own number */
    default:
        return op_wrap(f->type, (sfp_i128)(r | (f->op == AND ? r << 7 : 0)));
    }
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The returned values of one group of lanes and the value left, against what a
 * run of the group in lane order returns: as multisets where order shows. */
static void check_group(const struct form *f, const struct cells *m, int first,
                        int count, uint64_t start, uint64_t left, bool returns)
{
    static uint64_t want[LANES + 1], got[LANES + 1];
    uint64_t cell = start;
    int n = 0;
    for (int i = first; i < first + count; i++) {
        if (!m->mask[i])
            continue;
        want[n] = cell;
        got[n++] = m->out[i];
        cell = applied(f, cell, m->b[i], m->c[i], false);
    }
    if (f->op == EXCH) {
        want[n] = cell;
        got[n] = left;
    } else {
        EXPECT(left == cell, "%s.%s left %#" PRIx64 ", want %#" PRIx64,
               names[f->op], op_type_name(f->type), left, cell);
    }
    /* Only these return the same values in any order. */
    bool fixed = f->op == INC || f->op == DEC || f->op == EXCH;
    if (!returns || !fixed)
        return;
    n += f->op == EXCH;
    qsort(want, (size_t)n, sizeof *want, compare_words);
    qsort(got, (size_t)n, sizeof *got, compare_words);
    for (int i = 0; i < n; i++)
        EXPECT(want[i] == got[i], "%s.%s: returned values differ", names[f->op],
               op_type_name(f->type));
}

static void check_contended(const struct form *f, enum place place,
                            const char *verb)
{
    struct text *t = text_begin();
    uint64_t seed = input_seed(), start;
    machine_forget();
    struct cells m = make_cells();
    for (int i = 0; i < LANES; i++) {
        m.mask[i] = i < THREADS || (input_random(&seed) >> 35 & 1);
        m.b[i] = operand(f, i, input_random(&seed));
        m.c[i] = op_wrap(f->type, i + 1000);
    }
    start = f->op == AND ? op_wrap(f->type, -1) : small_number(f->type, 7);
    m.cell[0] = start;
    put_contended(t, f, place, verb);
    if (launch(t->buffer, &m) != SC_EXEC_OK)
        return;
    bool returns = *verb == 'a';
    if (f->op == EXCH && !returns)
        return;
    if (!in_shared(place)) {
        check_group(f, &m, 0, LANES, start, m.cell[0], returns);
        return;
    }
    for (int i = 0; i < CTAS; i++)
        check_group(f, &m, i * THREADS, THREADS, start, m.cell[1 + i], returns);
}

START_TEST(contended_cells_lose_no_update)
{
    machine_open();
    for (int i = 0; i < FORMS; i++) {
        for (int place = 0; place < PLACES; place++) {
            check_contended(&forms[i], place, "atom");
            if (forms[i].reduces)
                check_contended(&forms[i], place, "red");
        }
    }
    machine_close();
}
END_TEST

START_TEST(counted_tickets_are_unique)
{
    static const char ptx[] = MACHINE_HEAD
        ".visible .entry k(.param .u64 p,.param .u64 o)\n{\n"
        ".reg .b64 %l<6>;\n.reg .b32 %s<4>;\n"
        "ld.param.u64 %l0,[p];\nld.param.u64 %l1,[o];\n"
        "atom.global.add.u32 %s0,[%l0],1;\n"
        "mad.wide.u32 %l2,%s0,4,%l1;\nred.global.add.u32 [%l2],1;\n"
        "ret;\n}\n";
    machine_open();
    uint32_t *counter = machine_alloc(4), *seen = machine_alloc(LANES * 4);
    uint64_t arguments[] = {machine_address(counter), machine_address(seen)};
    machine_run(ptx, CTAS, THREADS, arguments, 2);
    ck_assert_uint_eq(*counter, LANES);
    for (int i = 0; i < LANES; i++)
        EXPECT(seen[i] == 1, "ticket %d: %u", i, seen[i]);
    machine_close();
}
END_TEST

/* A lock taken by lanes of one warp: the holder must run on to release it. */
START_TEST(spin_lock_within_a_warp_ends)
{
    static const char ptx[] =
        MACHINE_HEAD ".visible .entry k(.param .u64 p)\n{\n"
                     ".reg .b64 %l<4>;\n.reg .b32 %s<4>;\n.reg .pred %q;\n"
                     "ld.param.u64 %l0,[p];\n"
                     "AGAIN:\natom.global.acquire.gpu.cas.b32 %s0,[%l0],0,1;\n"
                     "setp.ne.u32 %q,%s0,0;\n@%q bra AGAIN;\n"
                     "ld.volatile.global.u32 %s1,[%l0+4];\nadd.u32 %s1,%s1,1;\n"
                     "st.volatile.global.u32 [%l0+4],%s1;\nmembar.gl;\n"
                     "atom.global.exch.b32 %s2,[%l0],0;\nret;\n}\n";
    machine_open();
    uint32_t *lock = machine_alloc(8);
    uint64_t argument = machine_address(lock);
    machine_run(ptx, 4, 64, &argument, 1);
    ck_assert_uint_eq(lock[1], 256);
    ck_assert_uint_eq(lock[0], 0);
    machine_close();
}
END_TEST

START_TEST(compare_and_swap_loops_add_exactly)
{
    static const char ptx[] = MACHINE_HEAD
        ".visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %l<4>;\n.reg .b32 %s<6>;\n.reg .pred %q;\n"
        "ld.param.u64 %l0,[p];\nld.global.u32 %s0,[%l0];\n"
        "AGAIN:\nmov.u32 %s3,%s0;\nadd.rn.f32 %s1,%s3,0f3F800000;\n"
        "atom.global.cas.b32 %s0,[%l0],%s3,%s1;\n"
        "setp.ne.u32 %q,%s0,%s3;\n@%q bra AGAIN;\nret;\n}\n";
    machine_open();
    float *sum = machine_alloc(4);
    uint64_t argument = machine_address(sum);
    machine_run(ptx, CTAS, THREADS, &argument, 1);
    ck_assert(*sum == LANES);
    machine_close();
}
END_TEST

SUITE_MAIN("softcuda atomic opcodes", 60,
           each_lane_alone_returns_old_and_leaves_new,
           orders_and_scopes_are_accepted, contended_cells_lose_no_update,
           counted_tickets_are_unique, spin_lock_within_a_warp_ends,
           compare_and_swap_loops_add_exactly)

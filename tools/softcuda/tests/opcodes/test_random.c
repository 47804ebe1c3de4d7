/*
 * Random kernels against a scalar evaluator: 1,000 seeded programs of integer
 * and float instructions with predicates, constants and divergent skips.
 *
 * The evaluator runs one lane at a time on host arithmetic and shares nothing
 * with the machine. A failing program is printed whole. OPCODES_SEED moves the
 * programs, OPCODES_PROGRAMS sets how many run.
 */
#include "common/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "expect.h"
#include "inputs.h"
#include "machine.h"
#include "text.h"

enum { PROGRAMS = 1000, LENGTH = 40, THREADS = 70, REGISTERS = 6 };

union value {
    uint32_t u;
    int32_t s;
    uint64_t l;
    int64_t i;
    float f;
    double d;
    bool p;
};

typedef void evaluator(union value *d, const union value *a);

#define EVALUATE(name, statement)                                              \
    static void e_##name(union value *d, const union value *a)                 \
    {                                                                          \
        statement;                                                             \
    }

EVALUATE(add32, d->u = a[0].u + a[1].u)
EVALUATE(sub32, d->u = a[0].u - a[1].u)
EVALUATE(mul32, d->u = a[0].u * a[1].u)
EVALUATE(mad32, d->u = a[0].u * a[1].u + a[2].u)
EVALUATE(hi_u32, d->u = (uint32_t)((uint64_t)a[0].u * a[1].u >> 32))
EVALUATE(hi_s32, d->u = (uint32_t)((int64_t)a[0].s * a[1].s >> 32))
EVALUATE(wide_u32, d->l = (uint64_t)a[0].u * a[1].u)
EVALUATE(wide_s32, d->i = (int64_t)a[0].s * a[1].s)
EVALUATE(and32, d->u = a[0].u & a[1].u)
EVALUATE(or32, d->u = a[0].u | a[1].u)
EVALUATE(xor32, d->u = a[0].u ^ a[1].u)
EVALUATE(not32, d->u = ~a[0].u)
EVALUATE(shl32, d->u = a[1].u > 31 ? 0 : a[0].u << a[1].u)
EVALUATE(shr_u32, d->u = a[1].u > 31 ? 0 : a[0].u >> a[1].u)
EVALUATE(shr_s32, d->s = a[0].s >> (a[1].u > 31 ? 31 : a[1].u))
EVALUATE(min_s32, d->s = a[0].s < a[1].s ? a[0].s : a[1].s)
EVALUATE(max_u32, d->u = a[0].u > a[1].u ? a[0].u : a[1].u)
EVALUATE(neg32, d->u = 0 - a[0].u)
EVALUATE(abs32, d->u = a[0].s < 0 ? 0 - a[0].u : a[0].u)
EVALUATE(popc, d->u = (uint32_t)__builtin_popcount(a[0].u))
EVALUATE(clz, d->u = a[0].u ? (uint32_t)__builtin_clz(a[0].u) : 32)
EVALUATE(selp, d->u = a[2].p ? a[0].u : a[1].u)
EVALUATE(div_u32, d->u = a[0].u / (a[1].u | 1))
EVALUATE(rem_u32, d->u = a[0].u % (a[1].u | 1))
EVALUATE(add64, d->l = a[0].l + a[1].l)
EVALUATE(sub64, d->l = a[0].l - a[1].l)
EVALUATE(mul64, d->l = a[0].l * a[1].l)
EVALUATE(xor64, d->l = a[0].l ^ a[1].l)
EVALUATE(shl64, d->l = a[1].u > 63 ? 0 : a[0].l << a[1].u)
EVALUATE(shr_s64, d->i = a[0].i >> (a[1].u > 63 ? 63 : a[1].u))
EVALUATE(max_s64, d->i = a[0].i > a[1].i ? a[0].i : a[1].i)
EVALUATE(low, d->u = (uint32_t)a[0].l)
EVALUATE(sign_extend, d->i = a[0].s)
EVALUATE(join, d->l = (uint64_t)a[1].u << 32 | a[0].u)
EVALUATE(fadd, d->f = a[0].f + a[1].f)
EVALUATE(fsub, d->f = a[0].f - a[1].f)
EVALUATE(fmul, d->f = a[0].f * a[1].f)
EVALUATE(ffma, d->f = fmaf(a[0].f, a[1].f, a[2].f))
EVALUATE(fdiv, d->f = a[0].f / a[1].f)
EVALUATE(froot, d->f = sqrtf(a[0].f))
EVALUATE(fneg, d->f = -a[0].f)
EVALUATE(fabs32, d->f = fabsf(a[0].f))
EVALUATE(dadd, d->d = a[0].d + a[1].d)
EVALUATE(dmul, d->d = a[0].d * a[1].d)
EVALUATE(dfma, d->d = fma(a[0].d, a[1].d, a[2].d))
EVALUATE(from_s32, d->f = (float)a[0].s)
EVALUATE(from_u64, d->d = (double)a[0].l)
EVALUATE(widen, d->d = a[0].f)
EVALUATE(narrow, d->f = (float)a[0].d)
EVALUATE(lt_s32, d->p = a[0].s < a[1].s)
EVALUATE(hs_u32, d->p = a[0].u >= a[1].u)
EVALUATE(eq_b64, d->p = a[0].l == a[1].l)
EVALUATE(lt_f32, d->p = a[0].f < a[1].f)
EVALUATE(geu_f64, d->p = !(a[0].d < a[1].d))
EVALUATE(and_pred, d->p = a[0].p & a[1].p)
EVALUATE(xor_pred, d->p = a[0].p ^ a[1].p)
EVALUATE(not_pred, d->p = !a[0].p)

/* NaN gives 0, the ends clamp. */
static void e_to_s32(union value *d, const union value *a)
{
    float f = a[0].f;
    d->s = isnan(f)            ? 0
           : f >= 2147483648.f ? INT32_MAX
           : f < -2147483648.f ? INT32_MIN
                               : (int32_t)f;
}

/* Kinds: s 32-bit integer, l 64-bit, f f32, d f64, p predicate; the first is
 * the destination. A statement may use %t, a 32-bit scratch register. */
static const struct {
    const char *text;
    const char *kinds;
    evaluator *evaluate;
} menu[] = {
    {"add.s32 %0,%1,%2", "sss", e_add32},
    {"sub.u32 %0,%1,%2", "sss", e_sub32},
    {"mul.lo.s32 %0,%1,%2", "sss", e_mul32},
    {"mad.lo.u32 %0,%1,%2,%3", "ssss", e_mad32},
    {"mul.hi.u32 %0,%1,%2", "sss", e_hi_u32},
    {"mul.hi.s32 %0,%1,%2", "sss", e_hi_s32},
    {"mul.wide.u32 %0,%1,%2", "lss", e_wide_u32},
    {"mul.wide.s32 %0,%1,%2", "lss", e_wide_s32},
    {"and.b32 %0,%1,%2", "sss", e_and32},
    {"or.b32 %0,%1,%2", "sss", e_or32},
    {"xor.b32 %0,%1,%2", "sss", e_xor32},
    {"not.b32 %0,%1", "ss", e_not32},
    {"shl.b32 %0,%1,%2", "sss", e_shl32},
    {"shr.u32 %0,%1,%2", "sss", e_shr_u32},
    {"shr.s32 %0,%1,%2", "sss", e_shr_s32},
    {"min.s32 %0,%1,%2", "sss", e_min_s32},
    {"max.u32 %0,%1,%2", "sss", e_max_u32},
    {"neg.s32 %0,%1", "ss", e_neg32},
    {"abs.s32 %0,%1", "ss", e_abs32},
    {"popc.b32 %0,%1", "ss", e_popc},
    {"clz.b32 %0,%1", "ss", e_clz},
    {"selp.b32 %0,%1,%2,%3", "sssp", e_selp},
    {"or.b32 %t,%2,1; div.u32 %0,%1,%t", "sss", e_div_u32},
    {"or.b32 %t,%2,1; rem.u32 %0,%1,%t", "sss", e_rem_u32},
    {"add.s64 %0,%1,%2", "lll", e_add64},
    {"sub.s64 %0,%1,%2", "lll", e_sub64},
    {"mul.lo.u64 %0,%1,%2", "lll", e_mul64},
    {"xor.b64 %0,%1,%2", "lll", e_xor64},
    {"shl.b64 %0,%1,%2", "lls", e_shl64},
    {"shr.s64 %0,%1,%2", "lls", e_shr_s64},
    {"max.s64 %0,%1,%2", "lll", e_max_s64},
    {"cvt.u32.u64 %0,%1", "sl", e_low},
    {"cvt.s64.s32 %0,%1", "ls", e_sign_extend},
    {"mov.b64 %0,{%1,%2}", "lss", e_join},
    {"add.f32 %0,%1,%2", "fff", e_fadd},
    {"sub.rn.f32 %0,%1,%2", "fff", e_fsub},
    {"mul.f32 %0,%1,%2", "fff", e_fmul},
    {"fma.rn.f32 %0,%1,%2,%3", "ffff", e_ffma},
    {"div.rn.f32 %0,%1,%2", "fff", e_fdiv},
    {"sqrt.rn.f32 %0,%1", "ff", e_froot},
    {"neg.f32 %0,%1", "ff", e_fneg},
    {"abs.f32 %0,%1", "ff", e_fabs32},
    {"add.f64 %0,%1,%2", "ddd", e_dadd},
    {"mul.rn.f64 %0,%1,%2", "ddd", e_dmul},
    {"fma.rn.f64 %0,%1,%2,%3", "dddd", e_dfma},
    {"cvt.rn.f32.s32 %0,%1", "fs", e_from_s32},
    {"cvt.rn.f64.u64 %0,%1", "dl", e_from_u64},
    {"cvt.f64.f32 %0,%1", "df", e_widen},
    {"cvt.rn.f32.f64 %0,%1", "fd", e_narrow},
    {"cvt.rzi.s32.f32 %0,%1", "sf", e_to_s32},
    {"setp.lt.s32 %0,%1,%2", "pss", e_lt_s32},
    {"setp.hs.u32 %0,%1,%2", "pss", e_hs_u32},
    {"setp.eq.b64 %0,%1,%2", "pll", e_eq_b64},
    {"setp.lt.f32 %0,%1,%2", "pff", e_lt_f32},
    {"setp.geu.f64 %0,%1,%2", "pdd", e_geu_f64},
    {"and.pred %0,%1,%2", "ppp", e_and_pred},
    {"xor.pred %0,%1,%2", "ppp", e_xor_pred},
    {"not.pred %0,%1", "pp", e_not_pred},
};
enum { MENU = sizeof menu / sizeof *menu };

static const char kind_names[] = "slfdp";
enum { KINDS = 5 };

static int kind_index(char kind)
{
    return (int)(strchr(kind_names, kind) - kind_names);
}

struct operand {
    bool constant;
    int number; /* register */
    union value value;
};

struct step {
    int op, destination;
    int guard; /* predicate register, or -1 */
    bool guard_negated;
    int skip; /* this many steps are jumped over by lanes the guard holds for;
                 0: the guard is the instruction's own */
    struct operand sources[3];
};

static struct operand random_operand(char kind, uint64_t *seed)
{
    uint64_t r = input_random(seed);
    struct operand o = {.number = (int)(r % REGISTERS)};
    if (kind == 'p' || r >> 60)
        return o;
    o.constant = true;
    uint64_t bits = input_random(seed);
    if (kind == 'f')
        o.value.f = (float)((int)(bits % 2001) - 1000) / 8;
    else if (kind == 'd')
        o.value.d = (double)((int)(bits % 2001) - 1000) / 16;
    else if (kind == 's')
        o.value.u = r & 1 << 20 ? (uint32_t)bits : (uint32_t)(bits % 40);
    else
        o.value.l = bits;
    return o;
}

static void make_program(struct step *program, uint64_t *seed)
{
    int open = 0; /* steps left in a skipped region: they do not nest */
    for (int i = 0; i < LENGTH; i++) {
        struct step *s = &program[i];
        uint64_t r = input_random(seed);
        s->op = (int)(r % MENU);
        s->destination = (int)(r >> 16 & 0xff) % REGISTERS;
        s->guard = r >> 60 < 5 ? (int)(r >> 24 & 0xff) % REGISTERS : -1;
        s->guard_negated = r >> 40 & 1;
        s->skip = 0;
        if (s->guard >= 0 && open == 0 && (r >> 41 & 3) == 0) {
            s->skip = 1 + (int)(r >> 48 & 7);
            open = s->skip + 1;
        }
        open -= open > 0;
        const char *kinds = menu[s->op].kinds;
        for (int k = 1; kinds[k]; k++)
            s->sources[k - 1] = random_operand(kinds[k], seed);
    }
}

static void put_operand(struct text *t, char kind, const struct operand *o)
{
    uint32_t low;
    memcpy(&low, &o->value, sizeof low);
    if (!o->constant)
        text_put(t, "%%%c%d", kind, o->number);
    else if (kind == 'f')
        text_put(t, "0f%08x", low);
    else if (kind == 'd')
        text_put(t, "0d%016" PRIx64, o->value.l);
    else if (kind == 's')
        text_put(t, "%d", o->value.s);
    else
        text_put(t, "%" PRId64, o->value.i);
}

/* One statement of a menu entry, up to ';' or the end. */
static void put_statement(struct text *t, const struct step *s,
                          const char *from, size_t n)
{
    const char *kinds = menu[s->op].kinds;
    if (s->guard >= 0 && !s->skip)
        text_put(t, "@%s%%p%d ", s->guard_negated ? "!" : "", s->guard);
    for (size_t i = 0; i < n; i++) {
        if (from[i] != '%') {
            text_put(t, "%c", from[i]);
            continue;
        }
        int k = from[++i] - '0';
        if (from[i] == 't')
            text_put(t, "%%t");
        else if (k == 0)
            text_put(t, "%%%c%d", kinds[0], s->destination);
        else
            put_operand(t, kinds[k], &s->sources[k - 1]);
    }
    text_put(t, ";\n");
}

static void put_step(struct text *t, const struct step *program, int i)
{
    const struct step *s = &program[i];
    const char *text = menu[s->op].text;
    const char *second = strstr(text, "; ");
    if (s->skip) {
        int target = i + 1 + s->skip < LENGTH ? i + 1 + s->skip : LENGTH;
        text_put(t, "@%s%%p%d bra L%d;\n", s->guard_negated ? "!" : "",
                 s->guard, target);
    }
    if (second) {
        put_statement(t, s, text, (size_t)(second - text));
        text = second + 2;
    }
    put_statement(t, s, text, strlen(text));
}

static const char *const storage[KINDS] = {"u32", "u64", "f32", "f64", "u32"};

/* Every register has a slot of 8 bytes a lane in `in` and in `out`. */
static void put_registers(struct text *t, bool load)
{
    for (int k = 0; k < KINDS; k++) {
        for (int n = 0; n < REGISTERS; n++) {
            int at = 8 * (k * REGISTERS + n);
            bool pred = kind_names[k] == 'p';
            char r[8];
            snprintf(r, sizeof r, pred ? "%%t" : "%%%c%d", kind_names[k], n);
            if (!load && pred)
                text_put(t, "selp.u32 %%t,1,0,%%p%d;\n", n);
            if (load)
                text_put(t, "ld.global.%s %s,[%%in+%d];\n", storage[k], r, at);
            else
                text_put(t, "st.global.%s [%%out+%d],%s;\n", storage[k], at, r);
            if (load && pred)
                text_put(t, "setp.ne.u32 %%p%d,%%t,0;\n", n);
        }
    }
}

static void put_program(struct text *t, const struct step *program)
{
    text_put(t,
             MACHINE_HEAD
             ".visible .entry k(.param .u64 pi,.param .u64 po)\n{\n"
             ".reg .b32 %%s<%d>,%%t;\n.reg .b64 %%l<%d>,%%in,%%out;\n"
             ".reg .f32 %%f<%d>;\n.reg .f64 %%d<%d>;\n.reg .pred %%p<%d>;\n"
             "ld.param.u64 %%in,[pi];\nld.param.u64 %%out,[po];\n"
             "mov.u32 %%t,%%tid.x;\nmad.wide.u32 %%in,%%t,%d,%%in;\n"
             "mad.wide.u32 %%out,%%t,%d,%%out;\n",
             REGISTERS, REGISTERS, REGISTERS, REGISTERS, REGISTERS,
             8 * KINDS * REGISTERS, 8 * KINDS * REGISTERS);
    put_registers(t, true);
    for (int i = 0; i <= LENGTH; i++) {
        for (int j = 0; j < i; j++) {
            int target = j + 1 + program[j].skip;
            if (program[j].skip && (target < LENGTH ? target : LENGTH) == i)
                text_put(t, "L%d:\n", i);
        }
        if (i < LENGTH)
            put_step(t, program, i);
    }
    put_registers(t, false);
    text_put(t, "ret;\n}\n");
}

typedef union value state[KINDS][REGISTERS];

static void evaluate(const struct step *program, state regs)
{
    for (int i = 0; i < LENGTH; i++) {
        const struct step *s = &program[i];
        const char *kinds = menu[s->op].kinds;
        union value a[3], d = {.l = 0};
        if (s->guard >= 0) {
            bool holds = regs[kind_index('p')][s->guard].p != s->guard_negated;
            if (s->skip && holds) {
                i += s->skip;
                continue;
            }
            if (!s->skip && !holds)
                continue;
        }
        for (int k = 1; kinds[k]; k++) {
            const struct operand *o = &s->sources[k - 1];
            a[k - 1] =
                o->constant ? o->value : regs[kind_index(kinds[k])][o->number];
        }
        menu[s->op].evaluate(&d, a);
        regs[kind_index(kinds[0])][s->destination] = d;
    }
}

static bool same(char kind, uint64_t got, union value want)
{
    union value g = {.l = got};
    switch (kind) {
    case 'f':
        return g.u == want.u || (isnan(g.f) && isnan(want.f));
    case 'd':
        return g.l == want.l || (isnan(g.d) && isnan(want.d));
    case 'l':
        return g.l == want.l;
    case 'p':
        return (g.u != 0) == want.p;
    default:
        return g.u == want.u;
    }
}

static uint64_t random_register(char kind, uint64_t *seed)
{
    uint64_t r = input_random(seed);
    union value v = {.l = r};
    if (kind == 'f')
        v = (union value){.f = (float)((int)(r % 20001) - 10000) / 32};
    if (kind == 'd')
        v = (union value){.d = (double)((int)(r % 20001) - 10000) / 64};
    if (kind == 's' && r >> 62 == 0)
        v = (union value){.u = (uint32_t)(r % 64)};
    if (kind == 'p')
        v = (union value){.l = r >> 20 & 1};
    return v.l;
}

typedef uint64_t slots[KINDS][REGISTERS];

static void check_lane(const struct step *program, const slots in,
                       const slots out, const char *ptx, int lane)
{
    state regs;
    for (int k = 0; k < KINDS; k++)
        for (int n = 0; n < REGISTERS; n++)
            regs[k][n].l = in[k][n];
    evaluate(program, regs);
    for (int k = 0; k < KINDS; k++)
        for (int n = 0; n < REGISTERS; n++)
            EXPECT(same(kind_names[k], out[k][n], regs[k][n]),
                   "lane %d, %%%c%d: got %#" PRIx64 ", want %#" PRIx64 "\n%s",
                   lane, kind_names[k], n, out[k][n], regs[k][n].l, ptx);
}

static void run_program(uint64_t *seed, slots *in, slots *out)
{
    struct step program[LENGTH];
    struct text *t = text_begin();
    make_program(program, seed);
    put_program(t, program);
    for (int lane = 0; lane < THREADS; lane++)
        for (int k = 0; k < KINDS; k++)
            for (int n = 0; n < REGISTERS; n++)
                in[lane][k][n] = random_register(kind_names[k], seed);
    memset(out, 0, THREADS * sizeof *out);
    uint64_t arguments[] = {machine_address(in), machine_address(out)};
    ck_assert_int_eq(machine_run(t->buffer, 1, THREADS, arguments, 2),
                     SC_EXEC_OK);
    for (int lane = 0; lane < THREADS; lane++)
        check_lane(program, in[lane], out[lane], t->buffer, lane);
}

START_TEST(random_programs_match_the_evaluator)
{
    const char *wanted = getenv("OPCODES_PROGRAMS");
    int programs = wanted ? atoi(wanted) : PROGRAMS;
    uint64_t seed = input_seed();
    printf("%d programs, seed %" PRIu64 "\n", programs, seed);
    machine_open();
    slots *in = machine_alloc(THREADS * sizeof *in);
    slots *out = machine_alloc(THREADS * sizeof *out);
    for (int i = 0; i < programs; i++)
        run_program(&seed, in, out);
    machine_close();
}
END_TEST

SUITE_MAIN("softcuda random programs", 120, random_programs_match_the_evaluator)

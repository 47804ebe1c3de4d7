/*
 * f32 and f64 arithmetic in every rounding, with .ftz and .sat.
 *
 * References round once, exactly. NaN results count whatever their payload.
 */
#include "float_reference.h"

/* d = b with the sign of a. */
static uint64_t r_copysign(const struct op_case *c, const uint64_t *in)
{
    uint64_t sign = (uint64_t)1 << (op_type_bits(ARG_TYPE(c)) - 1);
    return (in[1] & ~sign) | (in[0] & sign);
}

enum { FINITE, INFINITE, NUMBER, NOTANUMBER, NORMAL, SUBNORMAL };

static uint64_t r_testp(const struct op_case *c, const uint64_t *in)
{
    struct sfp a = float_load(c, in, 0);
    bool wide = ARG_TYPE(c) == F64;
    uint64_t field = wide ? in[0] >> 52 & 2047 : in[0] >> 23 & 255;
    bool ordinary = a.kind == SFP_FINITE || a.kind == SFP_ZERO;
    switch (ARG_EXTRA(c)) {
    case FINITE:
        return ordinary;
    case INFINITE:
        return a.kind == SFP_INFINITE;
    case NUMBER:
        return a.kind != SFP_NAN;
    case NOTANUMBER:
        return a.kind == SFP_NAN;
    case NORMAL: /* zero counts as normal */
        return ordinary && (field != 0 || a.kind == SFP_ZERO);
    default:
        return a.kind == SFP_FINITE && field == 0;
    }
}

/* clang-format off */
#define F(text, signature, ...) {text, signature, __VA_ARGS__, CMP_F32, 0}
#define D(text, signature, ...) {text, signature, __VA_ARGS__, CMP_F64, 0}
#define Q(text, signature, ...) {text, signature, __VA_ARGS__, CMP_BITS, 0}
#define MINMAX(mods, flags) \
    F("min" mods ".f32 %d,%a,%b", "W WfWf", float_minmax, F32 | (flags)), \
    F("max" mods ".f32 %d,%a,%b", "W WfWf", float_minmax, F32 | HI | (flags))
#define SUMS(op, r) \
    F(op ".f32 %d,%a,%b", "W WfWf", r, F32), \
    F(op ".ftz.f32 %d,%a,%b", "W WfWf", r, F32 | FTZ), \
    F(op ".sat.f32 %d,%a,%b", "W WfWf", r, F32 | SAT), \
    F(op ".ftz.sat.f32 %d,%a,%b", "W WfWf", r, F32 | FTZ | SAT), \
    D(op ".f64 %d,%a,%b", "D DfDf", r, F64)
#define TESTP(name, what) \
    Q("testp." name ".f32 %d,%a", "P Wf", r_testp, F32 | EXTRA(what)), \
    Q("testp." name ".f64 %d,%a", "P Df", r_testp, F64 | EXTRA(what))

static const struct op_case cases[] = {
    SUMS("add", float_add),
    SUMS("sub", float_sub),
    SUMS("mul", float_mul),
    F("abs.f32 %d,%a", "W Wf", float_abs, F32),
    F("abs.ftz.f32 %d,%a", "W Wf", float_abs, F32 | FTZ),
    D("abs.f64 %d,%a", "D Df", float_abs, F64),
    F("neg.f32 %d,%a", "W Wf", float_neg, F32),
    F("neg.ftz.f32 %d,%a", "W Wf", float_neg, F32 | FTZ),
    D("neg.f64 %d,%a", "D Df", float_neg, F64),
    Q("copysign.f32 %d,%a,%b", "W WfWf", r_copysign, F32),
    Q("copysign.f64 %d,%a,%b", "D DfDf", r_copysign, F64),
    MINMAX("", 0),
    MINMAX(".ftz", FTZ),
    MINMAX(".NaN", NANS),
    MINMAX(".ftz.NaN", FTZ | NANS),
    MINMAX(".xorsign.abs", XORSIGN),
    MINMAX(".ftz.xorsign.abs", FTZ | XORSIGN),
    MINMAX(".NaN.xorsign.abs", NANS | XORSIGN),
    MINMAX(".ftz.NaN.xorsign.abs", FTZ | NANS | XORSIGN),
    D("min.f64 %d,%a,%b", "D DfDf", float_minmax, F64),
    D("max.f64 %d,%a,%b", "D DfDf", float_minmax, F64 | HI),
    TESTP("finite", FINITE),
    TESTP("infinite", INFINITE),
    TESTP("number", NUMBER),
    TESTP("notanumber", NOTANUMBER),
    TESTP("normal", NORMAL),
    TESTP("subnormal", SUBNORMAL),
};

static const struct {
    const char *op;
    op_reference *reference;
    int sources;
    bool saturates;
} rounded[] = {
    {"add", float_add, 2, true},   {"sub", float_sub, 2, true},
    {"mul", float_mul, 2, true},   {"fma", float_fma, 3, true},
    {"mad", float_fma, 3, true},   {"div", float_div, 2, false},
    {"rcp", float_rcp, 1, false},  {"sqrt", float_sqrt, 1, false},
};
/* clang-format on */

static void emit_rounded(struct op_table *table, size_t op, unsigned round)
{
    static const char *const names[] = {"rn", "rz", "rm", "rp"};
    static const char *const operands[] = {"%a", "%a,%b", "%a,%b,%c"};
    static const char *const narrow[] = {"W Wf", "W WfWf", "W WfWfWf"};
    static const char *const wide[] = {"D Df", "D DfDf", "D DfDfDf"};
    int n = rounded[op].sources - 1;
    struct op_case c = {.reference = rounded[op].reference};
    for (int flags = 0; flags < (rounded[op].saturates ? 4 : 2); flags++) {
        c.signature = narrow[n];
        c.compare = CMP_F32;
        c.arg =
            F32 | ROUND(round) | (flags & 1 ? FTZ : 0) | (flags & 2 ? SAT : 0);
        op_emit(table, c, "%s.%s%s%s.f32 %%d,%s", rounded[op].op, names[round],
                flags & 1 ? ".ftz" : "", flags & 2 ? ".sat" : "", operands[n]);
    }
    c.signature = wide[n];
    c.compare = CMP_F64;
    c.arg = F64 | ROUND(round);
    op_emit(table, c, "%s.%s.f64 %%d,%s", rounded[op].op, names[round],
            operands[n]);
}

void table_float(struct op_table *table)
{
    table->name = "f32 and f64 arithmetic";
    op_append(table, cases, sizeof cases / sizeof *cases);
    for (size_t op = 0; op < sizeof rounded / sizeof *rounded; op++)
        for (unsigned round = 0; round < 4; round++)
            emit_rounded(table, op, round);
}

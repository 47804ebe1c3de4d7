/*
 * f16 and bf16 arithmetic, single and in pairs.
 *
 * Subnormals count in both formats; .ftz exists for f16 only. Pairs apply the
 * scalar reference to each half.
 */
#include "float_reference.h"

enum { ADD, SUB, MUL, FMA, NEG, ABS, MINMAX };

static op_reference *const scalar[] = {
    [ADD] = float_add,       [SUB] = float_sub, [MUL] = float_mul,
    [FMA] = float_fma,       [NEG] = float_neg, [ABS] = float_abs,
    [MINMAX] = float_minmax,
};

static uint64_t r_one(const struct op_case *c, const uint64_t *in)
{
    return scalar[ARG_EXTRA(c)](c, in);
}

static uint64_t r_pair(const struct op_case *c, const uint64_t *in)
{
    uint64_t low[OP_SOURCES], high[OP_SOURCES];
    for (int k = 0; k < OP_SOURCES; k++) {
        low[k] = in[k] & 0xffff;
        high[k] = in[k] >> 16;
    }
    sfp_open_bits = 0;
    uint64_t d = r_one(c, low), open_low = sfp_open_bits;
    sfp_open_bits = 0;
    d |= r_one(c, high) << 16;
    sfp_open_bits = sfp_open_bits << 16 | open_low;
    return d;
}

struct half_op {
    const char *text; /* mnemonic and modifiers before the type */
    int op;
    int sources;
    unsigned flags;
};

/* clang-format off */
#define SUMS(name, op) \
    {name, op, 2, 0}, {name ".ftz", op, 2, FTZ}, {name ".sat", op, 2, SAT}, \
    {name ".ftz.sat", op, 2, FTZ | SAT}

static const struct half_op f16_ops[] = {
    SUMS("add", ADD), SUMS("add.rn", ADD), SUMS("sub", SUB),
    SUMS("sub.rn", SUB), SUMS("mul", MUL), SUMS("mul.rn", MUL),
    {"fma.rn", FMA, 3, 0}, {"fma.rn.ftz", FMA, 3, FTZ},
    {"fma.rn.sat", FMA, 3, SAT}, {"fma.rn.ftz.sat", FMA, 3, FTZ | SAT},
    {"fma.rn.relu", FMA, 3, RELU}, {"fma.rn.ftz.relu", FMA, 3, FTZ | RELU},
    {"neg", NEG, 1, 0}, {"neg.ftz", NEG, 1, FTZ},
    {"abs", ABS, 1, 0}, {"abs.ftz", ABS, 1, FTZ},
    {"min", MINMAX, 2, 0}, {"max", MINMAX, 2, HI},
    {"min.ftz", MINMAX, 2, FTZ}, {"max.ftz", MINMAX, 2, FTZ | HI},
    {"min.NaN", MINMAX, 2, NANS}, {"max.NaN", MINMAX, 2, NANS | HI},
    {"min.ftz.NaN", MINMAX, 2, FTZ | NANS},
    {"max.ftz.NaN", MINMAX, 2, FTZ | NANS | HI},
    {"min.xorsign.abs", MINMAX, 2, XORSIGN},
    {"max.xorsign.abs", MINMAX, 2, XORSIGN | HI},
    {"min.NaN.xorsign.abs", MINMAX, 2, NANS | XORSIGN},
    {"max.NaN.xorsign.abs", MINMAX, 2, NANS | XORSIGN | HI},
    {"min.ftz.xorsign.abs", MINMAX, 2, FTZ | XORSIGN},
    {"max.ftz.xorsign.abs", MINMAX, 2, FTZ | XORSIGN | HI},
    {"min.ftz.NaN.xorsign.abs", MINMAX, 2, FTZ | NANS | XORSIGN},
    {"max.ftz.NaN.xorsign.abs", MINMAX, 2, FTZ | NANS | XORSIGN | HI},
};

static const struct half_op bf16_ops[] = {
    {"add", ADD, 2, 0}, {"add.rn", ADD, 2, 0},
    {"sub", SUB, 2, 0}, {"sub.rn", SUB, 2, 0},
    {"mul", MUL, 2, 0}, {"mul.rn", MUL, 2, 0},
    {"fma.rn", FMA, 3, 0}, {"fma.rn.relu", FMA, 3, RELU},
    {"neg", NEG, 1, 0}, {"abs", ABS, 1, 0},
    {"min", MINMAX, 2, 0}, {"max", MINMAX, 2, HI},
    {"min.NaN", MINMAX, 2, NANS}, {"max.NaN", MINMAX, 2, NANS | HI},
    {"min.xorsign.abs", MINMAX, 2, XORSIGN},
    {"max.xorsign.abs", MINMAX, 2, XORSIGN | HI},
    {"min.NaN.xorsign.abs", MINMAX, 2, NANS | XORSIGN},
    {"max.NaN.xorsign.abs", MINMAX, 2, NANS | XORSIGN | HI},
};
/* clang-format on */

static void emit(struct op_table *table, const struct half_op *op,
                 enum op_type type)
{
    static const char *const operands[] = {"%a", "%a,%b", "%a,%b,%c"};
    static const char *const one[2][3] = {{"H Hf", "H HfHf", "H HfHfHf"},
                                          {"H Hb", "H HbHb", "H HbHbHb"}};
    static const char *const pair[2][3] = {{"W WF", "W WFWF", "W WFWFWF"},
                                           {"W WB", "W WBWB", "W WBWBWB"}};
    int n = op->sources - 1, is_bf16 = type == BF16;
    struct op_case c = {
        .signature = one[is_bf16][n],
        .reference = r_one,
        .arg = type | RN | op->flags | EXTRA(op->op),
        .compare = op_type_compare(type),
    };
    op_emit(table, c, "%s.%s %%d,%s", op->text, op_type_name(type),
            operands[n]);
    c.signature = pair[is_bf16][n];
    c.reference = r_pair;
    c.compare = is_bf16 ? CMP_BF16X2 : CMP_F16X2;
    op_emit(table, c, "%s.%sx2 %%d,%s", op->text, op_type_name(type),
            operands[n]);
}

void table_half(struct op_table *table)
{
    table->name = "f16 and bf16 arithmetic";
    for (size_t i = 0; i < sizeof f16_ops / sizeof *f16_ops; i++)
        emit(table, &f16_ops[i], F16);
    for (size_t i = 0; i < sizeof bf16_ops / sizeof *bf16_ops; i++)
        emit(table, &bf16_ops[i], BF16);
}

/*
 * Comparison and selection: setp, set, selp, slct.
 *
 * Every comparison of every type, then the boolean combinations with a third
 * predicate, plain and negated, and both destinations of setp.
 */
#include "opcase.h"

#include <stdio.h>

/* Order of the first six and of the unordered six is that of `holds`. */
static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                    "equ", "neu", "ltu", "leu", "gtu", "geu",
                                    "num", "nan", "lo",  "ls",  "hi",  "hs"};
enum { LO = 14, NAMES = 18 };

/* EXTRA of a case: comparison, combination, negation, selected result. */
#define COMBINE(op)  ((op) << 5)
#define NEGATED      (1u << 7)
#define BOTH_RESULTS (1u << 8)

/* @order -1, 0, 1, or 2 = unordered */
static bool holds(unsigned comparison, int order)
{
    static const bool table[6][3] = {{false, true, false}, {true, false, true},
                                     {true, false, false}, {true, true, false},
                                     {false, false, true}, {false, true, true}};
    if (comparison >= LO)
        comparison = comparison - LO + 2;
    if (comparison >= 12)
        return (order == 2) == (comparison == 13);
    if (order == 2)
        return comparison >= 6;
    return table[comparison % 6][order + 1];
}

static bool compared(const struct op_case *c, const uint64_t *in)
{
    enum op_type type = ARG_TYPE(c);
    unsigned comparison = ARG_EXTRA(c) & 31;
    if (op_type_is_float(type)) {
        const struct sfp_format *format = op_type_format(type);
        bool flush = c->arg & FTZ;
        return holds(comparison, sfp_compare(sfp_unpack(format, in[0], flush),
                                             sfp_unpack(format, in[1], flush)));
    }
    sfp_i128 a = op_int(type, in[0]), b = op_int(type, in[1]);
    return holds(comparison, a < b ? -1 : a > b);
}

static bool combined(const struct op_case *c, bool value, bool third)
{
    third ^= (ARG_EXTRA(c) & NEGATED) != 0;
    switch (ARG_EXTRA(c) >> 5 & 3) {
    case 1:
        return value & third;
    case 2:
        return value | third;
    case 3:
        return value ^ third;
    default:
        return value;
    }
}

static uint64_t r_setp(const struct op_case *c, const uint64_t *in)
{
    bool value = compared(c, in);
    uint64_t p = combined(c, value, in[2]);
    if (ARG_EXTRA(c) & BOTH_RESULTS)
        p |= (uint64_t)combined(c, !value, in[2]) << 1;
    return p;
}

static uint64_t r_set(const struct op_case *c, const uint64_t *in)
{
    bool value = combined(c, compared(c, in), in[2]);
    if (!value)
        return 0;
    return ARG_FROM(c) == F32 ? 0x3f800000 : 0xffffffff;
}

static uint64_t r_selp(const struct op_case *c, const uint64_t *in)
{
    return in[2] ? in[0] : in[1];
}

/* ARG_TYPE is the type of the third operand. */
static uint64_t r_slct(const struct op_case *c, const uint64_t *in)
{
    bool first = (int32_t)in[2] >= 0;
    if (ARG_TYPE(c) == F32) {
        struct sfp v = sfp_unpack(&sfp_f32, in[2], c->arg & FTZ);
        int order = sfp_compare(v, sfp_from_int(0));
        first = order == 0 || order == 1;
    }
    return first ? in[0] : in[1];
}

/* Both halves: the low one to bit 0, the high one to bit 1. */
static uint64_t r_setp_pair(const struct op_case *c, const uint64_t *in)
{
    const uint64_t low[3] = {in[0] & 0xffff, in[1] & 0xffff};
    const uint64_t high[3] = {in[0] >> 16, in[1] >> 16};
    return r_setp(c, low) | r_setp(c, high) << 1;
}

/* set with a result as wide as its f16 sources. */
static uint64_t r_set_half(const struct op_case *c, const uint64_t *in)
{
    if (!compared(c, in))
        return 0;
    return ARG_FROM(c) == F16 ? 0x3c00 : 0xffff;
}

static bool applies(enum op_type type, unsigned comparison)
{
    if (type >= B16)
        return comparison < 2;
    if (op_type_is_float(type))
        return comparison < LO;
    return comparison < 6 || (comparison >= LO && !op_type_is_signed(type));
}

static const char *signature(enum op_type type, char destination, bool third)
{
    static char text[16];
    char kind = op_type_kind(type);
    char class = type == BF16 ? 'b' : op_type_is_float(type) ? 'f' : 'i';
    snprintf(text, sizeof text, "%c %c%c%c%c%s", destination, kind, class, kind,
             class, third ? "Pq" : "");
    return text;
}

static void emit_plain(struct op_table *table, enum op_type type, unsigned cmp)
{
    static const enum op_type results[] = {U32, S32, F32};
    bool flushes = type == F32 || type == F16;
    const char *t = op_type_name(type);
    for (int ftz = 0; ftz <= flushes; ftz++) {
        const char *mod = ftz ? ".ftz" : "";
        struct op_case c = {.signature = signature(type, 'P', false),
                            .reference = r_setp,
                            .arg = type | EXTRA(cmp) | (ftz ? FTZ : 0)};
        op_emit(table, c, "setp.%s%s.%s %%d,%%a,%%b", names[cmp], mod, t);
        if (type == F16 || type == BF16)
            continue;
        for (int i = 0; i < 3; i++) {
            c.signature = signature(type, 'W', false);
            c.reference = r_set;
            c.arg = type | EXTRA(cmp) | (ftz ? FTZ : 0) | FROM(results[i]);
            op_emit(table, c, "set.%s%s.%s.%s %%d,%%a,%%b", names[cmp], mod,
                    op_type_name(results[i]), t);
        }
    }
}

static void emit_combined(struct op_table *table, enum op_type type,
                          unsigned cmp)
{
    static const char *const combinations[] = {"", "and", "or", "xor"};
    const char *t = op_type_name(type);
    for (unsigned op = 1; op <= 3; op++) {
        for (unsigned negated = 0; negated < 2; negated++) {
            const char *third = negated ? "!%c" : "%c";
            unsigned how = cmp | COMBINE(op) | (negated ? NEGATED : 0);
            struct op_case c = {.signature = signature(type, 'P', true),
                                .reference = r_setp,
                                .arg = type | EXTRA(how)};
            op_emit(table, c, "setp.%s.%s.%s %%d,%%a,%%b,%s", names[cmp],
                    combinations[op], t, third);
            if (type == F16 || type == BF16)
                continue;
            c.signature = signature(type, 'W', true);
            c.arg = type | EXTRA(how | BOTH_RESULTS);
            op_emit(table, c,
                    "setp.%s.%s.%s %%q1|%%q2,%%a,%%b,%s; "
                    "selp.u32 %%s0,1,0,%%q1; selp.u32 %%s1,2,0,%%q2; "
                    "or.b32 %%d,%%s0,%%s1",
                    names[cmp], combinations[op], t, third);
            c.reference = r_set;
            c.arg = type | EXTRA(how) | FROM(S32);
            op_emit(table, c, "set.%s.%s.s32.%s %%d,%%a,%%b,%s", names[cmp],
                    combinations[op], t, third);
        }
    }
}

static void emit_selections(struct op_table *table, const char *t, char kind)
{
    char text[16];
    snprintf(text, sizeof text, "%c %ci%ciPq", kind, kind, kind);
    struct op_case c = {.signature = text, .reference = r_selp};
    op_emit(table, c, "selp.%s %%d,%%a,%%b,%%c", t);
    c.reference = r_slct;
    c.arg = S32;
    snprintf(text, sizeof text, "%c %ci%ciWi", kind, kind, kind);
    op_emit(table, c, "slct.%s.s32 %%d,%%a,%%b,%%c", t);
    snprintf(text, sizeof text, "%c %ci%ciWf", kind, kind, kind);
    c.arg = F32;
    op_emit(table, c, "slct.%s.f32 %%d,%%a,%%b,%%c", t);
    c.arg = F32 | FTZ;
    op_emit(table, c, "slct.ftz.%s.f32 %%d,%%a,%%b,%%c", t);
}

static void emit_half_forms(struct op_table *table, unsigned cmp)
{
    static const enum op_type pairs[] = {F16, BF16};
    struct op_case c = {.reference = r_setp_pair};
    for (int i = 0; i < 2; i++) {
        c.signature = pairs[i] == F16 ? "W WFWF" : "W WBWB";
        c.arg = pairs[i] | EXTRA(cmp);
        op_emit(table, c,
                "setp.%s.%sx2 %%q1|%%q2,%%a,%%b; "
                "selp.u32 %%s0,1,0,%%q1; selp.u32 %%s1,2,0,%%q2; "
                "or.b32 %%d,%%s0,%%s1",
                names[cmp], op_type_name(pairs[i]));
    }
    c.signature = "H HfHf";
    c.reference = r_set_half;
    c.arg = F16 | EXTRA(cmp) | FROM(F16);
    op_emit(table, c, "set.%s.f16.f16 %%d,%%a,%%b", names[cmp]);
    c.arg = F16 | EXTRA(cmp) | FROM(U16);
    op_emit(table, c, "set.%s.u16.f16 %%d,%%a,%%b", names[cmp]);
    c.arg = F16 | EXTRA(cmp) | FROM(U32);
    c.signature = "W HfHf";
    c.reference = r_set;
    op_emit(table, c, "set.%s.u32.f16 %%d,%%a,%%b", names[cmp]);
}

void table_compare(struct op_table *table)
{
    static const enum op_type types[] = {B16, B32, B64, U16,  S16, U32, S32,
                                         U64, S64, F16, BF16, F32, F64};
    table->name = "comparison and selection";
    for (unsigned cmp = 0; cmp < LO; cmp++)
        emit_half_forms(table, cmp);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (unsigned cmp = 0; cmp < NAMES; cmp++)
            if (applies(types[i], cmp))
                emit_plain(table, types[i], cmp);
        emit_combined(table, types[i], 1);
        if (types[i] < B16)
            emit_combined(table, types[i], 2);
        if (op_type_is_float(types[i]))
            emit_combined(table, types[i], 11);
        if (types[i] != F16 && types[i] != BF16)
            emit_selections(table, op_type_name(types[i]),
                            op_type_kind(types[i]));
    }
}

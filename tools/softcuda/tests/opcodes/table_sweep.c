/*
 * set and setp with every comparison, combination and type, many to a case.
 *
 * A case makes one comparison after the other and folds the results into one
 * number, so that thousands of forms need few kernels. Cases of one form each
 * are in table_compare.c. Owns no state.
 */
#include "opcase.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COMPARISONS = 18, UNSIGNED_NAMES = 14 };

/* Which of less, equal, greater and unordered each is true of. */
static const struct {
    const char *name;
    const char *when;
} comparisons[COMPARISONS] = {
    {"eq", "="},    {"ne", "<>"},   {"lt", "<"},   {"le", "<="},
    {"gt", ">"},    {"ge", ">="},   {"equ", "=?"}, {"neu", "<>?"},
    {"ltu", "<?"},  {"leu", "<=?"}, {"gtu", ">?"}, {"geu", ">=?"},
    {"num", "<=>"}, {"nan", "?"},   {"lo", "<"},   {"ls", "<="},
    {"hi", ">"},    {"hs", ">="},
};

static const char *const combinations[] = {"", ".and", ".or", ".xor"};

/* EXTRA of a case: combination; whether the sources are pairs, and the results
 * of set, too; whether the third predicate is negated. */
#define PAIRS    4u
#define PAIR_OUT 8u
#define NEGATED  16u

static bool applies(enum op_type type, unsigned k)
{
    if (type >= B16)
        return k < 2;
    if (op_type_is_float(type))
        return k < UNSIGNED_NAMES;
    return k < 6 || (k >= UNSIGNED_NAMES && !op_type_is_signed(type));
}

static bool holds(const struct op_case *c, unsigned k, uint64_t a, uint64_t b)
{
    static const char orders[] = "<=>?";
    enum op_type type = ARG_FROM(c);
    const struct sfp_format *f = op_type_format(type);
    bool flush = c->arg & FTZ;
    int order;
    if (f) {
        order = sfp_compare(sfp_unpack(f, a, flush), sfp_unpack(f, b, flush));
    } else {
        sfp_i128 x = op_int(type, a), y = op_int(type, b);
        order = x < y ? -1 : x > y;
    }
    return strchr(comparisons[k].when, orders[order + 1]) != NULL;
}

static bool combined(const struct op_case *c, bool value, bool third)
{
    unsigned how = ARG_EXTRA(c);
    third ^= (how & NEGATED) != 0;
    switch (how & 3) {
    case 1:
        return value && third;
    case 2:
        return value || third;
    case 3:
        return value != third;
    default:
        return value;
    }
}

static uint64_t truth_of(enum op_type to)
{
    switch (to) {
    case F16:
        return 0x3c00;
    case BF16:
        return 0x3f80;
    case F32:
        return 0x3f800000;
    default:
        return op_type_bits(to) == 16 ? 0xffff : 0xffffffff;
    }
}

/* setp of f16 and bf16, but not of pairs of them, has one result. */
static bool has_two(const struct op_case *c)
{
    enum op_type from = ARG_FROM(c);
    return ARG_EXTRA(c) & PAIRS || (from != F16 && from != BF16);
}

/* What one set or setp gives: results of halves above each other, predicates
 * p and q as bits 0 and 1. */
static uint64_t result(const struct op_case *c, const uint64_t *in, unsigned k)
{
    enum op_type to = ARG_TYPE(c);
    bool pairs = ARG_EXTRA(c) & PAIRS;
    uint64_t mask = pairs ? 0xffff : UINT64_MAX;
    bool value = holds(c, k, in[0] & mask, in[1] & mask);
    bool other = pairs ? holds(c, k, in[0] >> 16, in[1] >> 16) : !value;
    bool p = combined(c, value, in[2]), q = combined(c, other, in[2]);
    if (to == U8)
        return p | (has_two(c) ? q << 1 : 0);
    uint64_t one = pairs && !(ARG_EXTRA(c) & PAIR_OUT) ? 0xffff : truth_of(to);
    return (p ? one : 0) | (pairs && q ? one << 16 : 0);
}

static uint64_t r_sweep(const struct op_case *c, const uint64_t *in)
{
    uint32_t sum = 0;
    for (unsigned k = 0; k < COMPARISONS; k++)
        if (applies(ARG_FROM(c), k))
            sum = sum * 3 + (uint32_t)result(c, in, k);
    return sum;
}

struct sweep {
    const char *to, *from; /* as the text has them; to is "" of setp */
    struct op_case c;
};

__attribute__((format(printf, 2, 3))) static void put(char *text,
                                                      const char *format, ...)
{
    size_t had = strlen(text), room = 4096 - had;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + had, room, format, args);
    va_end(args);
    ck_assert(n >= 0 && (size_t)n < room);
}

/* One comparison, its result into %s1: 16 bits are packed with %h0, which is 0.
 * A cvt.u32.u16 of what set makes of f16 or bf16 NVIDIA's assembler (13.0)
 * takes to be done already, and it is not. */
static void put_one(char *text, const struct sweep *s, unsigned k)
{
    unsigned how = ARG_EXTRA(&s->c);
    const char *third = !(how & 3) ? "" : how & NEGATED ? ",!%c" : ",%c";
    const char *ftz = s->c.arg & FTZ ? ".ftz" : "";
    bool narrow = op_type_bits(ARG_TYPE(&s->c)) == 16 && !(how & PAIRS);
    if (*s->to)
        put(text, "set.%s%s%s.%s.%s %s,%%a,%%b%s; ", comparisons[k].name,
            combinations[how & 3], ftz, s->to, s->from, narrow ? "%h1" : "%s1",
            third);
    else if (!has_two(&s->c))
        put(text, "setp.%s%s%s.%s %%q1,%%a,%%b%s; selp.u32 %%s1,1,0,%%q1; ",
            comparisons[k].name, combinations[how & 3], ftz, s->from, third);
    else
        put(text,
            "setp.%s%s%s.%s %%q1|%%q2,%%a,%%b%s; selp.u32 %%s1,1,0,%%q1; "
            "selp.u32 %%s2,2,0,%%q2; or.b32 %%s1,%%s1,%%s2; ",
            comparisons[k].name, combinations[how & 3], ftz, s->from, third);
    if (*s->to && narrow)
        put(text, "mov.b32 %%s1,{%%h1,%%h0}; ");
    put(text, "mad.lo.u32 %%s7,%%s7,3,%%s1; ");
}

static void emit(struct op_table *table, struct sweep s)
{
    enum op_type from = ARG_FROM(&s.c);
    bool pairs = ARG_EXTRA(&s.c) & PAIRS, third = ARG_EXTRA(&s.c) & 3;
    char class = pairs                    ? (from == F16 ? 'F' : 'B')
                 : from == BF16           ? 'b'
                 : op_type_is_float(from) ? 'f'
                                          : 'i';
    char kind = pairs ? 'W' : op_type_kind(from);
    char signature[16], text[4096] = "mov.u32 %s7,0; mov.b16 %h0,0; ";
    snprintf(signature, sizeof signature, "W %c%c%c%c%s", kind, class, kind,
             class, third ? "Pq" : "");
    for (unsigned k = 0; k < COMPARISONS; k++)
        if (applies(from, k))
            put_one(text, &s, k);
    s.c.signature = signature;
    s.c.reference = r_sweep;
    op_emit(table, s.c, "%smov.b32 %%d,%%s7", text);
}

/* Every combination, with and without .ftz. */
static void emit_all(struct op_table *table, const char *to, const char *from,
                     unsigned arg)
{
    enum op_type type = arg >> 16 & 15;
    bool flushes = (type == F16 || type == F32) && (arg & 31) != BF16;
    for (unsigned how = 0; how < 4; how++)
        for (unsigned ftz = 0; ftz <= flushes; ftz++)
            emit(table, (struct sweep){
                            to,
                            from,
                            {.arg = arg | (ftz ? FTZ : 0) |
                                    EXTRA(how | (how & ftz ? NEGATED : 0))}});
}

static bool is_set(enum op_type to, enum op_type from)
{
    bool half = from == F16 || from == BF16;
    if (to == F32 || (to == F16 && from == BF16))
        return !half;
    return half || (to != U16 && to != S16);
}

void table_sweep(struct op_table *table)
{
    static const enum op_type from[] = {B16, B32, B64, U16,  S16, U32, S32,
                                        U64, S64, F16, BF16, F32, F64};
    static const enum op_type to[] = {U16, S16, U32, S32, F16, BF16, F32};
    static const enum op_type halves[] = {F16, BF16};
    table->name = "comparisons, many to a case";
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        const char *name = op_type_name(from[i]);
        emit_all(table, "", name, U8 | FROM(from[i]));
        for (size_t k = 0; k < sizeof to / sizeof *to; k++)
            if (is_set(to[k], from[i]))
                emit_all(table, op_type_name(to[k]), name,
                         to[k] | FROM(from[i]));
    }
    for (size_t i = 0; i < 2; i++) {
        const char *pair = halves[i] == F16 ? "f16x2" : "bf16x2";
        unsigned arg = FROM(halves[i]) | EXTRA(PAIRS);
        emit_all(table, "", pair, U8 | arg);
        emit_all(table, "u32", pair, U32 | arg);
        emit_all(table, "s32", pair, S32 | arg);
        emit_all(table, pair, pair, halves[i] | arg | EXTRA(PAIR_OUT));
    }
}

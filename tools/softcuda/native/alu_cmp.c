/*
 * Comparisons and selections as templates.
 *
 * Lock: none.
 */
#include "native/alu_find.h"

#include <stdio.h>
#include <string.h>

static bool is_real(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_FLOAT;
}

/* Number of a comparison as alu_basic.def counts: of integers, of reals. */
static const struct {
    enum sc_modifier mod;
    int integer, real;
} compares[] = {{SC_MOD_eq, 0, 0},   {SC_MOD_ne, 4, 12},   {SC_MOD_lt, 1, 1},
                {SC_MOD_le, 2, 2},   {SC_MOD_gt, 6, 14},   {SC_MOD_ge, 5, 13},
                {SC_MOD_lo, 1, -1},  {SC_MOD_ls, 2, -1},   {SC_MOD_hi, 6, -1},
                {SC_MOD_hs, 5, -1},  {SC_MOD_equ, -1, 8},  {SC_MOD_neu, -1, 4},
                {SC_MOD_ltu, -1, 9}, {SC_MOD_leu, -1, 10}, {SC_MOD_gtu, -1, 6},
                {SC_MOD_geu, -1, 5}, {SC_MOD_num, -1, 7},  {SC_MOD_nan, -1, 3}};

static int take_compare(struct sc_alu_find *find, bool real)
{
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++)
        if (sc_alu_take(find, compares[i].mod))
            return real ? compares[i].real : compares[i].integer;
    return -1;
}

/* Text that compares a and b of the type. Return: whether there is one. */
static bool compare_text(struct sc_alu_find *find, enum sc_type type,
                         char *text, size_t room)
{
    bool ftz = sc_alu_take(find, SC_MOD_ftz);
    bool minus = sc_type_class(type) == SC_CLASS_SIGNED;
    uint32_t bits = sc_alu_bits(type);
    int k = take_compare(find, is_real(type));
    if (k < 0 || bits < 16)
        return false;
    find->call->raw = ftz && type == SC_T_f32 && find->raw;
    if (type == SC_T_f32)
        snprintf(text, room,
                 find->call->raw ? "T_cmpf(T_raw(T_F(a)), T_raw(T_F(b)), %d)"
                 : ftz           ? "T_cmpf(T_ftz(T_F(a)), T_ftz(T_F(b)), %d)"
                                 : "T_cmpf(T_F(a), T_F(b), %d)",
                 k);
    else if (type == SC_T_f64)
        snprintf(text, room, "T_cmpd(T_D(a), T_D(b), %d)", k);
    else if (type == SC_T_f16 || type == SC_T_bf16)
        snprintf(text, room,
                 ftz ? "T_cmpf(T_h_%s(T_hftz(a)), T_h_%s(T_hftz(b)), %d)"
                     : "T_cmpf(T_h_%s(a), T_h_%s(b), %d)",
                 sc_type_name(type), sc_type_name(type), k);
    else if (bits == 64)
        snprintf(text, room,
                 minus ? "T_cmpl((T_l)a, (T_l)b, %d)" : "T_cmpul(a, b, %d)", k);
    else if (minus && bits == 16)
        snprintf(text, room, "T_cmpi((T_i)T_sx16(a), (T_i)T_sx16(b), %d)", k);
    else
        snprintf(text, room,
                 minus ? "T_cmpi((T_i)a, (T_i)b, %d)" : "T_cmpu(a, b, %d)", k);
    return true;
}

/* "and", "or", "xor" or NULL */
static const char *take_combination(struct sc_alu_find *find)
{
    return sc_alu_take(find, SC_MOD_and)   ? "and"
           : sc_alu_take(find, SC_MOD_or)  ? "or"
           : sc_alu_take(find, SC_MOD_xor) ? "xor"
                                           : NULL;
}

static bool is_float_pair(enum sc_type type)
{
    return type == SC_T_f16x2 || type == SC_T_bf16x2;
}

static enum sc_type half_of(enum sc_type type)
{
    return type == SC_T_f16x2 ? SC_T_f16 : SC_T_bf16;
}

/* The arguments of a comparison, and of what it is combined with. */
static bool compare_args(struct sc_alu_find *find, enum sc_type type,
                         bool combined)
{
    if (find->inst->operand_count != (combined ? 4u : 3u))
        return false;
    sc_alu_arg(find, type, sc_alu_operand(find, 1));
    sc_alu_arg(find, type, sc_alu_operand(find, 2));
    if (combined)
        sc_alu_arg(find, SC_T_pred, sc_alu_operand(find, 3));
    return true;
}

/* One truth value: comparison `text`, negated, combined with c. */
static void truth(char *out, size_t room, const char *text, bool negated,
                  const char *combine)
{
    snprintf(out, room, "%s%s%s%s%s%s", combine ? "T_" : "",
             combine ? combine : "", combine ? "(" : "",
             negated ? "T_not(" : "", text, negated ? ")" : "");
    if (combine)
        snprintf(out + strlen(out), room - strlen(out), ", c)");
}

static bool find_setp(struct sc_alu_find *find)
{
    const struct sc_operand *d = sc_alu_operand(find, 0);
    const char *combine = take_combination(find);
    bool pair = d->kind == SC_OPERAND_PAIR, halves = is_float_pair(find->type);
    enum sc_type type = halves ? half_of(find->type) : find->type;
    char text[160], one[200];
    if (find->inst->type_count != 1 || (halves && !pair) ||
        !compare_text(find, type, text, sizeof text) ||
        !compare_args(find, find->type, combine != NULL))
        return false;
    if (pair && d->sub[0].kind == SC_OPERAND_SINK)
        sc_alu_name(find, "_q");
    truth(one, sizeof one, text, false, combine);
    sc_alu_result(find, SC_T_pred, pair ? &d->sub[0] : d, "%sreturn %s;",
                  halves ? "a &= 0xffffu; b &= 0xffffu; " : "", one);
    truth(one, sizeof one, text, !halves, combine);
    if (pair)
        sc_alu_result(find, SC_T_pred, &d->sub[1], "%sreturn %s;",
                      halves ? "a = a >> 16; b = b >> 16; " : "", one);
    return true;
}

/* What set stores for "true"; 0 = no such destination. */
static unsigned one_of(enum sc_type to)
{
    switch (to) {
    case SC_T_u16:
    case SC_T_s16:
        return 0xffff;
    case SC_T_f16:
    case SC_T_f16x2:
        return 0x3c00;
    case SC_T_bf16:
    case SC_T_bf16x2:
        return 0x3f80;
    case SC_T_f32:
        return 0x3f800000;
    case SC_T_u32:
    case SC_T_s32:
        return ~0u;
    default:
        return 0;
    }
}

static bool find_set(struct sc_alu_find *find)
{
    const struct sc_inst *inst = find->inst;
    const char *combine = take_combination(find);
    if (inst->type_count != 2 || !one_of(inst->types[0]))
        return false;
    enum sc_type to = inst->types[0], from = inst->types[1];
    bool halves = is_float_pair(from);
    unsigned one = halves && !is_float_pair(to) ? 0xffff : one_of(to);
    char text[160], p[200];
    if (!compare_text(find, halves ? half_of(from) : from, text, sizeof text) ||
        !compare_args(find, from, combine != NULL))
        return false;
    truth(p, sizeof p, text, false, combine);
    if (halves)
        sc_alu_result(find, to, sc_alu_operand(find, 0),
                      "T_32 x = a, y = b; a &= 0xffffu; b &= 0xffffu; "
                      "T_32 l = T_sel(%s, T_bc32(%#x), T_bc32(0)); "
                      "a = x >> 16; b = y >> 16; "
                      "return l | T_sel(%s, T_bc32(%#x), T_bc32(0)) << 16;",
                      p, one, p, one);
    else
        sc_alu_result(find, to, sc_alu_operand(find, 0),
                      "return T_sel(%s, T_bc32(%#x), T_bc32(0));", p, one);
    return true;
}

static const char *select_text(enum sc_type type)
{
    return sc_alu_bits(type) == 64 ? "T_sel64" : "T_sel";
}

static bool find_selp(struct sc_alu_find *find)
{
    if (find->inst->type_count != 1 || find->inst->operand_count != 4)
        return false;
    sc_alu_arg(find, find->type, sc_alu_operand(find, 1));
    sc_alu_arg(find, find->type, sc_alu_operand(find, 2));
    sc_alu_arg(find, SC_T_pred, sc_alu_operand(find, 3));
    sc_alu_result(find, find->type, sc_alu_operand(find, 0),
                  "return %s(c, a, b);", select_text(find->type));
    return true;
}

static bool find_slct(struct sc_alu_find *find)
{
    const struct sc_inst *inst = find->inst;
    bool ftz = sc_alu_take(find, SC_MOD_ftz);
    if (inst->type_count != 2 || inst->operand_count != 4)
        return false;
    bool by_float = inst->types[1] == SC_T_f32;
    sc_alu_arg(find, inst->types[0], sc_alu_operand(find, 1));
    sc_alu_arg(find, inst->types[0], sc_alu_operand(find, 2));
    sc_alu_arg(find, inst->types[1], sc_alu_operand(find, 3));
    /* q_ has no comparison of f32: c >= 0 is "no NaN, and no sign or zero" */
    const char *test =
        !by_float ? "T_cmpi((T_i)c, (T_i)T_bc32(0), 5)"
        : ftz     ? "T_or(T_cmpu(c, T_bc32(0x7f800000u), 2), T_cmpu(c & "
                    "0x7f800000u, T_bc32(0), 0))"
                  : "T_or(T_cmpu(c, T_bc32(0x7f800000u), 2), T_cmpu(c, "
                    "T_bc32(0x80000000u), 0))";
    sc_alu_result(find, inst->types[0], sc_alu_operand(find, 0),
                  "return %s(%s, a, b);", select_text(inst->types[0]), test);
    return true;
}

static bool find_testp(struct sc_alu_find *find)
{
    static const struct {
        enum sc_modifier mod;
        const char *narrow, *wide;
    } tests[] = {
        {SC_MOD_finite, "T_cmpu(s, T_bc32(0x7f800000u), 1)",
         "T_cmpul(s, T_bc64(0x7ff0000000000000u), 1)"},
        {SC_MOD_infinite, "T_cmpu(s, T_bc32(0x7f800000u), 0)",
         "T_cmpul(s, T_bc64(0x7ff0000000000000u), 0)"},
        {SC_MOD_number, "T_cmpu(s, T_bc32(0x7f800000u), 2)",
         "T_cmpul(s, T_bc64(0x7ff0000000000000u), 2)"},
        {SC_MOD_notanumber, "T_cmpu(s, T_bc32(0x7f800000u), 6)",
         "T_cmpul(s, T_bc64(0x7ff0000000000000u), 6)"},
        /* zero counts as normal */
        {SC_MOD_normal,
         "T_or(T_cmpu(s, T_bc32(0), 0), T_cmpu(s - 0x800000u, "
         "T_bc32(0x7f000000u), 1))",
         "T_or(T_cmpul(s, T_bc64(0), 0), T_cmpul(s - 0x10000000000000u, "
         "T_bc64(0x7fe0000000000000u), 1))"},
        {SC_MOD_subnormal, "T_cmpu(s - 1u, T_bc32(0x7fffffu), 1)",
         "T_cmpul(s - 1u, T_bc64(0xfffffffffffffu), 1)"}};
    bool wide = find->type == SC_T_f64;
    if (!wide && find->type != SC_T_f32)
        return false;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (!sc_alu_take(find, tests[i].mod))
            continue;
        if (!sc_alu_args(find, find->type, 1))
            return false;
        sc_alu_result(find, SC_T_pred, sc_alu_operand(find, 0),
                      wide ? "T_64 s = a & 0x7fffffffffffffffu; return %s;"
                           : "T_32 s = a & 0x7fffffffu; return %s;",
                      wide ? tests[i].wide : tests[i].narrow);
        return true;
    }
    return false;
}

bool sc_alu_find_compare(struct sc_alu_find *find)
{
    switch (find->inst->opcode) {
    case SC_OP_setp:
        return find_setp(find);
    case SC_OP_set:
        return find_set(find);
    case SC_OP_selp:
        return find_selp(find);
    case SC_OP_slct:
        return find_slct(find);
    case SC_OP_testp:
        return find_testp(find);
    default:
        return false;
    }
}

/*
 * Integer arithmetic as templates.
 *
 * 16-bit values are computed in 32 bits and cut. Lock: none.
 */
#include "native/alu_find.h"

#include <stdio.h>
#include <string.h>

/* Expressions in a, b, c for 16 and 32 bits and for 64, unsigned and signed;
 * signed 16-bit arguments are extended before. */
struct forms {
    const char *u32, *s32, *u64, *s64;
};

static bool is_signed(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_SIGNED;
}

static bool is_integer(enum sc_type type)
{
    enum sc_type_class class = sc_type_class(type);
    return class == SC_CLASS_SIGNED || class == SC_CLASS_UNSIGNED ||
           class == SC_CLASS_BITS;
}

/* "a = T_sx16(a); …" where the type asks for it */
static const char *extension(enum sc_type type, uint32_t n)
{
    static const char *const text[] = {
        "", "a = T_sx16(a); ", "a = T_sx16(a); b = T_sx16(b); ",
        "a = T_sx16(a); b = T_sx16(b); c = T_sx16(c); "};
    return is_signed(type) && sc_alu_bits(type) == 16 ? text[n] : "";
}

static bool emit(struct sc_alu_find *find, uint32_t n,
                 const struct forms *forms)
{
    enum sc_type type = find->type;
    uint32_t bits = sc_alu_bits(type);
    if (find->inst->type_count != 1 || !is_integer(type) || bits < 16 ||
        bits > 64)
        return false;
    const char *text = bits == 64 ? (is_signed(type) ? forms->s64 : forms->u64)
                                  : (is_signed(type) ? forms->s32 : forms->u32);
    if (!text || !sc_alu_args(find, type, n))
        return false;
    sc_alu_result(find, type, sc_alu_operand(find, 0), "%sreturn %s%s%s;",
                  extension(type, n), bits == 16 ? "(" : "", text,
                  bits == 16 ? ") & 0xffffu" : "");
    return true;
}

#define SAME(e)                                                                \
    {                                                                          \
        e, e, e, e                                                             \
    }

/* ---- one form for every type ---- */

static const struct {
    enum sc_opcode opcode;
    uint32_t arguments;
    struct forms forms;
} plain[] = {
    {SC_OP_sad,
     3,
     {"T_maxu(a, b) - T_minu(a, b) + c", "T_maxi(a, b) - T_mini(a, b) + c",
      "T_maxul(a, b) - T_minul(a, b) + c", "T_maxl(a, b) - T_minl(a, b) + c"}},
    {SC_OP_div,
     2,
     {"T_divu(a, b)", "T_divi(a, b)", "T_divul(a, b)", "T_divl(a, b)"}},
    {SC_OP_rem,
     2,
     {"T_remu(a, b)", "T_remi(a, b)", "T_remul(a, b)", "T_reml(a, b)"}},
    {SC_OP_abs, 1, {NULL, "T_absi(a)", NULL, "T_absl(a)"}},
    {SC_OP_neg, 1, {NULL, "-a", NULL, "-a"}},
};

static bool find_plain(struct sc_alu_find *find)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].opcode == find->inst->opcode)
            return emit(find, plain[i].arguments, &plain[i].forms);
    return false;
}

static bool find_minmax(struct sc_alu_find *find, bool is_min, bool relu)
{
    static const struct forms least0 = {NULL, "T_maxi(T_mini(a, b), T_bc32(0))",
                                        NULL, NULL};
    static const struct forms most0 = {NULL, "T_maxi(T_maxi(a, b), T_bc32(0))",
                                       NULL, NULL};
    static const struct forms least = {"T_minu(a, b)", "T_mini(a, b)",
                                       "T_minul(a, b)", "T_minl(a, b)"};
    static const struct forms most = {"T_maxu(a, b)", "T_maxi(a, b)",
                                      "T_maxul(a, b)", "T_maxl(a, b)"};
    if (relu)
        return find->type == SC_T_s32 &&
               emit(find, 2, is_min ? &least0 : &most0);
    return emit(find, 2, is_min ? &least : &most);
}

/* ---- the condition code ---- */

/*
 * Sum and carry of x + y (- when `minus`), with and without a carry in z; the
 * instruction's first `n` operands, then the carry, are a, b, c, e.
 */
static bool emit_carry(struct sc_alu_find *find, uint32_t n, const char *x,
                       const char *y, bool minus, bool in)
{
    enum sc_type type = find->type;
    bool wide = sc_alu_bits(type) == 64, out = sc_alu_take(find, SC_MOD_cc);
    const char *t = wide ? "T_64" : "T_32";
    const char *cmp = wide ? "T_cmpul" : "T_cmpu";
    const char *sel = wide ? "T_sel64" : "T_sel", *bc = wide ? "64" : "32";
    char sum[320];
    if (!is_integer(type) || sc_alu_bits(type) < 32 ||
        !sc_alu_args(find, type, n))
        return false;
    if (in)
        sc_alu_arg(find, SC_T_pred, NULL);
    char flag = (char)('a' + n);
    snprintf(sum, sizeof sum, "%s x = %s, y = %s, r = x %c y", t, x, y,
             minus ? '-' : '+');
    if (in)
        snprintf(sum + strlen(sum), sizeof sum - strlen(sum),
                 ", z = %s(%c, T_bc%s(1), T_bc%s(0)), w = r %c z", sel, flag,
                 bc, bc, minus ? '-' : '+');
    sc_alu_result(find, type, sc_alu_operand(find, 0), "%s; return %c;", sum,
                  in ? 'w' : 'r');
    if (!out)
        return true;
    const char *over = minus ? "x, y" : "r, x";
    if (in)
        sc_alu_result(find, SC_T_pred, NULL,
                      "%s; return T_or(%s(%s, 1), %s(%s, 1));", sum, cmp, over,
                      cmp, minus ? "r, z" : "w, r");
    else
        sc_alu_result(find, SC_T_pred, NULL, "%s; return %s(%s, 1);", sum, cmp,
                      over);
    return true;
}

static bool has(const struct sc_alu_find *find, enum sc_modifier modifier)
{
    return find->inst->mods[modifier / 64] >> modifier % 64 & 1;
}

/* add.u16x2, min.s16x2 and kin: `e` in halves p, q */
static bool emit_pair(struct sc_alu_find *find, const char *function, bool relu)
{
    bool minus = find->type == SC_T_s16x2;
    if (!sc_alu_args(find, find->type, 2))
        return false;
    sc_alu_result(
        find, find->type, sc_alu_operand(find, 0),
        "T_32 p = %s, q = %s, l = %s(p, q), h;"
        "p = %s; q = %s; h = %s(p, q); %sreturn (l & 0xffffu) | h << 16;",
        minus ? "T_sx16(a)" : "a & 0xffffu",
        minus ? "T_sx16(b)" : "b & 0xffffu", function,
        minus ? "T_sx16(a >> 16)" : "a >> 16",
        minus ? "T_sx16(b >> 16)" : "b >> 16", function,
        relu ? "l = T_maxi(l, T_bc32(0)); h = T_maxi(h, T_bc32(0)); " : "");
    return true;
}

static bool is_pair(enum sc_type type)
{
    return type == SC_T_u16x2 || type == SC_T_s16x2;
}

static bool find_add(struct sc_alu_find *find, bool minus)
{
    static const struct forms add = SAME("a + b"), sub = SAME("a - b");
    static const struct forms sat_add = {NULL, "T_satadd(a, b)", NULL, NULL};
    static const struct forms sat_sub = {NULL, "T_satsub(a, b)", NULL, NULL};
    if (is_pair(find->type))
        return !minus && emit_pair(find, "T_plus", false);
    if (has(find, SC_MOD_cc))
        return emit_carry(find, 2, "a", "b", minus, false);
    if (sc_alu_take(find, SC_MOD_sat))
        return emit(find, 2, minus ? &sat_sub : &sat_add);
    return emit(find, 2, minus ? &sub : &add);
}

static bool find_extremes(struct sc_alu_find *find, bool is_min)
{
    bool relu = sc_alu_take(find, SC_MOD_relu);
    bool minus = is_signed(find->type) || find->type == SC_T_s16x2;
    if (is_pair(find->type))
        return (!relu || minus) &&
               emit_pair(find,
                         is_min ? (minus ? "T_mini" : "T_minu")
                                : (minus ? "T_maxi" : "T_maxu"),
                         relu);
    return find_minmax(find, is_min, relu);
}

/* ---- products ---- */

static const char *product(enum sc_type type, bool high)
{
    bool wide = sc_alu_bits(type) == 64, minus = is_signed(type);
    if (!high)
        return "(a * b)";
    if (sc_alu_bits(type) == 16)
        return "(a * b >> 16)";
    if (wide)
        return minus ? "T_mulhil(a, b)" : "T_mulhiul(a, b)";
    return minus ? "T_mulhii(a, b)" : "T_mulhiu(a, b)";
}

static bool emit_wide(struct sc_alu_find *find, bool adds)
{
    enum sc_type from = find->type, to;
    bool minus = is_signed(from), half = sc_alu_bits(from) == 16;
    if (sc_alu_bits(from) > 32 || find->inst->operand_count != 3u + adds)
        return false;
    to = half ? (minus ? SC_T_s32 : SC_T_u32) : (minus ? SC_T_s64 : SC_T_u64);
    sc_alu_arg(find, from, sc_alu_operand(find, 1));
    sc_alu_arg(find, from, sc_alu_operand(find, 2));
    if (adds)
        sc_alu_arg(find, to, sc_alu_operand(find, 3));
    sc_alu_result(find, to, sc_alu_operand(find, 0), "%sreturn %s%s;",
                  extension(from, 2),
                  half    ? "a * b"
                  : minus ? "T_widei(a, b)"
                          : "T_wideu(a, b)",
                  adds ? " + c" : "");
    return true;
}

static bool find_product(struct sc_alu_find *find, bool adds, bool in)
{
    bool high = sc_alu_take(find, SC_MOD_hi);
    if (sc_alu_take(find, SC_MOD_wide))
        return !in && emit_wide(find, adds);
    if (!high && !sc_alu_take(find, SC_MOD_lo))
        return false;
    const char *p = product(find->type, high);
    if (in || has(find, SC_MOD_cc))
        return emit_carry(find, 3, p, "c", false, in);
    char text[64];
    if (high && adds && sc_alu_take(find, SC_MOD_sat))
        snprintf(text, sizeof text, "T_satadd(%s, c)", p);
    else
        snprintf(text, sizeof text, "%s%s", p, adds ? " + c" : "");
    return emit(find, adds ? 3 : 2, &(struct forms)SAME(text));
}

static bool find_24(struct sc_alu_find *find, bool adds)
{
    bool high = sc_alu_take(find, SC_MOD_hi), minus = is_signed(find->type);
    if ((!high && !sc_alu_take(find, SC_MOD_lo)) ||
        sc_alu_bits(find->type) != 32 ||
        !sc_alu_args(find, find->type, adds ? 3 : 2))
        return false;
    const char *cut = minus ? "a = T_sx24(a); b = T_sx24(b); "
                            : "a &= 0xffffffu; b &= 0xffffffu; ";
    const char *top = minus ? "(a * b >> 16 | T_mulhii(a, b) << 16)"
                            : "(a * b >> 16 | T_mulhiu(a, b) << 16)";
    if (high && adds && minus && sc_alu_take(find, SC_MOD_sat))
        sc_alu_result(find, find->type, sc_alu_operand(find, 0),
                      "%sreturn T_satadd(%s, c);", cut, top);
    else
        sc_alu_result(find, find->type, sc_alu_operand(find, 0),
                      "%sreturn %s%s;", cut, high ? top : "a * b",
                      adds ? " + c" : "");
    return true;
}

/* dp4a, dp2a: products of parts, each extended as its type says */
static bool find_dot(struct sc_alu_find *find, bool four)
{
    const struct sc_inst *inst = find->inst;
    bool high = !four && sc_alu_take(find, SC_MOD_hi);
    if (inst->type_count != 2 ||
        (!four && !high && !sc_alu_take(find, SC_MOD_lo)) ||
        !sc_alu_args(find, SC_T_b32, 3))
        return false;
    bool sa = is_signed(inst->types[0]), sb = is_signed(inst->types[1]);
    int n = four ? 4 : 2, bits = four ? 8 : 16;
    char text[512] = "return c";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 " + T_part%s%d(a, %d) * T_part%s8(b, %d)", sa ? "i" : "u",
                 bits, i * bits, sb ? "i" : "u", (i + (high ? 2 : 0)) * 8);
    sc_alu_result(find, SC_T_b32, sc_alu_operand(find, 0), "%s;", text);
    return true;
}

bool sc_alu_find_int(struct sc_alu_find *find)
{
    if (!is_integer(find->type) && !is_pair(find->type))
        return false;
    switch (find->inst->opcode) {
    case SC_OP_add:
        return find_add(find, false);
    case SC_OP_sub:
        return find_add(find, true);
    case SC_OP_addc:
        return emit_carry(find, 2, "a", "b", false, true);
    case SC_OP_subc:
        return emit_carry(find, 2, "a", "b", true, true);
    case SC_OP_mul:
        return find_product(find, false, false);
    case SC_OP_mad:
        return find_product(find, true, false);
    case SC_OP_madc:
        return find_product(find, true, true);
    case SC_OP_mul24:
        return find_24(find, false);
    case SC_OP_mad24:
        return find_24(find, true);
    case SC_OP_min:
        return find_extremes(find, true);
    case SC_OP_max:
        return find_extremes(find, false);
    case SC_OP_dp4a:
        return find_dot(find, true);
    case SC_OP_dp2a:
        return find_dot(find, false);
    default:
        return find_plain(find);
    }
}

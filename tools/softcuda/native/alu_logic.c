/*
 * Logic, shifts, bits and moves as templates.
 *
 * Lock: none.
 */
#include "native/alu_find.h"

#include <stdio.h>
#include <string.h>

static bool is_signed(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_SIGNED;
}

/* Result 0 of the instruction's type from the arguments so far. */
static bool result(struct sc_alu_find *find, const char *expression)
{
    sc_alu_result(find, find->type, sc_alu_operand(find, 0), "return %s%s%s;",
                  sc_alu_bits(find->type) == 16 ? "0xffffu & (" : "",
                  expression, sc_alu_bits(find->type) == 16 ? ")" : "");
    return true;
}

static bool simple(struct sc_alu_find *find, uint32_t n, const char *expression)
{
    return sc_alu_args(find, find->type, n) && result(find, expression);
}

static bool find_binary(struct sc_alu_find *find, const char *bits,
                        const char *truth)
{
    bool is_pred = find->type == SC_T_pred;
    if (!sc_alu_args(find, find->type, 2))
        return false;
    if (!is_pred)
        return result(find, bits);
    sc_alu_result(find, SC_T_pred, sc_alu_operand(find, 0), "return %s;",
                  truth);
    return true;
}

static bool find_not(struct sc_alu_find *find)
{
    if (!sc_alu_args(find, find->type, 1))
        return false;
    if (find->type != SC_T_pred)
        return result(find, "~a");
    sc_alu_result(find, SC_T_pred, sc_alu_operand(find, 0), "return T_not(a);");
    return true;
}

/* The first `wide` arguments have the type, the rest 32 bits; with 64-bit
 * types the rest is extended by `head`. */
static bool amounts(struct sc_alu_find *find, uint32_t n, uint32_t wide)
{
    if (find->inst->operand_count != n + 1)
        return false;
    for (uint32_t i = 0; i < n; i++)
        sc_alu_arg(find, i < wide ? find->type : SC_T_u32,
                   sc_alu_operand(find, i + 1));
    return true;
}

static bool find_shift(struct sc_alu_find *find, bool left)
{
    uint32_t bits = sc_alu_bits(find->type);
    bool minus = !left && is_signed(find->type);
    if (bits < 16 || !amounts(find, 2, 1))
        return false;
    if (bits == 64)
        return result(find, left    ? "T_shl64(a, T_zext(b))"
                            : minus ? "T_sar64(a, T_zext(b))"
                                    : "T_shr64(a, T_zext(b))");
    return result(find, left         ? "T_shl(a, b)"
                        : !minus     ? "T_shr(a, b)"
                        : bits == 16 ? "T_sar(T_sx16(a), b)"
                                     : "T_sar(a, b)");
}

static bool find_field(struct sc_alu_find *find)
{
    bool wide = sc_alu_bits(find->type) == 64, minus = is_signed(find->type);
    if (sc_alu_bits(find->type) < 32 || !amounts(find, 3, 1))
        return false;
    if (wide)
        return result(find, minus ? "T_bfeli(a, T_zext(b), T_zext(c))"
                                  : "T_bfel(a, T_zext(b), T_zext(c))");
    return result(find, minus ? "T_bfei(a, b, c)" : "T_bfe(a, b, c)");
}

static bool find_insert(struct sc_alu_find *find)
{
    bool wide = sc_alu_bits(find->type) == 64;
    if (sc_alu_bits(find->type) < 32 || !amounts(find, 4, 2))
        return false;
    return result(find, wide ? "T_bfil(a, b, T_zext(c), T_zext(d))"
                             : "T_bfi(a, b, c, d)");
}

/* popc, clz, bfind: 32-bit results */
static bool find_count(struct sc_alu_find *find, const char *narrow,
                       const char *wide)
{
    if (sc_alu_bits(find->type) < 32 || !sc_alu_args(find, find->type, 1))
        return false;
    sc_alu_result(find, SC_T_u32, sc_alu_operand(find, 0), "return %s;",
                  sc_alu_bits(find->type) == 64 ? wide : narrow);
    return true;
}

static bool find_bfind(struct sc_alu_find *find)
{
    bool wide = sc_alu_bits(find->type) == 64, minus = is_signed(find->type);
    bool amount = sc_alu_take(find, SC_MOD_shiftamt);
    if (sc_alu_bits(find->type) < 32 || !sc_alu_args(find, find->type, 1))
        return false;
    const char *fold = !minus ? ""
                       : wide ? "a ^= (T_64)((T_l)a >> 63); "
                              : "a ^= (T_32)((T_i)a >> 31); ";
    const char *top = wide ? "T_clzl(a)" : "T_clz(a)";
    int last = wide ? 63 : 31;
    if (amount)
        sc_alu_result(find, SC_T_u32, sc_alu_operand(find, 0),
                      "%sT_32 n = %s; return T_sel(T_cmpu(n, T_bc32(%d), 6), "
                      "T_bc32(~0u), n);",
                      fold, top, last);
    else
        sc_alu_result(find, SC_T_u32, sc_alu_operand(find, 0),
                      "%sreturn %du - %s;", fold, last, top);
    return true;
}

static bool find_lop3(struct sc_alu_find *find)
{
    const struct sc_operand *to = sc_alu_operand(find, 0);
    const struct sc_operand *table = sc_alu_operand(find, 4);
    bool any = sc_alu_take(find, SC_MOD_or);
    bool tests = any || sc_alu_take(find, SC_MOD_and);
    if (!table || table->kind != SC_OPERAND_INT || find->type != SC_T_b32 ||
        find->inst->operand_count != (tests ? 6u : 5u) ||
        tests != (to->kind == SC_OPERAND_PAIR))
        return false;
    unsigned lut = table->bits & 0xff;
    sc_alu_name(find, "_%02x", lut);
    for (uint32_t i = 1; i <= 3; i++)
        sc_alu_arg(find, SC_T_b32, sc_alu_operand(find, i));
    if (tests)
        sc_alu_arg(find, SC_T_pred, sc_alu_operand(find, 5));
    sc_alu_result(find, SC_T_b32, tests ? &to->sub[0] : to,
                  "return T_lop3(a, b, c, %u);", lut);
    if (tests)
        sc_alu_result(find, SC_T_pred, &to->sub[1],
                      "return T_%s(T_cmpu(T_lop3(a, b, c, %u), T_bc32(0), 4), "
                      "d);",
                      any ? "or" : "and", lut);
    return true;
}

static bool find_shf(struct sc_alu_find *find)
{
    bool left = sc_alu_take(find, SC_MOD_l);
    bool right = sc_alu_take(find, SC_MOD_r);
    bool clamp = sc_alu_take(find, SC_MOD_clamp);
    bool wrap = sc_alu_take(find, SC_MOD_wrap);
    if (left == right || clamp == wrap || !sc_alu_args(find, find->type, 3))
        return false;
    char text[96];
    snprintf(text, sizeof text, "T_shf_%c(a, b, %s)", left ? 'l' : 'r',
             clamp ? "T_minu(c, T_bc32(32))" : "c & 31u");
    return result(find, text);
}

/* Selector nibbles of the special modes, by the low bits of c. */
static const struct {
    enum sc_modifier mod;
    unsigned nibbles[4];
} prmt_modes[] = {{SC_MOD_f4e, {0x3210, 0x4321, 0x5432, 0x6543}},
                  {SC_MOD_b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
                  {SC_MOD_rc8, {0x0000, 0x1111, 0x2222, 0x3333}},
                  {SC_MOD_ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
                  {SC_MOD_ecr, {0x0000, 0x1110, 0x2210, 0x3210}},
                  {SC_MOD_rc16, {0x1010, 0x3232, 0x1010, 0x3232}}};

/* Bytes of a and b in an order known now. */
static bool fixed_prmt(struct sc_alu_find *find, unsigned selector)
{
    char text[400] = "";
    sc_alu_name(find, "_%04x", selector & 0xffff);
    sc_alu_arg(find, SC_T_b32, sc_alu_operand(find, 1));
    sc_alu_arg(find, SC_T_b32, sc_alu_operand(find, 2));
    for (int i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 15;
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 nibble & 8 ? "%s(0u - (T_parti8(%c, %u) >> 31) & 255u) << %d"
                            : "%s(%c >> %u & 255u) << %d",
                 i ? " | " : "", nibble & 4 ? 'b' : 'a', (nibble & 3) * 8,
                 i * 8);
    }
    return result(find, text);
}

static bool find_prmt(struct sc_alu_find *find)
{
    const struct sc_operand *c = sc_alu_operand(find, 3);
    const unsigned *nibbles = NULL;
    for (size_t i = 0; i < sizeof prmt_modes / sizeof *prmt_modes; i++)
        if (sc_alu_take(find, prmt_modes[i].mod))
            nibbles = prmt_modes[i].nibbles;
    if (!c || find->inst->operand_count != 4)
        return false;
    if (c->kind == SC_OPERAND_INT)
        return fixed_prmt(find, nibbles ? nibbles[c->bits & 3]
                                        : (unsigned)c->bits & 0xffff);
    if (!nibbles)
        return simple(find, 3, "T_prmt(a, b, c)");
    char text[200];
    snprintf(text, sizeof text,
             "T_prmt(a, b, T_sel(T_cmpu(c & 2u, T_bc32(0), 0), "
             "T_bc32(%#x) ^ (c & 1u) * %#xu, T_bc32(%#x) ^ (c & 1u) * %#xu))",
             nibbles[0], nibbles[0] ^ nibbles[1], nibbles[2],
             nibbles[2] ^ nibbles[3]);
    return simple(find, 3, text);
}

static bool find_clamped(struct sc_alu_find *find, bool mask)
{
    bool clamp = sc_alu_take(find, SC_MOD_clamp);
    bool wrap = sc_alu_take(find, SC_MOD_wrap);
    if (clamp == wrap)
        return false;
    if (mask)
        return simple(find, 2,
                      clamp ? "T_bmsk(a, b)" : "T_bmsk(a & 31u, b & 31u)");
    if (is_signed(find->type))
        return simple(find, 2,
                      clamp ? "T_szexti(a, b)" : "T_szexti(a, b & 31u)");
    return simple(find, 2, clamp ? "T_szext(a, b)" : "T_szext(a, b & 31u)");
}

/* ---- moves ---- */

/* The parts of a packed register, low ones first. */
static bool find_pack(struct sc_alu_find *find, const struct sc_operand *from)
{
    uint32_t n = from->reg, part = n ? sc_alu_bits(find->type) / n : 0;
    bool wide = sc_alu_bits(find->type) == 64;
    enum sc_type type = part == 32 ? SC_T_b32 : SC_T_b16;
    if ((n != 2 && n != 4) || part < 16)
        return false;
    sc_alu_name(find, "_pack%u", n);
    for (uint32_t i = 0; i < n; i++)
        sc_alu_arg(find, type, &from->sub[i]);
    return result(find, !wide    ? "a | b << 16"
                        : n == 2 ? "T_zext(a) | T_zext(b) << 32"
                                 : "T_zext(a | b << 16) | "
                                   "T_zext(c | d << 16) << 32");
}

static bool find_unpack(struct sc_alu_find *find, const struct sc_operand *to)
{
    uint32_t n = to->reg, part = n ? sc_alu_bits(find->type) / n : 0;
    bool wide = sc_alu_bits(find->type) == 64;
    enum sc_type type = part == 32 ? SC_T_b32 : SC_T_b16;
    if ((n != 2 && n != 4) || part < 16 || !sc_alu_args(find, find->type, 1))
        return false;
    sc_alu_name(find, "_unpack%u", n);
    for (uint32_t i = 0; i < n; i++) {
        /* the name of a function says which part, whatever `_` leaves out */
        if (to->sub[i].kind == SC_OPERAND_SINK)
            sc_alu_name(find, "_%u", i);
        if (wide)
            sc_alu_result(find, type, &to->sub[i], "return T_low(a >> %u)%s;",
                          i * part, part == 16 ? " & 0xffffu" : "");
        else
            sc_alu_result(find, type, &to->sub[i], "return a >> %u & 0xffffu;",
                          i * part);
    }
    return true;
}

static bool find_mov(struct sc_alu_find *find)
{
    const struct sc_operand *to = sc_alu_operand(find, 0);
    const struct sc_operand *from = sc_alu_operand(find, 1);
    uint32_t bits = sc_alu_bits(find->type);
    if (bits > 64 || bits < 16)
        return false;
    if (to->kind == SC_OPERAND_VECTOR)
        return find_unpack(find, to);
    if (from->kind == SC_OPERAND_VECTOR)
        return find_pack(find, from);
    if (!sc_alu_args(find, find->type, 1))
        return false;
    sc_alu_result(find, find->type, to, "return a;");
    return true;
}

static bool find_bits(struct sc_alu_find *find)
{
    bool wide = sc_alu_bits(find->type) == 64;
    switch (find->inst->opcode) {
    case SC_OP_cnot:
        return simple(find, 1,
                      wide ? "T_sel64(T_cmpul(a, T_bc64(0), 0), T_bc64(1), "
                             "T_bc64(0))"
                           : "T_sel(T_cmpu(a, T_bc32(0), 0), T_bc32(1), "
                             "T_bc32(0))");
    case SC_OP_brev:
        return simple(find, 1, wide ? "T_brevl(a)" : "T_brev(a)");
    case SC_OP_popc:
        return find_count(find, "T_popc(a)", "T_popcl(a)");
    case SC_OP_clz:
        return find_count(find, "T_clz(a)", "T_clzl(a)");
    case SC_OP_bfind:
        return find_bfind(find);
    case SC_OP_bfe:
        return find_field(find);
    case SC_OP_bfi:
        return find_insert(find);
    case SC_OP_bmsk:
        return find_clamped(find, true);
    case SC_OP_szext:
        return find_clamped(find, false);
    case SC_OP_fns:
        return simple(find, 3, "T_fns(a, b, c)");
    default:
        return false;
    }
}

bool sc_alu_find_logic(struct sc_alu_find *find)
{
    if (find->inst->type_count != 1)
        return false;
    switch (find->inst->opcode) {
    case SC_OP_and:
        return find_binary(find, "a & b", "T_and(a, b)");
    case SC_OP_or:
        return find_binary(find, "a | b", "T_or(a, b)");
    case SC_OP_xor:
        return find_binary(find, "a ^ b", "T_xor(a, b)");
    case SC_OP_not:
        return find_not(find);
    case SC_OP_shl:
        return find_shift(find, true);
    case SC_OP_shr:
        return find_shift(find, false);
    case SC_OP_lop3:
        return find_lop3(find);
    case SC_OP_shf:
        return find_shf(find);
    case SC_OP_prmt:
        return find_prmt(find);
    case SC_OP_mov:
        return find_mov(find);
    default:
        return find_bits(find);
    }
}

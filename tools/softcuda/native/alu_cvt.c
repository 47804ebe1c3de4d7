/*
 * cvt as templates.
 *
 * Each is made of three steps: the value out of its register, the conversion,
 * the result into a register that may be wider. Lock: none.
 */
#include "native/alu_find.h"
#include "ptx/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a conversion is about. */
struct convert {
    enum sc_type to, from;
    uint32_t to_bits, from_bits; /* of the types */
    uint32_t to_reg, from_reg;   /* of the registers */
    bool to_real, from_real, to_signed, from_signed;
    bool integral;
    struct sc_alu_rounding r;
    struct sc_alu_pins pins;
};

static bool is_signed(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_SIGNED;
}

static uint32_t least_reg(enum sc_type type)
{
    uint32_t bits = sc_alu_bits(type);
    return bits < 16 ? 16 : bits;
}

/* Bits of a register operand; others have what the type needs. */
static uint32_t reg_bits(const struct sc_alu_find *find,
                         const struct sc_operand *operand, enum sc_type type)
{
    if (operand->kind != SC_OPERAND_REG)
        return least_reg(type);
    uint32_t bits = sc_alu_bits(find->func->regs[operand->reg].type);
    return bits < 16 ? 16 : bits;
}

static enum sc_type reg_type(uint32_t bits)
{
    return bits == 64 ? SC_T_b64 : bits == 32 ? SC_T_b32 : SC_T_b16;
}

/* .rni and kin */
static bool take_integral(struct sc_alu_find *find, unsigned *mode)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_round round;
    } whole[] = {{SC_MOD_rni, SC_RN},
                 {SC_MOD_rzi, SC_RZ},
                 {SC_MOD_rmi, SC_RM},
                 {SC_MOD_rpi, SC_RP}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (sc_alu_take(find, whole[i].mod)) {
            *mode = whole[i].round;
            return true;
        }
    return false;
}

static const char *whole_name(unsigned mode)
{
    return mode == SC_RZ   ? "trunc"
           : mode == SC_RM ? "floor"
           : mode == SC_RP ? "ceil"
                           : "rint";
}

/* ---- integer sources ---- */

/* "T_32 v = …; " or "T_64 v = …; " with the extended value of an integer */
static void integer_value(const struct convert *c, char *text, size_t room)
{
    const char *low = c->from_reg == 64 ? "T_low(a)" : "a";
    if (c->from_bits == 64)
        snprintf(text, room, "T_64 v = a; ");
    else if (c->from_bits == 32)
        snprintf(text, room, "T_32 v = %s; ", low);
    else if (c->from_signed)
        snprintf(text, room, "T_32 v = T_sx%u(%s); ", c->from_bits, low);
    else
        snprintf(text, room, "T_32 v = %s & %#xu; ", low,
                 (1u << c->from_bits) - 1);
}

static uint64_t most(uint32_t bits, bool minus)
{
    return UINT64_MAX >> (64 - bits + minus);
}

/* Clamp the 32-bit v to the destination's range. */
static void clamp_32(const struct convert *c, char *text, size_t room)
{
    uint32_t top =
        (uint32_t)most(c->to_bits > 32 ? 32 : c->to_bits, c->to_signed);
    bool fits = c->to_bits > c->from_bits ||
                (c->to_bits == c->from_bits && !c->to_signed);
    text[0] = '\0';
    if (!c->from_signed && !fits)
        snprintf(text, room, "v = T_minu(v, T_bc32(%#x)); ", top);
    else if (c->from_signed && !c->to_signed)
        snprintf(text, room,
                 c->to_bits >= 32 ? "v = T_maxi(v, T_bc32(0)); "
                                  : "v = T_clamp(v, T_bc32(0), T_bc32(%#x)); ",
                 top);
    else if (c->from_signed && c->to_bits < 32)
        snprintf(text, room, "v = T_clamp(v, T_bc32(~%#xu), T_bc32(%#x)); ",
                 top, top);
}

static void clamp_64(const struct convert *c, char *text, size_t room)
{
    uint64_t top = most(c->to_bits, c->to_signed);
    if (!c->from_signed)
        snprintf(text, room, "v = T_minul(v, T_bc64(%#" PRIx64 "ull)); ", top);
    else if (!c->to_signed && c->to_bits == 64)
        snprintf(text, room, "v = T_maxl(v, T_bc64(0)); ");
    else if (!c->to_signed)
        snprintf(text, room,
                 "v = T_clampl(v, T_bc64(0), T_bc64(%#" PRIx64 "ull)); ", top);
    else
        snprintf(text, room,
                 "v = T_clampl(v, T_bc64(~%#" PRIx64 "ull), T_bc64(%#" PRIx64
                 "ull)); ",
                 top, top);
}

/* "return …;" of an integer of the destination type in `w`, 32 bits wide,
 * into its register */
static void into_register(const struct convert *c, const char *w, char *text,
                          size_t room)
{
    char value[64];
    if (c->to_bits == 32)
        snprintf(value, sizeof value, "%s", w);
    else if (c->to_signed)
        snprintf(value, sizeof value, "T_sx%u(%s)", c->to_bits, w);
    else
        snprintf(value, sizeof value, "(%s & %#xu)", w, (1u << c->to_bits) - 1);
    if (c->to_reg == 64)
        snprintf(text, room, "return T_%cext(%s);", c->to_signed ? 's' : 'z',
                 value);
    else
        snprintf(text, room, "return %s%s;", value,
                 c->to_reg == 16 ? " & 0xffffu" : "");
}

static bool integer_integer(struct sc_alu_find *find, const struct convert *c)
{
    char value[96], clamp[128] = "", end[128];
    integer_value(c, value, sizeof value);
    if (c->r.sat && c->from_bits == 64)
        clamp_64(c, clamp, sizeof clamp);
    else if (c->r.sat)
        clamp_32(c, clamp, sizeof clamp);
    if (c->to_bits < 64)
        into_register(c, c->from_bits == 64 ? "T_low(v)" : "v", end,
                      sizeof end);
    else
        snprintf(end, sizeof end, "return %s;",
                 c->from_bits == 64 ? "v"
                 : c->from_signed   ? "T_sext(v)"
                                    : "T_zext(v)");
    sc_alu_result(find, reg_type(c->to_reg), sc_alu_operand(find, 0), "%s%s%s",
                  value, clamp, end);
    return true;
}

/* ---- floating point sources ---- */

/* Expression of the value: T_f, or T_d for f64. */
static const char *real_value(const struct convert *c)
{
    switch (c->from) {
    case SC_T_f16:
        return "T_h_f16(a)";
    case SC_T_bf16:
        return "T_h_bf16(a)";
    case SC_T_f32:
        return c->r.ftz ? "T_ftz(T_F(a))" : "T_F(a)";
    default:
        return "T_D(a)";
    }
}

static const char *bound(const struct convert *c, bool upper)
{
    switch (c->to) {
    case SC_T_s8:
        return upper ? "0x7f" : "-0x80";
    case SC_T_s16:
        return upper ? "0x7fff" : "-0x8000";
    case SC_T_s32:
        return upper ? "0x7fffffff" : "-0x80000000LL";
    case SC_T_u8:
        return upper ? "0xff" : "0";
    case SC_T_u16:
        return upper ? "0xffff" : "0";
    default:
        return upper ? "0xffffffffu" : "0";
    }
}

/* Through a double where anything is 64 bits wide, else in f32. */
static bool real_integer(struct sc_alu_find *find, const struct convert *c)
{
    bool wide = c->to_reg == 64 || c->from_bits == 64;
    const char *name = whole_name(c->r.mode), *x = real_value(c);
    char end[160], w[128];
    if (c->to_bits == 64) {
        sc_alu_result(find, reg_type(c->to_reg), sc_alu_operand(find, 0),
                      "return T_%s_d(T_%sd(%s(%s)));",
                      c->to_signed ? "l" : "ul", name,
                      c->from_bits == 64 ? "" : "T_d_f", x);
        return true;
    }
    if (!wide && c->to_bits == 32)
        snprintf(w, sizeof w, "T_%c_f(x)", c->to_signed ? 'i' : 'u');
    else if (!wide)
        snprintf(w, sizeof w, "T_clamp(T_i_f(x), T_bc32(%s), T_bc32(%s))",
                 bound(c, false), bound(c, true));
    else
        snprintf(w, sizeof w, "T_ranged(x, %s, %s, %#" PRIx64 "u)",
                 bound(c, false), bound(c, true),
                 c->from_bits == 64 ? (uint64_t)1 << (c->to_bits - 1) : 0);
    into_register(c, "v", end, sizeof end);
    sc_alu_result(find, reg_type(c->to_reg), sc_alu_operand(find, 0),
                  "%s x = T_%s%c(%s(%s)); T_32 v = %s; %s",
                  wide ? "T_d" : "T_f", name, wide ? 'd' : 'f',
                  wide && c->from_bits < 64 ? "T_d_f" : "", x, w, end);
    return true;
}

/* ---- floating point destinations ---- */

/* Name of the conversion of `v` to T_d or T_f. */
static void from_integer(const struct convert *c, char to, char *text,
                         size_t room)
{
    const char *kind = c->from_bits == 64 ? (c->from_signed ? "l" : "ul")
                                          : (c->from_signed ? "i" : "u");
    const char *cast =
        to == 'f' && c->from_bits < 64 && c->from_signed ? "(T_i)" : "";
    snprintf(text, room, "T_%c_%s(%s", to, kind, cast);
}

static bool integer_real(struct sc_alu_find *find, const struct convert *c)
{
    bool wide = c->to == SC_T_f64;
    char value[96], made[48];
    integer_value(c, value, sizeof value);
    from_integer(c, wide ? 'd' : 'f', made, sizeof made);
    const char *pin = !c->pins.pinned      ? ""
                      : c->from_bits == 64 ? "v = T_pin64(v); "
                                           : "v = T_pin(v); ";
    sc_alu_result(find, c->to, sc_alu_operand(find, 0),
                  "%s%s%s%s r = %sv); %s%s%sreturn %s(r);", value,
                  c->pins.before, pin, wide ? "T_d" : "T_f", made,
                  !c->pins.pinned ? ""
                  : wide          ? "r = T_pind(r); "
                                  : "r = T_pinf(r); ",
                  c->pins.after,
                  !c->r.sat ? ""
                  : wide    ? "r = T_satd(r); "
                            : "r = T_satf(r); ",
                  wide ? "T_L" : "T_U");
    return true;
}

/* ---- to f16 and bf16, lane by lane ---- */

/* Statement "w = …" of the double that argument `name` stands for. */
static void half_value(const struct convert *c, char name, char *text,
                       size_t room)
{
    char value[128];
    if (!c->from_real)
        snprintf(value, sizeof value, "(double)(%s)(%c)",
                 c->from_signed       ? (c->from_bits == 64   ? "int64_t"
                                         : c->from_bits == 32 ? "int32_t"
                                         : c->from_bits == 16 ? "int16_t"
                                                              : "int8_t")
                 : c->from_bits == 64 ? "uint64_t"
                 : c->from_bits == 32 ? "uint32_t"
                 : c->from_bits == 16 ? "uint16_t"
                                      : "uint8_t",
                 name);
    else if (c->from == SC_T_f64)
        snprintf(value, sizeof value, "s_D(%c)", name);
    else if (c->from == SC_T_f32)
        snprintf(value, sizeof value, "(double)s_F(%c)", name);
    else
        snprintf(value, sizeof value, "(double)sc_%s_f32(%c)",
                 sc_type_name(c->from), name);
    if (c->pins.pinned)
        snprintf(text, room, "%s%c = s_pin64(%c); w = s_pind(%s); %s",
                 c->pins.before, name, name, value, c->pins.after);
    else
        snprintf(text, room,
                 c->integral ? "w = sc_whole(%s, %u); " : "w = %s; ", value,
                 c->r.mode);
}

static bool any_half(struct sc_alu_find *find, const struct convert *c)
{
    char value[256];
    half_value(c, 'a', value, sizeof value);
    find->call->form = SC_ALU_LANES;
    sc_alu_result(find, c->to, sc_alu_operand(find, 0),
                  "double w; %sreturn sc_f64_%s(sc_limit(w, %u), %u);", value,
                  sc_type_name(c->to), c->r.flags, c->r.mode);
    return true;
}

/* cvt.f16x2.f32 d, a, b: a goes to the upper half */
static bool find_packed(struct sc_alu_find *find, struct convert *c)
{
    const char *half = c->to == SC_T_f16x2 ? "f16" : "bf16";
    char high[256], low[256];
    if (c->from != SC_T_f32 || !sc_alu_args(find, SC_T_f32, 2))
        return false;
    half_value(c, 'a', high, sizeof high);
    half_value(c, 'b', low, sizeof low);
    find->call->form = SC_ALU_LANES;
    sc_alu_result(find, c->to, sc_alu_operand(find, 0),
                  "double w; %suint32_t r = (uint32_t)sc_f64_%s(sc_limit(w, "
                  "%u), %u) << 16; %sreturn r | sc_f64_%s(sc_limit(w, %u), "
                  "%u);",
                  high, half, c->r.flags, c->r.mode, low, half, c->r.flags,
                  c->r.mode);
    return true;
}

/* ---- among f32 and f64, and from f16 and bf16 to them ---- */

static bool real_real(struct sc_alu_find *find, const struct convert *c)
{
    bool wide = c->to == SC_T_f64 || c->from == SC_T_f64;
    const char *x = real_value(c);
    char whole[16] = "";
    if (c->integral)
        snprintf(whole, sizeof whole, "T_%s%c", whole_name(c->r.mode),
                 wide ? 'd' : 'f');
    const char *sat = !c->r.sat ? ""
                      : wide    ? "x = T_satd(x); "
                                : "x = T_satf(x); ";
    const char *relu =
        !c->r.relu ? ""
        : wide     ? "x = T_seld(T_cmpd(x, T_bcd(0.0), 2), T_bcd(0.0), x); "
                   : "x = T_self(T_cmpf(x, T_bcf(0.0f), 2), T_bcf(0.0f), x); ";
    if (c->to == SC_T_f64 || !wide)
        sc_alu_result(find, c->to, sc_alu_operand(find, 0),
                      "%s x = %s(%s(%s)); %s%sreturn %s;", wide ? "T_d" : "T_f",
                      whole, wide && c->from != SC_T_f64 ? "T_d_f" : "", x, sat,
                      relu,
                      wide       ? "T_L(x)"
                      : c->r.ftz ? "T_U(T_ftz(x))"
                                 : "T_U(x)");
    else
        sc_alu_result(find, c->to, sc_alu_operand(find, 0),
                      "T_d x = %s(%s); %s%s%s%sT_f r = T_f_d(x); %s%sreturn "
                      "T_U(%s(r));",
                      whole, x, sat, relu, c->pins.before,
                      c->pins.pinned ? "x = T_pind(x); " : "",
                      c->pins.pinned ? "r = T_pinf(r); " : "", c->pins.after,
                      c->r.ftz ? "T_ftz" : "");
    return true;
}

/* cvt.pack.sat.u16.s32 d, a, b and .u8.s32.b32 d, a, b, c */
static bool find_pack(struct sc_alu_find *find)
{
    const struct sc_inst *inst = find->inst;
    uint32_t bits = sc_alu_bits(inst->types[0]);
    bool minus = is_signed(inst->types[0]), three = bits == 8;
    if (!sc_alu_take(find, SC_MOD_sat) || inst->types[1] != SC_T_s32 ||
        inst->type_count != (three ? 3 : 2) || (bits != 8 && bits != 16) ||
        !sc_alu_args(find, SC_T_b32, three ? 3 : 2))
        return false;
    unsigned top = (unsigned)most(bits, minus), mask = (1u << bits) - 1;
    char least[16];
    snprintf(least, sizeof least, minus ? "~%#xu" : "0", top);
    sc_alu_result(find, SC_T_b32, sc_alu_operand(find, 0),
                  "T_32 h = T_clamp(a, T_bc32(%s), T_bc32(%#x)) & %#xu, l = "
                  "T_clamp(b, T_bc32(%s), T_bc32(%#x)) & %#xu; return %sh << "
                  "%u | l;",
                  least, top, mask, least, top, mask, three ? "c << 16 | " : "",
                  bits);
    return true;
}

static bool is_half(enum sc_type type)
{
    return type == SC_T_f16 || type == SC_T_bf16;
}

static bool is_real(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_FLOAT;
}

/* Whether the processor itself must round that way: what goes to f16 and bf16
 * is rounded by hand, but for integers a double cannot hold. */
static bool needs_mode(const struct convert *c)
{
    if (!c->to_real || c->integral)
        return false;
    if (c->from_real)
        return !is_half(c->to);
    return c->from_bits == 64 || c->to == SC_T_f32;
}

static bool dispatch(struct sc_alu_find *find, struct convert *c)
{
    if (c->to == SC_T_tf32) {
        sc_alu_arg(find, SC_T_f32, sc_alu_operand(find, 1));
        find->call->form = SC_ALU_LANES;
        sc_alu_result(find, SC_T_b32, sc_alu_operand(find, 0),
                      "return sc_tf32(a, %u);", c->r.flags);
        return c->from == SC_T_f32;
    }
    sc_alu_arg(find, c->from_real ? c->from : reg_type(c->from_reg),
               sc_alu_operand(find, 1));
    find->call->args[0].type = c->from;
    if (is_half(c->to))
        return any_half(find, c);
    if (c->to_reg == 64 && find->call->form == SC_ALU_PLAIN)
        find->call->form = SC_ALU_HALVES;
    return c->to_real
               ? (c->from_real ? real_real(find, c) : integer_real(find, c))
               : (c->from_real ? real_integer(find, c)
                               : integer_integer(find, c));
}

bool sc_alu_find_convert(struct sc_alu_find *find)
{
    const struct sc_inst *inst = find->inst;
    struct convert c = {.pins = {.after = ""}};
    unsigned mode = SC_RN;
    if (inst->opcode != SC_OP_cvt || inst->type_count < 2)
        return false;
    if (sc_alu_take(find, SC_MOD_pack))
        return find_pack(find);
    if (inst->type_count != 2)
        return false;
    c.to = inst->types[0];
    c.from = inst->types[1];
    c.to_real = is_real(c.to);
    c.from_real = is_real(c.from);
    c.to_signed = is_signed(c.to);
    c.from_signed = is_signed(c.from);
    c.to_bits = sc_alu_bits(c.to);
    c.from_bits = sc_alu_bits(c.from);
    c.to_reg = reg_bits(find, sc_alu_operand(find, 0), c.to);
    c.from_reg = reg_bits(find, sc_alu_operand(find, 1), c.from);
    bool rounds = sc_alu_rounding(find, &c.r);
    c.integral = take_integral(find, &mode);
    if (c.integral) {
        c.r.mode = mode;
        c.r.flags = (c.r.flags & ~SC_FLAG_ROUND) | mode;
    }
    if (c.to == SC_T_f16x2 || c.to == SC_T_bf16x2)
        return find_packed(find, &c);
    if (needs_mode(&c)) {
        sc_alu_pins(&c.r, &c.pins);
        if (!rounds)
            return false;
    }
    if (inst->operand_count != 2 || sc_type_bytes(c.to) > 8)
        return false;
    if (c.to_reg != least_reg(c.to) || c.from_reg != least_reg(c.from))
        sc_alu_name(find, "_r%u_r%u", c.to_reg, c.from_reg);
    return dispatch(find, &c);
}

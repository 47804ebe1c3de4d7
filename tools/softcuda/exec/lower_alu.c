/*
 * Decodes arithmetic; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

#define NO_KIND SC_ALU_COUNT

enum sc_type sc_lower_type(struct sc_lower *lower)
{
    if (lower->inst->type_count != 1)
        sc_lower_invalid(lower, "needs exactly one type:");
    return lower->inst->types[0];
}

static bool is_single_or_double(enum sc_type type)
{
    return type == SC_T_f32 || type == SC_T_f64;
}

bool sc_lower_is_real(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_FLOAT ||
           (sc_type_class(type) == SC_CLASS_PACKED && type != SC_T_u16x2 &&
            type != SC_T_s16x2);
}

/* Rounding, .ftz, .sat and friends as flags; `named` says whether a rounding,
 * .approx or .full was given. */
unsigned sc_lower_float_flags(struct sc_lower *lower, bool *named)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_round round;
    } rounds[] = {{SC_MOD_rn, SC_RN},   {SC_MOD_rz, SC_RZ},
                  {SC_MOD_rm, SC_RM},   {SC_MOD_rp, SC_RP},
                  {SC_MOD_rna, SC_RNA}, {SC_MOD_approx, SC_RN},
                  {SC_MOD_full, SC_RN}};
    unsigned flags = SC_RN;
    *named = false;
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        if (!sc_lower_take(lower, rounds[i].mod))
            continue;
        if (*named)
            sc_lower_invalid(lower, "more than one rounding in");
        flags = rounds[i].round;
        *named = true;
    }
    if (sc_lower_take(lower, SC_MOD_ftz))
        flags |= SC_FLAG_FTZ;
    if (sc_lower_take(lower, SC_MOD_sat))
        flags |= SC_FLAG_SAT;
    if (sc_lower_take(lower, SC_MOD_relu))
        flags |= SC_FLAG_RELU;
    return flags;
}

/* d and n sources, all of the instruction's type */
static struct sc_op *emit_same(struct sc_lower *lower, enum sc_alu kind,
                               enum sc_type type, uint32_t n)
{
    uint32_t bytes = sc_type_bytes(type), s[3] = {0, 0, 0};
    sc_lower_count(lower, n + 1, n + 1);
    for (uint32_t i = 0; i < n; i++)
        s[i] =
            sc_lower_source(lower, sc_lower_operand(lower, i + 1), bytes, type);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    return sc_lower_alu(lower, kind, type, d, s[0], s[1], s[2]);
}

/* Floating point with a plain and a general form. Only add, sub and mul have a
 * rounding by default, and f64 keeps subnormals but in the approximations. */
static void emit_float(struct sc_lower *lower, enum sc_alu plain,
                       enum sc_alu general, uint32_t n)
{
    enum sc_type type = sc_lower_type(lower);
    bool named, by_default = plain == SC_ALU_add || plain == SC_ALU_sub ||
                             plain == SC_ALU_mul;
    bool approximate = plain == SC_ALU_rcp || plain == SC_ALU_rsqrt;
    unsigned flags = sc_lower_float_flags(lower, &named);
    if (!named && !by_default)
        sc_lower_invalid(lower, "rounding or .approx is missing in");
    if (type == SC_T_f64 &&
        (flags & SC_FLAG_SAT || (flags & SC_FLAG_FTZ && !approximate)))
        sc_lower_invalid(lower, ".ftz or .sat of .f64 in");
    bool use_general =
        flags != SC_RN && general != NO_KIND && is_single_or_double(type);
    struct sc_op *op = emit_same(lower, use_general ? general : plain, type, n);
    op->flags = (uint16_t)flags;
}

/* ---- add, sub, mul, mad, fma, with their carry forms ---- */

static void emit_carry(struct sc_lower *lower, enum sc_alu kind,
                       enum sc_type type, uint32_t n)
{
    if (sc_type_class(type) == SC_CLASS_BITS)
        sc_lower_invalid(lower, "a carry needs .u32, .s32, .u64 or .s64 in");
    if (lower->carry == SC_NO_SLOT)
        lower->carry = sc_lower_slot(lower, 4);
    emit_same(lower, kind, type, n)->e = lower->carry;
}

static void lower_add_sub(struct sc_lower *lower, bool is_add)
{
    enum sc_type type = sc_lower_type(lower);
    if (sc_lower_is_real(type)) {
        emit_float(lower, is_add ? SC_ALU_add : SC_ALU_sub,
                   is_add ? SC_ALU_add_x : SC_ALU_sub_x, 2);
    } else if (sc_lower_take(lower, SC_MOD_cc)) {
        emit_carry(lower, is_add ? SC_ALU_add_cc : SC_ALU_sub_cc, type, 2);
    } else if (sc_lower_take(lower, SC_MOD_sat)) {
        emit_same(lower, is_add ? SC_ALU_add_sat : SC_ALU_sub_sat, type, 2);
    } else {
        emit_same(lower, is_add ? SC_ALU_add : SC_ALU_sub, type, 2);
    }
}

static void lower_addc(struct sc_lower *lower, enum sc_alu with,
                       enum sc_alu without)
{
    enum sc_type type = sc_lower_type(lower);
    bool cc = sc_lower_take(lower, SC_MOD_cc);
    emit_carry(lower, cc ? with : without, type, 2);
}

enum part { LO, HI, WIDE };

static enum part take_part(struct sc_lower *lower)
{
    if (sc_lower_take(lower, SC_MOD_wide))
        return WIDE;
    if (sc_lower_take(lower, SC_MOD_hi))
        return HI;
    if (!sc_lower_take(lower, SC_MOD_lo))
        sc_lower_invalid(lower, ".lo, .hi or .wide is missing in");
    return LO;
}

static enum sc_type wider(struct sc_lower *lower, enum sc_type type)
{
    switch (type) {
    case SC_T_u16:
        return SC_T_u32;
    case SC_T_s16:
        return SC_T_s32;
    case SC_T_u32:
        return SC_T_u64;
    case SC_T_s32:
        return SC_T_s64;
    default:
        sc_lower_invalid(lower, ".wide of this type in");
    }
}

static void emit_wide(struct sc_lower *lower, enum sc_alu kind, uint32_t n)
{
    enum sc_type type = sc_lower_type(lower), wide = wider(lower, type);
    sc_lower_count(lower, n + 1, n + 1);
    uint32_t bytes = sc_type_bytes(type);
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 1), bytes, type);
    uint32_t b =
        sc_lower_source(lower, sc_lower_operand(lower, 2), bytes, type);
    uint32_t c = n == 3 ? sc_lower_source(lower, sc_lower_operand(lower, 3),
                                          sc_type_bytes(wide), wide)
                        : 0;
    uint32_t d =
        sc_lower_dest(lower, sc_lower_operand(lower, 0), sc_type_bytes(wide));
    sc_lower_alu(lower, kind, type, d, a, b, c);
}

static void lower_mul(struct sc_lower *lower)
{
    if (sc_lower_is_real(sc_lower_type(lower))) {
        emit_float(lower, SC_ALU_mul, SC_ALU_mul_x, 2);
        return;
    }
    enum part part = take_part(lower);
    if (part == WIDE)
        emit_wide(lower, SC_ALU_mul_wide, 2);
    else
        emit_same(lower, part == HI ? SC_ALU_mul_hi : SC_ALU_mul_lo,
                  sc_lower_type(lower), 2);
}

static void lower_mad(struct sc_lower *lower)
{
    enum sc_type type = sc_lower_type(lower);
    if (sc_lower_is_real(type)) {
        emit_float(lower, SC_ALU_fma, SC_ALU_fma_x, 3);
        return;
    }
    enum part part = take_part(lower);
    if (part == WIDE)
        emit_wide(lower, SC_ALU_mad_wide, 3);
    else if (sc_lower_take(lower, SC_MOD_cc))
        emit_carry(lower, part == HI ? SC_ALU_mad_hi_cc : SC_ALU_mad_lo_cc,
                   type, 3);
    else if (part == HI && sc_lower_take(lower, SC_MOD_sat))
        emit_same(lower, SC_ALU_mad_hi_sat, type, 3);
    else
        emit_same(lower, part == HI ? SC_ALU_mad_hi : SC_ALU_mad_lo, type, 3);
}

static void lower_madc(struct sc_lower *lower)
{
    enum part part = take_part(lower);
    bool cc = sc_lower_take(lower, SC_MOD_cc);
    if (part == WIDE)
        sc_lower_invalid(lower, ".wide of");
    emit_carry(lower,
               part == HI ? (cc ? SC_ALU_madc_hi_cc : SC_ALU_madc_hi)
                          : (cc ? SC_ALU_madc_lo_cc : SC_ALU_madc_lo),
               sc_lower_type(lower), 3);
}

/* mad24.hi.sat.s32 */
static void emit_sat24(struct sc_lower *lower)
{
    uint32_t s[3], product = sc_lower_temp(lower, 4);
    sc_lower_count(lower, 4, 4);
    for (uint32_t i = 0; i < 3; i++)
        s[i] =
            sc_lower_source(lower, sc_lower_operand(lower, i + 1), 4, SC_T_s32);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_alu(lower, SC_ALU_mul24_hi, SC_T_s32, product, s[0], s[1], 0);
    sc_lower_alu(lower, SC_ALU_add_sat, SC_T_s32, d, product, s[2], 0);
}

static void lower_24(struct sc_lower *lower, enum sc_alu low, enum sc_alu high,
                     uint32_t n)
{
    enum part part = take_part(lower);
    if (part == WIDE)
        sc_lower_invalid(lower, ".wide of");
    enum sc_type type = sc_lower_type(lower);
    if (n == 3 && part == HI && type == SC_T_s32 &&
        sc_lower_take(lower, SC_MOD_sat))
        emit_sat24(lower);
    else
        emit_same(lower, part == HI ? high : low, type, n);
}

static void lower_minmax(struct sc_lower *lower, bool is_min)
{
    enum sc_type type = sc_lower_type(lower);
    if (!sc_lower_is_real(type)) {
        bool relu = (type == SC_T_s16x2 || type == SC_T_s32) &&
                    sc_lower_take(lower, SC_MOD_relu);
        struct sc_op *op =
            emit_same(lower, is_min ? SC_ALU_min : SC_ALU_max, type, 2);
        uint32_t d = op->d;
        op->flags = relu ? SC_FLAG_RELU : 0;
        if (relu && type == SC_T_s32)
            sc_lower_alu(lower, SC_ALU_max, type, d, d,
                         sc_lower_constant(lower, 4, 0), 0);
        return;
    }
    bool named;
    unsigned flags = sc_lower_float_flags(lower, &named);
    if (sc_lower_take(lower, SC_MOD_NaN))
        flags |= SC_FLAG_NAN;
    if (sc_lower_take(lower, SC_MOD_xorsign)) {
        if (!sc_lower_take(lower, SC_MOD_abs) || type == SC_T_f64)
            sc_lower_invalid(lower,
                             ".xorsign is with .abs, and not of .f64, in");
        flags |= SC_FLAG_ABS;
    }
    bool general = flags && is_single_or_double(type);
    enum sc_alu kind = is_min ? (general ? SC_ALU_min_x : SC_ALU_min)
                              : (general ? SC_ALU_max_x : SC_ALU_max);
    emit_same(lower, kind, type, 2)->flags = (uint16_t)flags;
}

/* neg and abs: sign bits, behind a flush when .ftz is given */
static void lower_sign(struct sc_lower *lower, enum sc_alu kind)
{
    enum sc_type type = sc_lower_type(lower);
    bool ftz = sc_lower_take(lower, SC_MOD_ftz);
    struct sc_op *op = emit_same(lower, kind, type, 1);
    uint32_t d = op->d;
    if (ftz)
        sc_lower_alu(lower, SC_ALU_ftz, type, d, d, 0, 0);
}

/* ---- bits ---- */

static void lower_logic(struct sc_lower *lower, enum sc_alu kind, uint32_t n)
{
    enum sc_type type = sc_lower_type(lower);
    if (type != SC_T_pred) {
        emit_same(lower, kind, type, n);
        return;
    }
    sc_lower_count(lower, n + 1, n + 1);
    uint32_t a = sc_lower_predicate(lower, sc_lower_operand(lower, 1));
    uint32_t b =
        n > 1 ? sc_lower_predicate(lower, sc_lower_operand(lower, 2)) : 0;
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_alu(lower, kind, SC_T_pred, d, a, b, 0);
}

/* d and a of the type, later operands 32 bits wide */
static struct sc_op *emit_amount(struct sc_lower *lower, enum sc_alu kind,
                                 enum sc_type type, uint32_t n)
{
    uint32_t bytes = sc_type_bytes(type), s[4] = {0, 0, 0, 0};
    sc_lower_count(lower, n + 1, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        bool wide = i == 0 || (i == 1 && kind == SC_ALU_bfi);
        s[i] = sc_lower_source(lower, sc_lower_operand(lower, i + 1),
                               wide ? bytes : 4, wide ? type : SC_T_u32);
    }
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    struct sc_op *op = sc_lower_alu(lower, kind, type, d, s[0], s[1], s[2]);
    op->e = s[3];
    return op;
}

/* popc, clz, bfind: a 32-bit result */
static void emit_count(struct sc_lower *lower, enum sc_alu kind)
{
    enum sc_type type = sc_lower_type(lower);
    sc_lower_count(lower, 2, 2);
    uint32_t a = sc_lower_source(lower, sc_lower_operand(lower, 1),
                                 sc_type_bytes(type), type);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_alu(lower, kind, type, d, a, 0, 0);
}

static void lower_lop3(struct sc_lower *lower)
{
    bool any = sc_lower_take(lower, SC_MOD_or);
    bool tests = any || sc_lower_take(lower, SC_MOD_and);
    const struct sc_operand *to = sc_lower_operand(lower, 0);
    sc_lower_count(lower, tests ? 6 : 5, tests ? 6 : 5);
    if (tests != (to->kind == SC_OPERAND_PAIR))
        sc_lower_invalid(lower, "d|p goes with .or or .and in");
    const struct sc_operand *table = sc_lower_operand(lower, 4);
    if (table->kind != SC_OPERAND_INT || sc_lower_type(lower) != SC_T_b32)
        sc_lower_refuse(lower, "unsupported form");
    uint32_t s[3];
    for (uint32_t i = 0; i < 3; i++)
        s[i] =
            sc_lower_source(lower, sc_lower_operand(lower, i + 1), 4, SC_T_b32);
    uint32_t with =
        tests ? sc_lower_predicate(lower, sc_lower_operand(lower, 5)) : 0;
    uint32_t d = sc_lower_dest(lower, tests ? &to->sub[0] : to, 4);
    uint32_t r = tests ? sc_lower_temp(lower, 4) : d;
    sc_lower_alu(lower, SC_ALU_lop3, SC_T_b32, r, s[0], s[1], s[2])->imm =
        (int64_t)(table->bits & 0xff);
    if (!tests)
        return;
    uint32_t yes = sc_lower_temp(lower, 4);
    uint32_t p = sc_lower_predicate_dest(lower, &to->sub[1]);
    sc_lower_alu(lower, SC_ALU_cmp_ne, SC_T_u32, yes, r,
                 sc_lower_constant(lower, 4, 0), 0);
    sc_lower_alu(lower, SC_ALU_mov, SC_T_b32, d, r, 0, 0);
    sc_lower_alu(lower, any ? SC_ALU_or : SC_ALU_and, SC_T_pred, p, yes, with,
                 0);
}

/* bmsk, szext: the amounts clamp or wrap */
static void lower_clamped(struct sc_lower *lower, enum sc_alu clamp,
                          enum sc_alu wrap)
{
    bool clamps = sc_lower_take(lower, SC_MOD_clamp);
    if (!clamps && !sc_lower_take(lower, SC_MOD_wrap))
        sc_lower_invalid(lower, ".clamp or .wrap is missing in");
    emit_same(lower, clamps ? clamp : wrap, sc_lower_type(lower), 2);
}

static void lower_shf(struct sc_lower *lower)
{
    bool left = sc_lower_take(lower, SC_MOD_l);
    bool clamp = sc_lower_take(lower, SC_MOD_clamp);
    if (!left && !sc_lower_take(lower, SC_MOD_r))
        sc_lower_invalid(lower, ".l or .r is missing in");
    if (!clamp && !sc_lower_take(lower, SC_MOD_wrap))
        sc_lower_invalid(lower, ".clamp or .wrap is missing in");
    emit_same(lower,
              left ? (clamp ? SC_ALU_shf_l_clamp : SC_ALU_shf_l_wrap)
                   : (clamp ? SC_ALU_shf_r_clamp : SC_ALU_shf_r_wrap),
              sc_lower_type(lower), 3);
}

static void lower_prmt(struct sc_lower *lower)
{
    enum sc_alu kind = SC_ALU_prmt;
    if (sc_lower_take(lower, SC_MOD_f4e))
        kind = SC_ALU_prmt_f4e;
    else if (sc_lower_take(lower, SC_MOD_b4e))
        kind = SC_ALU_prmt_b4e;
    else if (sc_lower_take(lower, SC_MOD_rc8))
        kind = SC_ALU_prmt_rc8;
    else if (sc_lower_take(lower, SC_MOD_ecl))
        kind = SC_ALU_prmt_ecl;
    else if (sc_lower_take(lower, SC_MOD_ecr))
        kind = SC_ALU_prmt_ecr;
    else if (sc_lower_take(lower, SC_MOD_rc16))
        kind = SC_ALU_prmt_rc16;
    emit_same(lower, kind, sc_lower_type(lower), 3);
}

static void lower_dot(struct sc_lower *lower, bool four)
{
    const struct sc_inst *inst = lower->inst;
    if (inst->type_count != 2)
        sc_lower_invalid(lower, "needs two types:");
    bool high = !four && sc_lower_take(lower, SC_MOD_hi);
    if (!four && !high && !sc_lower_take(lower, SC_MOD_lo))
        sc_lower_invalid(lower, ".lo or .hi is missing in");
    unsigned flags = 0;
    for (int i = 0; i < 2; i++) {
        if (inst->types[i] != SC_T_s32 && inst->types[i] != SC_T_u32)
            sc_lower_refuse(lower, "unsupported form");
        flags |= inst->types[i] == SC_T_s32 ? 1u << i : 0;
    }
    emit_same(lower,
              four ? SC_ALU_dp4a : (high ? SC_ALU_dp2a_hi : SC_ALU_dp2a_lo),
              SC_T_b32, 3)
        ->flags = (uint16_t)flags;
}

/* ---- which opcode is what ---- */

static bool lower_simple(struct sc_lower *lower)
{
    enum sc_type type =
        lower->inst->type_count ? lower->inst->types[0] : SC_T_pred;
    switch (lower->inst->opcode) {
    case SC_OP_and:
        return lower_logic(lower, SC_ALU_and, 2), true;
    case SC_OP_or:
        return lower_logic(lower, SC_ALU_or, 2), true;
    case SC_OP_xor:
        return lower_logic(lower, SC_ALU_xor, 2), true;
    case SC_OP_not:
        return lower_logic(lower, SC_ALU_not, 1), true;
    case SC_OP_cnot:
        return emit_same(lower, SC_ALU_cnot, sc_lower_type(lower), 1), true;
    case SC_OP_shl:
        return emit_amount(lower, SC_ALU_shl, sc_lower_type(lower), 2), true;
    case SC_OP_shr:
        return emit_amount(lower, SC_ALU_shr, sc_lower_type(lower), 2), true;
    case SC_OP_bfe:
        return emit_amount(lower, SC_ALU_bfe, sc_lower_type(lower), 3), true;
    case SC_OP_bfi:
        return emit_amount(lower, SC_ALU_bfi, sc_lower_type(lower), 4), true;
    case SC_OP_brev:
        return emit_same(lower, SC_ALU_brev, sc_lower_type(lower), 1), true;
    case SC_OP_popc:
        return emit_count(lower, SC_ALU_popc), true;
    case SC_OP_clz:
        return emit_count(lower, SC_ALU_clz), true;
    case SC_OP_bfind:
        return emit_count(lower, sc_lower_take(lower, SC_MOD_shiftamt)
                                     ? SC_ALU_bfind_shiftamt
                                     : SC_ALU_bfind),
               true;
    case SC_OP_bmsk:
        return lower_clamped(lower, SC_ALU_bmsk_clamp, SC_ALU_bmsk_wrap), true;
    case SC_OP_szext:
        return lower_clamped(lower, SC_ALU_szext_clamp, SC_ALU_szext_wrap),
               true;
    case SC_OP_fns:
        return emit_same(lower, SC_ALU_fns, sc_lower_type(lower), 3), true;
    case SC_OP_sad:
        return emit_same(lower, SC_ALU_sad, sc_lower_type(lower), 3), true;
    case SC_OP_rem:
        return emit_same(lower, SC_ALU_rem, sc_lower_type(lower), 2), true;
    case SC_OP_neg:
        return lower_sign(lower, SC_ALU_neg), true;
    case SC_OP_abs:
        return lower_sign(lower, SC_ALU_abs), true;
    case SC_OP_copysign:
        return emit_same(lower, SC_ALU_copysign, type, 2), true;
    case SC_OP_mul24:
        return lower_24(lower, SC_ALU_mul24_lo, SC_ALU_mul24_hi, 2), true;
    case SC_OP_mad24:
        return lower_24(lower, SC_ALU_mad24_lo, SC_ALU_mad24_hi, 3), true;
    case SC_OP_addc:
        return lower_addc(lower, SC_ALU_addc_cc, SC_ALU_addc), true;
    case SC_OP_subc:
        return lower_addc(lower, SC_ALU_subc_cc, SC_ALU_subc), true;
    default:
        return false;
    }
}

static bool lower_real(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_div:
        if (sc_lower_is_real(sc_lower_type(lower)))
            return emit_float(lower, SC_ALU_div, SC_ALU_div_x, 2), true;
        return emit_same(lower, SC_ALU_div, sc_lower_type(lower), 2), true;
    case SC_OP_fma:
        return emit_float(lower, SC_ALU_fma, SC_ALU_fma_x, 3), true;
    case SC_OP_rcp:
        return emit_float(lower, SC_ALU_rcp, SC_ALU_rcp_x, 1), true;
    case SC_OP_sqrt:
        return emit_float(lower, SC_ALU_sqrt, SC_ALU_sqrt_x, 1), true;
    case SC_OP_rsqrt:
        return emit_float(lower, SC_ALU_rsqrt, SC_ALU_rsqrt_x, 1), true;
    case SC_OP_sin:
        return emit_float(lower, SC_ALU_sin, NO_KIND, 1), true;
    case SC_OP_cos:
        return emit_float(lower, SC_ALU_cos, NO_KIND, 1), true;
    case SC_OP_ex2:
        return emit_float(lower, SC_ALU_ex2, SC_ALU_ex2_x, 1), true;
    case SC_OP_lg2:
        return emit_float(lower, SC_ALU_lg2, SC_ALU_lg2_x, 1), true;
    case SC_OP_tanh:
        return emit_float(lower, SC_ALU_tanh, NO_KIND, 1), true;
    default:
        return false;
    }
}

bool sc_lower_arithmetic(struct sc_lower *lower)
{
    sc_lower_check_real(lower);
    switch (lower->inst->opcode) {
    case SC_OP_add:
        return lower_add_sub(lower, true), true;
    case SC_OP_sub:
        return lower_add_sub(lower, false), true;
    case SC_OP_mul:
        return lower_mul(lower), true;
    case SC_OP_mad:
        return lower_mad(lower), true;
    case SC_OP_madc:
        return lower_madc(lower), true;
    case SC_OP_min:
        return lower_minmax(lower, true), true;
    case SC_OP_max:
        return lower_minmax(lower, false), true;
    case SC_OP_lop3:
        return lower_lop3(lower), true;
    case SC_OP_shf:
        return lower_shf(lower), true;
    case SC_OP_prmt:
        return lower_prmt(lower), true;
    case SC_OP_dp4a:
        return lower_dot(lower, true), true;
    case SC_OP_dp2a:
        return lower_dot(lower, false), true;
    default:
        return lower_simple(lower) || lower_real(lower);
    }
}

/*
 * Decodes mov and cvt; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

void sc_lower_check_moved(struct sc_lower *lower, enum sc_type type)
{
    bool half = sc_type_class(type) == SC_CLASS_FLOAT && type != SC_T_f32 &&
                type != SC_T_f64;
    if (half || sc_type_class(type) == SC_CLASS_PACKED)
        sc_lower_invalid(lower, "such values are .b16 or .b32 in");
}

static void move(struct sc_lower *lower, uint32_t bytes, uint32_t d, uint32_t a)
{
    sc_lower_alu(lower, SC_ALU_mov, sc_lower_bits(bytes), d, a, 0, 0);
}

/* {a, b} or {a, b, c, d} into one register */
static void lower_pack(struct sc_lower *lower, const struct sc_operand *from,
                       uint32_t bytes)
{
    uint32_t n = from->reg, part = n ? bytes / n : 0, s[4];
    if ((n != 2 && n != 4) || part < 2)
        sc_lower_refuse(lower, "unsupported form");
    for (uint32_t i = 0; i < n; i++)
        s[i] = sc_lower_source(lower, &from->sub[i], part, sc_lower_bits(part));
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    if (n == 4) {
        uint32_t low = sc_lower_temp(lower, 4), high = sc_lower_temp(lower, 4);
        sc_lower_alu(lower, SC_ALU_pack, SC_T_b32, low, s[0], s[1], 0);
        sc_lower_alu(lower, SC_ALU_pack, SC_T_b32, high, s[2], s[3], 0);
        s[0] = low;
        s[1] = high;
    }
    sc_lower_alu(lower, SC_ALU_pack, sc_lower_bits(bytes), d, s[0], s[1], 0);
}

static void lower_unpack(struct sc_lower *lower, const struct sc_operand *to,
                         uint32_t bytes)
{
    uint32_t n = to->reg, part = n ? bytes / n : 0, d[4];
    if ((n != 2 && n != 4) || part < 2)
        sc_lower_refuse(lower, "unsupported form");
    uint32_t a = sc_lower_source(lower, sc_lower_operand(lower, 1), bytes,
                                 sc_lower_bits(bytes));
    for (uint32_t i = 0; i < n; i++)
        d[i] = sc_lower_dest(lower, &to->sub[i], part);
    if (n == 2) {
        sc_lower_alu(lower, SC_ALU_lo, sc_lower_bits(bytes), d[0], a, 0, 0);
        sc_lower_alu(lower, SC_ALU_hi, sc_lower_bits(bytes), d[1], a, 0, 0);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t half = sc_lower_temp(lower, 4);
        sc_lower_alu(lower, i ? SC_ALU_hi : SC_ALU_lo, SC_T_b64, half, a, 0, 0);
        sc_lower_alu(lower, SC_ALU_lo, SC_T_b32, d[2 * i], half, 0, 0);
        sc_lower_alu(lower, SC_ALU_hi, SC_T_b32, d[2 * i + 1], half, 0, 0);
    }
}

static void lower_mov(struct sc_lower *lower)
{
    enum sc_type type = sc_lower_type(lower);
    uint32_t bytes = sc_type_bytes(type);
    sc_lower_count(lower, 2, 2);
    if (bytes > 8 || bytes < 2)
        sc_lower_refuse(lower, "unsupported form");
    sc_lower_check_moved(lower, type);
    const struct sc_operand *to = sc_lower_operand(lower, 0);
    const struct sc_operand *from = sc_lower_operand(lower, 1);
    if (from->kind == SC_OPERAND_VECTOR && to->kind != SC_OPERAND_VECTOR) {
        lower_pack(lower, from, bytes);
    } else if (to->kind == SC_OPERAND_VECTOR) {
        lower_unpack(lower, to, bytes);
    } else {
        uint32_t a = type == SC_T_pred ? sc_lower_predicate(lower, from)
                                       : sc_lower_source(lower, from, bytes,
                                                         sc_lower_bits(bytes));
        move(lower, bytes, sc_lower_dest(lower, to, bytes), a);
    }
}

static void emit_convert(struct sc_lower *lower, enum sc_type to,
                         enum sc_type from, unsigned flags, uint32_t d,
                         uint32_t a)
{
    struct sc_op *op =
        sc_lower_emit(lower, lower->isa->convert(to, from, flags));
    op->d = d;
    op->a = op->b = op->c = a;
    op->flags = (uint16_t)flags;
}

/* Registers hold 8-bit values extended to 16 bits. */
static uint32_t natural_bytes(enum sc_type type)
{
    return sc_type_bytes(type) == 1 ? 2 : sc_type_bytes(type);
}

static enum sc_type unsigned_of(uint32_t bytes)
{
    return bytes == 8 ? SC_T_u64 : bytes == 4 ? SC_T_u32 : SC_T_u16;
}

static enum sc_type extended_of(enum sc_type type, uint32_t bytes)
{
    if (sc_type_class(type) != SC_CLASS_SIGNED)
        return unsigned_of(bytes);
    return bytes == 8 ? SC_T_s64 : bytes == 4 ? SC_T_s32 : SC_T_s16;
}

/* The source of cvt, brought down to the natural size of its type. */
static uint32_t convert_source(struct sc_lower *lower, enum sc_type from)
{
    const struct sc_operand *operand = sc_lower_operand(lower, 1);
    uint32_t natural = natural_bytes(from);
    uint32_t have = sc_lower_reg_bytes(lower, operand);
    if (have <= natural || sc_type_class(from) == SC_CLASS_FLOAT)
        return sc_lower_source(lower, operand, natural, from);
    uint32_t a = sc_lower_source(lower, operand, have, unsigned_of(have));
    uint32_t narrow = sc_lower_temp(lower, natural);
    emit_convert(lower, unsigned_of(natural), unsigned_of(have), SC_RN, narrow,
                 a);
    return narrow;
}

static void emit_packed(struct sc_lower *lower, enum sc_type half,
                        enum sc_type from, unsigned flags)
{
    sc_lower_count(lower, 3, 3);
    uint32_t part[2];
    for (uint32_t i = 0; i < 2; i++) {
        /* the first operand goes to the upper half */
        uint32_t a =
            sc_lower_source(lower, sc_lower_operand(lower, 2 - i), 4, from);
        part[i] = sc_lower_temp(lower, 2);
        emit_convert(lower, half, from, flags, part[i], a);
    }
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_alu(lower, SC_ALU_pack, SC_T_b32, d, part[0], part[1], 0);
}

/* Where the ISA wants a rounding, where an integral one, and where none. */
static void check_rounding(struct sc_lower *lower, enum sc_type to,
                           enum sc_type from, bool named, bool integral)
{
    bool to_real = sc_lower_is_real(to), from_real = sc_lower_is_real(from);
    bool wants_whole = from_real && !to_real;
    bool wants_any =
        to_real && to != from &&
        (!from_real || to == SC_T_f16x2 || to == SC_T_bf16x2 ||
         to == SC_T_tf32 || sc_type_bytes(to) <= sc_type_bytes(from));
    bool tf32 = to == SC_T_tf32, away = sc_inst_has(lower->inst, SC_MOD_rna);
    if (wants_whole && !integral)
        sc_lower_invalid(lower, "rounding such as .rzi is missing in");
    if (wants_any && !named)
        sc_lower_invalid(lower, "rounding such as .rn is missing in");
    if ((named && !wants_any) || (integral && !wants_whole && to != from) ||
        (integral && !from_real) || (away && !tf32) ||
        sc_inst_has(lower->inst, SC_MOD_approx) ||
        sc_inst_has(lower->inst, SC_MOD_full))
        sc_lower_invalid(lower, "no such rounding in");
}

static bool is_byte_or_pair(enum sc_type type)
{
    return sc_type_bytes(type) == 1 || sc_type_class(type) == SC_CLASS_PACKED;
}

/* .ftz is for f32, .sat for what is neither bf16 nor packed, .relu for halves
 * and tf32 of f32. */
static void check_form(struct sc_lower *lower, enum sc_type to,
                       enum sc_type from, unsigned flags)
{
    unsigned mode = flags & SC_FLAG_ROUND;
    bool single = from == SC_T_f32;
    bool pair = to == SC_T_f16x2 || to == SC_T_bf16x2 || to == SC_T_tf32;
    bool brain = to == SC_T_bf16 || from == SC_T_bf16;
    bool real = sc_lower_is_real(to) || sc_lower_is_real(from);
    bool ftz = real && (to == SC_T_f32 || (single && !pair && !brain));
    bool relu = single && (mode == SC_RN || mode == SC_RZ) &&
                (pair || to == SC_T_f16 || to == SC_T_bf16);
    if ((flags & SC_FLAG_FTZ && !ftz) || (flags & SC_FLAG_RELU && !relu) ||
        (flags & SC_FLAG_SAT && (pair || brain)) ||
        (flags & SC_FLAG_RELU && flags & (SC_FLAG_SAT | SC_FLAG_FTZ)) ||
        (pair && (!single || mode == SC_RM || mode == SC_RP)) ||
        (to == SC_T_bf16 && is_byte_or_pair(from)) ||
        (from == SC_T_bf16 && is_byte_or_pair(to)))
        sc_lower_refuse(lower, "no such form");
}

/* Whether every integer of one type is one of the other. */
static bool holds(enum sc_type to, enum sc_type from)
{
    bool to_signed = sc_type_class(to) == SC_CLASS_SIGNED;
    bool from_signed = sc_type_class(from) == SC_CLASS_SIGNED;
    uint32_t to_bytes = sc_type_bytes(to), from_bytes = sc_type_bytes(from);
    if (to_signed == from_signed)
        return to_bytes >= from_bytes;
    return to_signed && to_bytes > from_bytes;
}

static unsigned take_convert_flags(struct sc_lower *lower, enum sc_type to,
                                   enum sc_type from)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_round round;
    } whole[] = {{SC_MOD_rni, SC_RN},
                 {SC_MOD_rzi, SC_RZ},
                 {SC_MOD_rmi, SC_RM},
                 {SC_MOD_rpi, SC_RP}};
    bool named, integral = false;
    unsigned flags = sc_lower_float_flags(lower, &named);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (!sc_lower_take(lower, whole[i].mod))
            continue;
        if (named || integral)
            sc_lower_invalid(lower, "more than one rounding in");
        flags = (flags & ~SC_FLAG_ROUND) | whole[i].round;
        integral = true;
    }
    if (integral && sc_lower_is_real(to))
        flags |= SC_FLAG_INT;
    check_rounding(lower, to, from, named, integral);
    check_form(lower, to, from, flags);
    if (flags & SC_FLAG_SAT && !sc_lower_is_real(to) &&
        !sc_lower_is_real(from) && holds(to, from))
        sc_lower_invalid(lower, ".sat has nothing to limit in");
    /* hardware keeps subnormal sources of f16, which show when rounded up */
    return to == SC_T_f16 ? flags & ~SC_FLAG_FTZ : flags;
}

/* cvt.pack.sat.u16.s32 d, a, b and .u8.s32.b32 d, a, b, c */
static void lower_cvt_pack(struct sc_lower *lower)
{
    const struct sc_inst *inst = lower->inst;
    bool three = inst->type_count == 3;
    bool is_byte = inst->type_count && sc_type_bytes(inst->types[0]) == 1;
    if (!sc_lower_take(lower, SC_MOD_sat) || inst->type_count < 2 ||
        inst->types[1] != SC_T_s32 || is_byte != three ||
        (three && inst->types[2] != SC_T_b32))
        sc_lower_refuse(lower, "unsupported form");
    sc_lower_count(lower, three ? 4 : 3, three ? 4 : 3);
    uint32_t s[3] = {0, 0, 0};
    for (uint32_t i = 0; i < (three ? 3u : 2u); i++)
        s[i] =
            sc_lower_source(lower, sc_lower_operand(lower, i + 1), 4, SC_T_b32);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_alu(lower, SC_ALU_pack_sat, inst->types[0], d, s[0], s[1], s[2]);
}

static void lower_cvt(struct sc_lower *lower)
{
    const struct sc_inst *inst = lower->inst;
    if (sc_lower_take(lower, SC_MOD_pack)) {
        lower_cvt_pack(lower);
        return;
    }
    if (inst->type_count != 2)
        sc_lower_invalid(lower, "needs two types:");
    enum sc_type to = inst->types[0], from = inst->types[1];
    bool to_real = sc_lower_is_real(to);
    unsigned flags = take_convert_flags(lower, to, from);
    if (to == SC_T_f16x2 || to == SC_T_bf16x2) {
        emit_packed(lower, to == SC_T_f16x2 ? SC_T_f16 : SC_T_bf16, from,
                    flags);
        return;
    }
    sc_lower_count(lower, 2, 2);
    const struct sc_operand *dest = sc_lower_operand(lower, 0);
    uint32_t a = convert_source(lower, from);
    uint32_t natural = natural_bytes(to);
    uint32_t have = sc_lower_reg_bytes(lower, dest);
    if (have <= natural || to_real) {
        emit_convert(lower, to, from, flags,
                     sc_lower_dest(lower, dest, natural), a);
        return;
    }
    uint32_t narrow = sc_lower_temp(lower, natural);
    emit_convert(lower, to, from, flags, narrow, a);
    emit_convert(lower, extended_of(to, have), extended_of(to, natural), SC_RN,
                 sc_lower_dest(lower, dest, have), narrow);
}

bool sc_lower_convert(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_mov:
        return lower_mov(lower), true;
    case SC_OP_cvt:
        return lower_cvt(lower), true;
    default:
        return false;
    }
}

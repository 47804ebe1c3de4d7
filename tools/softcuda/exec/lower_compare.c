/*
 * Decodes comparisons and selections; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

uint32_t sc_lower_predicate_dest(struct sc_lower *lower,
                                 const struct sc_operand *operand)
{
    if (operand->kind == SC_OPERAND_REG &&
        lower->func->regs[operand->reg].type != SC_T_pred)
        sc_lower_invalid(lower, "destination is no predicate in");
    return sc_lower_dest(lower, operand, 4);
}

static enum sc_alu take_compare(struct sc_lower *lower, enum sc_type *type)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_alu kind;
    } compares[] = {{SC_MOD_eq, SC_ALU_cmp_eq},   {SC_MOD_ne, SC_ALU_cmp_ne},
                    {SC_MOD_lt, SC_ALU_cmp_lt},   {SC_MOD_le, SC_ALU_cmp_le},
                    {SC_MOD_gt, SC_ALU_cmp_gt},   {SC_MOD_ge, SC_ALU_cmp_ge},
                    {SC_MOD_lo, SC_ALU_cmp_lt},   {SC_MOD_ls, SC_ALU_cmp_le},
                    {SC_MOD_hi, SC_ALU_cmp_gt},   {SC_MOD_hs, SC_ALU_cmp_ge},
                    {SC_MOD_equ, SC_ALU_cmp_equ}, {SC_MOD_neu, SC_ALU_cmp_neu},
                    {SC_MOD_ltu, SC_ALU_cmp_ltu}, {SC_MOD_leu, SC_ALU_cmp_leu},
                    {SC_MOD_gtu, SC_ALU_cmp_gtu}, {SC_MOD_geu, SC_ALU_cmp_geu},
                    {SC_MOD_num, SC_ALU_cmp_num}, {SC_MOD_nan, SC_ALU_cmp_nan}};
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
        if (!sc_lower_take(lower, compares[i].mod))
            continue;
        bool unsigned_only =
            compares[i].mod == SC_MOD_lo || compares[i].mod == SC_MOD_ls ||
            compares[i].mod == SC_MOD_hi || compares[i].mod == SC_MOD_hs;
        if (unsigned_only && sc_type_class(*type) != SC_CLASS_UNSIGNED)
            sc_lower_invalid(lower, "comparison of unsigned values in");
        return compares[i].kind;
    }
    sc_lower_invalid(lower, "comparison is missing in");
}

/* A comparison of operands first and first+1 into slot d. */
static void emit_compare(struct sc_lower *lower, enum sc_type type,
                         uint32_t first, uint32_t d)
{
    bool ftz = sc_lower_take(lower, SC_MOD_ftz);
    enum sc_alu kind = take_compare(lower, &type);
    uint32_t bytes = sc_type_bytes(type), s[2];
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = sc_lower_source(lower, sc_lower_operand(lower, first + i), bytes,
                               type);
        if (ftz) {
            uint32_t flushed = sc_lower_temp(lower, bytes);
            sc_lower_alu(lower, SC_ALU_ftz, type, flushed, s[i], 0, 0);
            s[i] = flushed;
        }
    }
    sc_lower_alu(lower, kind, type, d, s[0], s[1], 0);
}

/* Comparisons of the lower and of the upper halves into two slots. */
static void emit_pair_compare(struct sc_lower *lower, enum sc_type type,
                              const uint32_t d[2])
{
    enum sc_type half = type == SC_T_f16x2 ? SC_T_f16 : SC_T_bf16;
    bool ftz = sc_lower_take(lower, SC_MOD_ftz);
    enum sc_alu kind = take_compare(lower, &type);
    uint32_t s[2], part[2];
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = sc_lower_source(lower, sc_lower_operand(lower, i + 1), 4, type);
        part[i] = sc_lower_temp(lower, 2);
    }
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < 2; i++) {
            sc_lower_alu(lower, k ? SC_ALU_hi : SC_ALU_lo, SC_T_b32, part[i],
                         s[i], 0, 0);
            if (ftz)
                sc_lower_alu(lower, SC_ALU_ftz, half, part[i], part[i], 0, 0);
        }
        sc_lower_alu(lower, kind, half, d[k], part[0], part[1], 0);
    }
}

static bool is_float_pair(enum sc_type type)
{
    return type == SC_T_f16x2 || type == SC_T_bf16x2;
}

static bool take_combination(struct sc_lower *lower, enum sc_alu *kind)
{
    if (sc_lower_take(lower, SC_MOD_and))
        *kind = SC_ALU_and;
    else if (sc_lower_take(lower, SC_MOD_or))
        *kind = SC_ALU_or;
    else if (sc_lower_take(lower, SC_MOD_xor))
        *kind = SC_ALU_xor;
    else
        return false;
    return true;
}

static void lower_setp(struct sc_lower *lower)
{
    enum sc_type type = sc_lower_type(lower);
    enum sc_alu combine = SC_ALU_and;
    bool combined = take_combination(lower, &combine);
    sc_lower_count(lower, combined ? 4 : 3, combined ? 4 : 3);
    const struct sc_operand *d = sc_lower_operand(lower, 0);
    bool pair = d->kind == SC_OPERAND_PAIR;
    if (is_float_pair(type) && !pair)
        sc_lower_invalid(lower, "needs p|q for the two halves:");
    if (pair && (type == SC_T_f16 || type == SC_T_bf16))
        sc_lower_invalid(lower, ".f16 and .bf16 have one predicate, no p|q in");
    uint32_t p = sc_lower_predicate_dest(lower, pair ? &d->sub[0] : d);
    if (!pair && !combined) {
        emit_compare(lower, type, 1, p);
        return;
    }
    uint32_t yes = sc_lower_temp(lower, 4), no = sc_lower_temp(lower, 4);
    if (is_float_pair(type)) {
        emit_pair_compare(lower, type, (uint32_t[]){yes, no});
    } else {
        emit_compare(lower, type, 1, yes);
        sc_lower_alu(lower, SC_ALU_not, SC_T_pred, no, yes, 0, 0);
    }
    uint32_t with =
        combined ? sc_lower_predicate(lower, sc_lower_operand(lower, 3)) : 0;
    uint32_t q = pair ? sc_lower_predicate_dest(lower, &d->sub[1]) : 0;
    if (!combined) {
        sc_lower_alu(lower, SC_ALU_mov, SC_T_pred, p, yes, 0, 0);
        sc_lower_alu(lower, SC_ALU_mov, SC_T_pred, q, no, 0, 0);
        return;
    }
    /* p may be the predicate combined with, so q comes first into a copy */
    if (pair)
        sc_lower_alu(lower, combine, SC_T_pred, no, no, with, 0);
    sc_lower_alu(lower, combine, SC_T_pred, p, yes, with, 0);
    if (pair)
        sc_lower_alu(lower, SC_ALU_mov, SC_T_pred, q, no, 0, 0);
}

/* What set stores for "true". */
static uint64_t one_of(enum sc_type to)
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

/* One of two halves of a mask, down to 16 bits of "true". */
static uint32_t emit_half(struct sc_lower *lower, uint32_t yes, uint64_t one,
                          uint32_t d)
{
    sc_lower_alu(lower, SC_ALU_lo, SC_T_b32, d, yes, 0, 0);
    sc_lower_alu(lower, SC_ALU_and, SC_T_b16, d, d,
                 sc_lower_constant(lower, 2, one), 0);
    return d;
}

/* 32-bit results are for all but f32 of halves, other ones for these. */
static bool is_set_type(enum sc_type to, enum sc_type from)
{
    bool half = from == SC_T_f16 || from == SC_T_bf16;
    switch (to) {
    case SC_T_u32:
    case SC_T_s32:
        return true;
    case SC_T_f32:
        return !half && !is_float_pair(from);
    case SC_T_u16:
    case SC_T_s16:
        return half;
    case SC_T_f16:
        return !is_float_pair(from) && from != SC_T_bf16;
    case SC_T_bf16:
        return !is_float_pair(from);
    default:
        return is_float_pair(to) && to == from;
    }
}

static void lower_set(struct sc_lower *lower)
{
    const struct sc_inst *inst = lower->inst;
    enum sc_alu combine = SC_ALU_and;
    if (inst->type_count != 2)
        sc_lower_invalid(lower, "needs two types:");
    bool combined = take_combination(lower, &combine);
    sc_lower_count(lower, combined ? 4 : 3, combined ? 4 : 3);
    enum sc_type to = inst->types[0], from = inst->types[1];
    bool pair = is_float_pair(from);
    uint32_t bytes = sc_type_bytes(to);
    uint64_t one =
        pair ? (is_float_pair(to) ? one_of(to) : 0xffff) : one_of(to);
    if (!is_set_type(to, from))
        sc_lower_invalid(lower, "no such result of such sources in");
    if (to == SC_T_bf16 && sc_inst_has(inst, SC_MOD_ftz))
        sc_lower_invalid(lower, "no .ftz with results of .bf16 in");
    uint32_t yes[2] = {sc_lower_temp(lower, 4), sc_lower_temp(lower, 4)};
    if (pair)
        emit_pair_compare(lower, from, yes);
    else
        emit_compare(lower, from, 1, yes[0]);
    for (uint32_t i = 0; combined && i <= pair; i++)
        sc_lower_alu(lower, combine, SC_T_pred, yes[i], yes[i],
                     sc_lower_predicate(lower, sc_lower_operand(lower, 3)), 0);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    if (pair) {
        uint32_t low = emit_half(lower, yes[0], one, sc_lower_temp(lower, 2));
        uint32_t high = emit_half(lower, yes[1], one, sc_lower_temp(lower, 2));
        sc_lower_alu(lower, SC_ALU_pack, SC_T_b32, d, low, high, 0);
    } else if (bytes == 2) {
        emit_half(lower, yes[0], one, d);
    } else {
        sc_lower_alu(lower, SC_ALU_and, SC_T_b32, d, yes[0],
                     sc_lower_constant(lower, 4, one), 0);
    }
}

static void lower_selp(struct sc_lower *lower)
{
    enum sc_type type = sc_lower_type(lower);
    if (type == SC_T_pred)
        sc_lower_refuse(lower, "unsupported form");
    sc_lower_check_moved(lower, type);
    uint32_t bytes = sc_type_bytes(type);
    sc_lower_count(lower, 4, 4);
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 1), bytes, type);
    uint32_t b =
        sc_lower_source(lower, sc_lower_operand(lower, 2), bytes, type);
    uint32_t c = sc_lower_predicate(lower, sc_lower_operand(lower, 3));
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    sc_lower_alu(lower, SC_ALU_selp, sc_lower_bits(bytes), d, a, b, c);
}

/* slct.type.s32 is filed under s, slct.type.f32 under b */
static void lower_slct(struct sc_lower *lower)
{
    const struct sc_inst *inst = lower->inst;
    if (inst->type_count != 2 ||
        (inst->types[1] != SC_T_s32 && inst->types[1] != SC_T_f32))
        sc_lower_invalid(lower, "needs a type and .s32 or .f32:");
    sc_lower_check_moved(lower, inst->types[0]);
    bool by_float = inst->types[1] == SC_T_f32;
    bool ftz = by_float && sc_lower_take(lower, SC_MOD_ftz);
    uint32_t bytes = sc_type_bytes(inst->types[0]);
    sc_lower_count(lower, 4, 4);
    uint32_t a = sc_lower_source(lower, sc_lower_operand(lower, 1), bytes,
                                 inst->types[0]);
    uint32_t b = sc_lower_source(lower, sc_lower_operand(lower, 2), bytes,
                                 inst->types[0]);
    uint32_t c =
        sc_lower_source(lower, sc_lower_operand(lower, 3), 4, inst->types[1]);
    if (ftz) {
        uint32_t flushed = sc_lower_temp(lower, 4);
        sc_lower_alu(lower, SC_ALU_ftz, SC_T_f32, flushed, c, 0, 0);
        c = flushed;
    }
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    enum sc_type type = by_float     ? sc_lower_bits(bytes)
                        : bytes == 8 ? SC_T_s64
                        : bytes == 4 ? SC_T_s32
                                     : SC_T_s16;
    sc_lower_alu(lower, SC_ALU_slct, type, d, a, b, c);
}

static void lower_testp(struct sc_lower *lower)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_alu kind;
    } tests[] = {{SC_MOD_finite, SC_ALU_testp_finite},
                 {SC_MOD_infinite, SC_ALU_testp_infinite},
                 {SC_MOD_number, SC_ALU_testp_number},
                 {SC_MOD_notanumber, SC_ALU_testp_notanumber},
                 {SC_MOD_normal, SC_ALU_testp_normal},
                 {SC_MOD_subnormal, SC_ALU_testp_subnormal}};
    enum sc_type type = sc_lower_type(lower);
    sc_lower_count(lower, 2, 2);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (!sc_lower_take(lower, tests[i].mod))
            continue;
        uint32_t a = sc_lower_source(lower, sc_lower_operand(lower, 1),
                                     sc_type_bytes(type), type);
        uint32_t d = sc_lower_predicate_dest(lower, sc_lower_operand(lower, 0));
        sc_lower_alu(lower, tests[i].kind, type, d, a, 0, 0);
        return;
    }
    sc_lower_invalid(lower, "property is missing in");
}

bool sc_lower_compare(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_setp:
        return lower_setp(lower), true;
    case SC_OP_set:
        return lower_set(lower), true;
    case SC_OP_selp:
        return lower_selp(lower), true;
    case SC_OP_slct:
        return lower_slct(lower), true;
    case SC_OP_testp:
        return lower_testp(lower), true;
    default:
        return false;
    }
}

/*
 * Between which numbers the registers lie that shared memory is accessed by;
 * see native/gen.h.
 *
 * Where a thread's place in its block, constants and cut off bits say that an
 * address lies in the variables of the kernel, it needs no check. A register
 * that nobody has set yet is 0, so 0 always is among the numbers. Lock: none.
 */
#include "native/emit.h"

/* Instructions between an address and what it is made of. */
#define MOST_DEPTH 12
#define MOST       ((int64_t)1 << 40)
#define MOST_SHIFT 12

/** The numbers [low, high], multiples of 2^shift; of a register of 32 bits
 *  these mean the number modulo 2^32. */
struct bounds {
    int64_t low, high;
    uint32_t shift;
};

static bool find(struct sc_gen *gen, const struct sc_operand *operand,
                 enum sc_type type, int depth, struct bounds *b);

static uint32_t shift_of(uint64_t number)
{
    uint32_t shift = number ? (uint32_t)__builtin_ctzll(number) : MOST_SHIFT;
    return shift < MOST_SHIFT ? shift : MOST_SHIFT;
}

static bool exactly(int64_t number, struct bounds *b)
{
    *b = (struct bounds){number, number, shift_of((uint64_t)number)};
    return true;
}

static bool up_to(uint32_t high, struct bounds *b)
{
    *b = (struct bounds){0, high, 0};
    return true;
}

static bool of_special(const struct sc_gen *gen, uint32_t special,
                       struct bounds *b)
{
    if (special >= SC_SREG_tid_x && special <= SC_SREG_tid_z)
        return up_to(gen->ntid[special - SC_SREG_tid_x] - 1, b);
    return special == SC_SREG_laneid && up_to(SC_WARP - 1, b);
}

static bool is_integer(enum sc_type type)
{
    enum sc_type_class class = sc_type_class(type);
    return (class == SC_CLASS_BITS || class == SC_CLASS_UNSIGNED ||
            class == SC_CLASS_SIGNED) &&
           (sc_type_bytes(type) == 4 || sc_type_bytes(type) == 8);
}

/* Whether the numbers are what an instruction of this type takes them for. */
static bool is_meant(const struct bounds *b, enum sc_type type)
{
    if (sc_type_bytes(type) == 8)
        return true;
    return sc_type_class(type) == SC_CLASS_SIGNED ? b->high <= INT32_MAX
                                                  : b->low >= 0;
}

static bool add(struct bounds *a, const struct bounds *b, int64_t sign)
{
    a->low += sign > 0 ? b->low : -b->high;
    a->high += sign > 0 ? b->high : -b->low;
    a->shift = a->shift < b->shift ? a->shift : b->shift;
    return true;
}

/* Both are far from where products no longer fit. */
static bool multiply(struct bounds *a, const struct bounds *b)
{
    const int64_t far = (int64_t)1 << 31;
    if (a->low < -far || a->high > far || b->low < -far || b->high > far)
        return false;
    int64_t ends[] = {a->low * b->low, a->low * b->high, a->high * b->low,
                      a->high * b->high};
    a->low = a->high = ends[0];
    for (int i = 1; i < 4; i++) {
        a->low = ends[i] < a->low ? ends[i] : a->low;
        a->high = ends[i] > a->high ? ends[i] : a->high;
    }
    a->shift += b->shift;
    a->shift = a->shift < MOST_SHIFT ? a->shift : MOST_SHIFT;
    return true;
}

static bool of_product(struct sc_gen *gen, const struct sc_inst *inst,
                       int depth, struct bounds *b)
{
    const struct sc_operand *o = inst->operands;
    enum sc_type type = inst->types[0];
    bool wide = sc_inst_has(inst, SC_MOD_wide);
    struct bounds other;
    if (sc_inst_has(inst, SC_MOD_hi) || !find(gen, &o[1], type, depth, b) ||
        !find(gen, &o[2], type, depth, &other) ||
        (wide && (!is_meant(b, type) || !is_meant(&other, type))) ||
        !multiply(b, &other))
        return false;
    if (inst->opcode != SC_OP_mad)
        return true;
    /* what a wide product is added to has twice its bits */
    return find(gen, &o[3], wide ? SC_T_u64 : type, depth, &other) &&
           add(b, &other, 1);
}

static bool of_shift(struct sc_gen *gen, const struct sc_inst *inst, int depth,
                     struct bounds *b)
{
    const struct sc_operand *o = inst->operands;
    struct bounds by;
    uint32_t n = 0;
    if (!sc_gen_is_constant(gen, &o[2], &n) || n > 31 ||
        sc_type_bytes(inst->types[0]) * 8 <= n)
        return false;
    bool known = find(gen, &o[1], inst->types[0], depth, b);
    if (inst->opcode == SC_OP_shl)
        return known && exactly((int64_t)1 << n, &by) && multiply(b, &by);
    if (known && b->low >= 0 && is_meant(b, inst->types[0])) {
        *b = (struct bounds){b->low >> n, b->high >> n, 0};
        return true;
    }
    return inst->types[0] != SC_T_s32 && sc_type_bytes(inst->types[0]) == 4 &&
           n && up_to(UINT32_MAX >> n, b);
}

static bool of_choice(struct sc_gen *gen, const struct sc_inst *inst, int depth,
                      struct bounds *b)
{
    const struct sc_operand *o = inst->operands;
    struct bounds other;
    if (!find(gen, &o[1], inst->types[0], depth, b) ||
        !find(gen, &o[2], inst->types[0], depth, &other))
        return false;
    b->low = other.low < b->low ? other.low : b->low;
    b->high = other.high > b->high ? other.high : b->high;
    b->shift = other.shift < b->shift ? other.shift : b->shift;
    return true;
}

static bool of_mask(const struct sc_gen *gen, const struct sc_inst *inst,
                    struct bounds *b)
{
    uint32_t mask = 0;
    if (sc_type_bytes(inst->types[0]) != 4 ||
        (!sc_gen_is_constant(gen, &inst->operands[2], &mask) &&
         !sc_gen_is_constant(gen, &inst->operands[1], &mask)))
        return false;
    *b = (struct bounds){0, mask, shift_of(mask)};
    return true;
}

static bool of_field(const struct sc_gen *gen, const struct sc_inst *inst,
                     struct bounds *b)
{
    uint32_t bits = 0;
    return inst->types[0] == SC_T_u32 &&
           sc_gen_is_constant(gen, &inst->operands[3], &bits) && bits &&
           bits < 32 && up_to((1u << bits) - 1, b);
}

static bool of_conversion(struct sc_gen *gen, const struct sc_inst *inst,
                          int depth, struct bounds *b)
{
    const struct sc_operand *from = &inst->operands[1];
    enum sc_type type = inst->type_count == 2 ? inst->types[1] : SC_T_pred;
    if (!is_integer(type) || from->kind != SC_OPERAND_REG ||
        sc_type_bytes(gen->func->regs[from->reg].type) != sc_type_bytes(type) ||
        sc_inst_has(inst, SC_MOD_sat))
        return false;
    return find(gen, from, type, depth, b) && is_meant(b, type);
}

static bool of_result(struct sc_gen *gen, const struct sc_inst *inst, int depth,
                      struct bounds *b)
{
    const struct sc_operand *o = inst->operands;
    struct bounds other;
    if (inst->opcode == SC_OP_cvt)
        return of_conversion(gen, inst, depth, b);
    if (sc_inst_has(inst, SC_MOD_cc) || sc_inst_has(inst, SC_MOD_sat))
        return false;
    switch (inst->opcode) {
    case SC_OP_mov:
        return find(gen, &o[1], inst->types[0], depth, b);
    case SC_OP_add:
    case SC_OP_sub:
        return find(gen, &o[1], inst->types[0], depth, b) &&
               find(gen, &o[2], inst->types[0], depth, &other) &&
               add(b, &other, inst->opcode == SC_OP_add ? 1 : -1);
    case SC_OP_mul:
    case SC_OP_mad:
        return of_product(gen, inst, depth, b);
    case SC_OP_shl:
    case SC_OP_shr:
        return of_shift(gen, inst, depth, b);
    case SC_OP_selp:
        return of_choice(gen, inst, depth, b);
    case SC_OP_and:
        return of_mask(gen, inst, b);
    case SC_OP_bfe:
        return of_field(gen, inst, b);
    default:
        return false;
    }
}

static bool of_register(struct sc_gen *gen, uint32_t reg, int depth,
                        struct bounds *b)
{
    if (!depth || (gen->defs[reg] != 1 && !gen->same[reg]))
        return false;
    const struct sc_inst *def = &gen->func->insts[gen->def_inst[reg]];
    uint32_t bytes = sc_type_bytes(gen->func->regs[reg].type);
    uint32_t twice = sc_inst_has(def, SC_MOD_wide) ? 2 : 1;
    if (def->guarded || !def->type_count || !is_integer(def->types[0]) ||
        sc_type_bytes(def->types[0]) * twice != bytes ||
        def->operand_count < 2 || def->operands[0].kind != SC_OPERAND_REG ||
        def->operands[1].kind == SC_OPERAND_VECTOR ||
        !of_result(gen, def, depth - 1, b))
        return false;
    b->low = b->low < 0 ? b->low : 0;
    b->high = b->high > 0 ? b->high : 0;
    return bytes == 8   ? b->low >= -MOST && b->high <= MOST
           : bytes == 4 ? b->low >= INT32_MIN && b->high <= UINT32_MAX
                        : false;
}

static bool find(struct sc_gen *gen, const struct sc_operand *operand,
                 enum sc_type type, int depth, struct bounds *b)
{
    if (operand->negate)
        return false;
    switch (operand->kind) {
    case SC_OPERAND_INT:
        return exactly(sc_type_bytes(type) == 8 ? (int64_t)operand->bits
                       : sc_type_class(type) == SC_CLASS_SIGNED
                           ? (int32_t)(uint32_t)operand->bits
                           : (int64_t)(uint32_t)operand->bits,
                       b);
    case SC_OPERAND_SPECIAL:
        return of_special(gen, operand->reg, b);
    case SC_OPERAND_SYMBOL:
        return operand->var->space == SC_SPACE_SHARED &&
               exactly(
                   (int64_t)(sc_gen_offset(gen, operand->var) + operand->bits),
                   b);
    case SC_OPERAND_REG:
        return of_register(gen, operand->reg, depth, b);
    default:
        return false;
    }
}

bool sc_gen_is_inside(struct sc_gen *gen, const struct sc_address *at,
                      uint32_t bytes)
{
    struct bounds b;
    int64_t offset = (int64_t)at->offset;
    if (at->mode != SC_MODE_SHARED || offset < -MOST || offset > MOST)
        return false;
    if (at->is_fixed)
        exactly(0, &b);
    else if (!of_register(gen, at->base.reg, MOST_DEPTH, &b))
        return false;
    return b.low + offset >= 0 &&
           b.high + offset + bytes <= (int64_t)gen->shared_bytes &&
           (1u << b.shift) % bytes == 0 && offset % bytes == 0;
}

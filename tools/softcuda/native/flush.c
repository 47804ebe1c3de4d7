/*
 * Kernels whose f32 arithmetic all has .ftz: the processor takes their
 * subnormal inputs for zeros (MXCSR.DAZ) instead of masks; see native/gen.h.
 *
 * Results stay as they are: the mode that flushes those decides before it
 * rounds, the interpreter after. So a register may hold a subnormal number
 * that stands for a zero; arithmetic takes it for one, and whatever else reads
 * it flushes it first. What a compiler knows it computes itself, minding no
 * mode: arithmetic of nothing but such values keeps its masks. Lock: none.
 */
#include "native/emit.h"

/* ---- whether the mode changes nothing else ---- */

/* Bits go through as they are. */
static bool only_moves(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_mov:
    case SC_OP_ld:
    case SC_OP_ldu:
    case SC_OP_st:
    case SC_OP_selp:
    case SC_OP_slct:
    case SC_OP_shfl:
    case SC_OP_testp:
    case SC_OP_copysign:
        return true;
    case SC_OP_neg:
    case SC_OP_abs:
        return inst->types[0] == SC_T_f32 || inst->types[0] == SC_T_f64;
    case SC_OP_atom:
    case SC_OP_red:
        return sc_inst_has(inst, SC_MOD_exch) || sc_inst_has(inst, SC_MOD_cas);
    default:
        return false;
    }
}

static bool flushes_all(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_add:
    case SC_OP_sub:
    case SC_OP_mul:
    case SC_OP_fma:
    case SC_OP_mad:
    case SC_OP_div:
    case SC_OP_rcp:
    case SC_OP_sqrt:
    case SC_OP_rsqrt:
    case SC_OP_ex2:
    case SC_OP_lg2:
    case SC_OP_sin:
    case SC_OP_cos:
    case SC_OP_min:
    case SC_OP_max:
    case SC_OP_setp:
    case SC_OP_set:
    case SC_OP_cvt:
        return sc_inst_has(inst, SC_MOD_ftz);
    default:
        return false;
    }
}

static bool is_real(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_FLOAT;
}

/* Its f32 sources all are flushed, or it computes with no floats. */
static bool agrees(const struct sc_inst *inst)
{
    bool singles = true, reals = false;
    for (uint32_t i = 0; i < inst->type_count; i++) {
        reals |= is_real(inst->types[i]);
        singles &= !is_real(inst->types[i]) || inst->types[i] == SC_T_f32;
    }
    bool converts = inst->opcode == SC_OP_cvt && inst->type_count == 2 &&
                    !is_real(inst->types[1]);
    return !reals || only_moves(inst) ||
           (singles && (converts || flushes_all(inst)));
}

#ifdef __x86_64__
static const bool has_mode = true;
#else
static const bool has_mode = false;
#endif

static bool all_agree(const struct sc_gen *gen)
{
    bool any = false;
    for (size_t i = 0; i < gen->func->inst_count; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        if (!agrees(inst))
            return false;
        any |= flushes_all(inst);
    }
    return any && has_mode;
}

/* ---- registers with subnormals that stand for zeros ---- */

static bool computes(const struct sc_gen *gen, const struct sc_inst *inst)
{
    struct sc_alu_call call;
    return sc_alu_find_raw(gen->func, inst, &call) && call.raw &&
           inst->opcode != SC_OP_setp;
}

static bool is_raw(const struct sc_gen *gen, const struct sc_operand *operand)
{
    uint32_t bits = (uint32_t)operand->bits;
    if (operand->kind == SC_OPERAND_REG)
        return gen->raw[operand->reg];
    return (operand->kind == SC_OPERAND_INT ||
            operand->kind == SC_OPERAND_SINGLE) &&
           (bits & 0x7f800000 || !(bits & 0x7fffffff));
}

/* Sources of an instruction that chooses one of them. */
static uint32_t choices(const struct sc_inst *inst)
{
    return inst->opcode == SC_OP_mov ? 1 : inst->opcode == SC_OP_selp ? 2 : 0;
}

static bool keeps_raw(const struct sc_gen *gen, const struct sc_inst *inst)
{
    uint32_t n = choices(inst);
    if (!n || inst->operand_count < n + 1)
        return computes(gen, inst);
    for (uint32_t i = 1; i <= n; i++)
        if (!is_raw(gen, &inst->operands[i]))
            return false;
    return true;
}

/* All that might be, less bases of addresses and what something else sets. */
static void find_raw(struct sc_gen *gen)
{
    for (uint32_t r = 0; r + 1 < gen->reg_count; r++)
        gen->raw[r] = gen->defs[r] && sc_gen_class(gen, r) == SC_LANE_32 &&
                      sc_type_bytes(gen->func->regs[r].type) == 4;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < gen->func->inst_count; i++) {
            const struct sc_inst *inst = &gen->func->insts[i];
            for (uint32_t k = 0; k < inst->operand_count; k++) {
                const struct sc_operand *o = &inst->operands[k];
                if (o->kind == SC_OPERAND_ADDRESS &&
                    o->sub->kind == SC_OPERAND_REG)
                    gen->raw[o->sub->reg] = false;
            }
            uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
            bool keeps = n && keeps_raw(gen, inst);
            for (uint32_t k = 0; k < n; k++) {
                again |= gen->raw[regs[k]] && !keeps;
                gen->raw[regs[k]] &= keeps;
            }
        }
    }
}

/* ---- what compilers may know ---- */

static bool is_known(const struct sc_gen *gen, const struct sc_operand *operand)
{
    return operand->kind != SC_OPERAND_REG || gen->known[operand->reg];
}

static bool all_known(const struct sc_gen *gen, const struct sc_inst *inst)
{
    for (uint32_t i = 1; i < inst->operand_count; i++)
        if (!is_known(gen, &inst->operands[i]))
            return false;
    return true;
}

static bool any_choice_known(const struct sc_gen *gen,
                             const struct sc_inst *inst)
{
    for (uint32_t i = 1; i <= choices(inst) && i < inst->operand_count; i++)
        if (is_known(gen, &inst->operands[i]))
            return true;
    return false;
}

static bool is_number(const struct sc_inst *inst)
{
    return inst->opcode == SC_OP_mov && inst->operand_count == 2 &&
           (inst->operands[1].kind == SC_OPERAND_INT ||
            inst->operands[1].kind == SC_OPERAND_SINGLE);
}

/* A variable's first value is hidden, so that the loop that follows need not
 * keep its masks. */
bool sc_gen_hides(const struct sc_gen *gen, uint32_t reg)
{
    return gen->flushes && gen->raw[reg] && gen->defs[reg] > 1 &&
           is_number(gen->inst);
}

/* Integers may turn out as numbers whatever they are made of. */
static bool makes_known(struct sc_gen *gen, const struct sc_inst *inst,
                        uint32_t reg)
{
    gen->inst = inst;
    if (inst->opcode == SC_OP_ld || inst->opcode == SC_OP_ldu ||
        inst->opcode == SC_OP_atom || sc_gen_hides(gen, reg))
        return false;
    if (choices(inst))
        return any_choice_known(gen, inst);
    return !computes(gen, inst) || all_known(gen, inst);
}

static void find_known(struct sc_gen *gen)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < gen->func->inst_count; i++) {
            const struct sc_inst *inst = &gen->func->insts[i];
            uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
            for (uint32_t k = 0; k < n; k++) {
                if (gen->known[regs[k]] || !makes_known(gen, inst, regs[k]))
                    continue;
                gen->known[regs[k]] = again = true;
            }
        }
    }
    gen->inst = NULL;
}

void sc_gen_flush(struct sc_gen *gen)
{
    gen->raw = sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->raw);
    gen->known = sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->known);
    gen->flushes = all_agree(gen);
    if (!gen->flushes)
        return;
    find_raw(gen);
    find_known(gen);
}

bool sc_gen_find(struct sc_gen *gen, struct sc_alu_call *call)
{
    const struct sc_inst *inst = gen->inst;
    gen->reads_raw = false;
    if (!gen->flushes)
        return sc_alu_find(gen->func, inst, call);
    if (choices(inst) && inst->operands[0].kind == SC_OPERAND_REG)
        gen->reads_raw = gen->raw[inst->operands[0].reg];
    else if (!all_known(gen, inst) || inst->opcode == SC_OP_div)
        gen->reads_raw = sc_alu_find_raw(gen->func, inst, call) && call->raw;
    return gen->reads_raw && !choices(inst)
               ? true
               : sc_alu_find(gen->func, inst, call);
}

/*
 * Registers that hold the same value whichever of their instructions set it;
 * see native/gen.h.
 *
 * Compilers write the same instruction on both ways out of a branch. Lanes on
 * one of them may then set the register for those that wait at the other: what
 * these read is what they would set themselves. Lock: none.
 */
#include "native/gen.h"

/* It stays what it is while a group runs. */
static bool is_settled(const struct sc_gen *gen,
                       const struct sc_operand *operand)
{
    switch (operand->kind) {
    case SC_OPERAND_INT:
    case SC_OPERAND_SINGLE:
    case SC_OPERAND_DOUBLE:
    case SC_OPERAND_SYMBOL:
        return true;
    case SC_OPERAND_SPECIAL:
        return (operand->reg >= SC_SREG_tid_x &&
                operand->reg <= SC_SREG_tid_z) ||
               (operand->reg >= SC_SREG_ntid_x &&
                operand->reg <= SC_SREG_ntid_z);
    case SC_OPERAND_REG:
        break;
    default:
        return false;
    }
    if (gen->defs[operand->reg] != 1)
        return false;
    uint32_t def = gen->def_inst[operand->reg];
    uint32_t place = gen->place_of[gen->cfg.block_of[def]];
    return gen->places[place].loop_head == SC_NONE &&
           !gen->func->insts[def].guarded;
}

static bool is_same_operand(const struct sc_operand *a,
                            const struct sc_operand *b)
{
    bool same = a->kind == b->kind && a->reg == b->reg && a->bits == b->bits &&
                a->negate == b->negate &&
                (a->kind != SC_OPERAND_SYMBOL || a->var == b->var);
    for (uint32_t i = 0; same && i < sc_operand_parts(a); i++)
        same = is_same_operand(&a->sub[i], &b->sub[i]);
    return same;
}

/* Of an instruction that gives one register and nothing else. */
static bool is_same(const struct sc_inst *a, const struct sc_inst *b)
{
    bool same = a->opcode == b->opcode && a->type_count == b->type_count &&
                a->operand_count == b->operand_count;
    for (uint32_t i = 0; same && i < a->type_count; i++)
        same = a->types[i] == b->types[i];
    for (uint32_t i = 0; same && i < SC_MOD_WORDS; i++)
        same = a->mods[i] == b->mods[i];
    for (uint32_t i = 0; same && i < a->operand_count; i++)
        same = is_same_operand(&a->operands[i], &b->operands[i]);
    return same;
}

static bool depends_on_settled(const struct sc_gen *gen,
                               const struct sc_inst *inst)
{
    struct sc_alu_call call;
    if (inst->guarded || sc_inst_has(inst, SC_MOD_cc) ||
        !sc_alu_find(gen->func, inst, &call) || call.result_count != 1 ||
        inst->operands[0].kind != SC_OPERAND_REG)
        return false;
    for (uint32_t i = 0; i < call.arg_count; i++)
        if (!call.args[i].operand || !is_settled(gen, call.args[i].operand))
            return false;
    return true;
}

/* Nobody reads it before it is set. */
static bool is_set_first(const struct sc_gen *gen, uint32_t reg)
{
    return gen->count && !sc_bits_has(gen->places[0].live_in, reg);
}

void sc_gen_same(struct sc_gen *gen)
{
    gen->same = sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->same);
    for (uint32_t r = 0; r + 1 < gen->reg_count; r++)
        gen->same[r] =
            gen->defs[r] > 1 && is_set_first(gen, r) &&
            depends_on_settled(gen, &gen->func->insts[gen->def_inst[r]]);
    for (size_t i = 0; i < gen->func->inst_count; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
        for (uint32_t k = 0; k < n; k++)
            gen->same[regs[k]] &=
                is_same(inst, &gen->func->insts[gen->def_inst[regs[k]]]) &&
                !inst->guarded;
    }
}

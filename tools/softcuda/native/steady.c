/*
 * Registers that are the same in all groups of a CTA whenever they are set;
 * see native/gen.h.
 *
 * They stem from parameters, constants and the CTA's place in the grid alone,
 * so that groups waiting at a barrier need not keep a copy. Lock: none.
 */
#include "native/gen.h"

static bool is_steady_special(uint32_t special)
{
    switch (special) {
    case SC_SREG_ctaid_x:
    case SC_SREG_ctaid_y:
    case SC_SREG_ctaid_z:
    case SC_SREG_nctaid_x:
    case SC_SREG_nctaid_y:
    case SC_SREG_nctaid_z:
    case SC_SREG_ntid_x:
    case SC_SREG_ntid_y:
    case SC_SREG_ntid_z:
    case SC_SREG_nwarpid:
    case SC_SREG_total_smem_size:
    case SC_SREG_dynamic_smem_size:
        return true;
    default:
        return false;
    }
}

static bool is_steady(const struct sc_gen *gen,
                      const struct sc_operand *operand)
{
    switch (operand->kind) {
    case SC_OPERAND_REG:
        return gen->steady[operand->reg];
    case SC_OPERAND_SPECIAL:
        return is_steady_special(operand->reg);
    case SC_OPERAND_INT:
    case SC_OPERAND_SINGLE:
    case SC_OPERAND_DOUBLE:
    case SC_OPERAND_SYMBOL:
        return true;
    default:
        return false;
    }
}

bool sc_gen_loads_param(const struct sc_inst *inst)
{
    const struct sc_operand *from = &inst->operands[1];
    return inst->opcode == SC_OP_ld &&
           (sc_inst_has(inst, SC_MOD_param) ||
            sc_inst_has(inst, SC_MOD_param__entry)) &&
           inst->operand_count == 2 && from->kind == SC_OPERAND_ADDRESS &&
           from->sub->kind == SC_OPERAND_SYMBOL;
}

static bool sets_steady(const struct sc_gen *gen, const struct sc_inst *inst)
{
    struct sc_alu_call call;
    if (inst->guarded || !inst->operand_count ||
        inst->operands[0].kind != SC_OPERAND_REG)
        return false;
    if (inst->opcode == SC_OP_ld)
        return sc_gen_loads_param(inst);
    if (inst->opcode != SC_OP_cvta &&
        (!sc_alu_find(gen->func, inst, &call) || call.result_count != 1))
        return false;
    for (uint32_t i = 1; i < inst->operand_count; i++)
        if (!is_steady(gen, &inst->operands[i]))
            return false;
    return !sc_inst_has(inst, SC_MOD_cc) && inst->opcode != SC_OP_addc &&
           inst->opcode != SC_OP_subc && inst->opcode != SC_OP_madc;
}

void sc_gen_steady(struct sc_gen *gen)
{
    gen->steady =
        sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->steady);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t r = 0; r + 1 < gen->reg_count; r++) {
            if (gen->steady[r] || gen->defs[r] != 1 ||
                !sc_shape_is_uniform(gen->shapes[r]) ||
                !sets_steady(gen, &gen->func->insts[gen->def_inst[r]]))
                continue;
            gen->steady[r] = again = true;
        }
    }
}

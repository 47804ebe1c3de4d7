/*
 * Which registers instructions read and write, and where they are live; see
 * native/gen.h.
 *
 * The condition code of the .cc forms counts as the last register. Lock: none.
 */
#include "native/gen.h"

#include <string.h>

bool sc_gen_writes(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_bar:
    case SC_OP_barrier:
        return sc_inst_has(inst, SC_MOD_red);
    case SC_OP_st:
    case SC_OP_red:
    case SC_OP_bra:
    case SC_OP_brx:
    case SC_OP_membar:
    case SC_OP_fence:
    case SC_OP_nanosleep:
    case SC_OP_prefetch:
    case SC_OP_prefetchu:
    case SC_OP_discard:
    case SC_OP_applypriority:
    case SC_OP_pmevent:
        return false;
    default:
        return inst->operand_count > 0;
    }
}

static uint32_t add(uint32_t *regs, uint32_t n, uint32_t most, uint32_t reg)
{
    if (n < most)
        regs[n++] = reg;
    return n;
}

static bool is_carry(const struct sc_inst *inst, bool reads)
{
    bool carries = inst->opcode == SC_OP_addc || inst->opcode == SC_OP_subc ||
                   inst->opcode == SC_OP_madc;
    return reads ? carries : sc_inst_has(inst, SC_MOD_cc);
}

static uint32_t add_all(const struct sc_operand *operand, uint32_t *regs,
                        uint32_t n, uint32_t most)
{
    switch (operand->kind) {
    case SC_OPERAND_REG:
        return add(regs, n, most, operand->reg);
    case SC_OPERAND_ADDRESS:
        return add_all(&operand->sub[0], regs, n, most);
    case SC_OPERAND_VECTOR:
    case SC_OPERAND_PAIR:
        for (uint32_t i = 0; i < operand->reg; i++)
            n = add_all(&operand->sub[i], regs, n, most);
        return n;
    default:
        return n;
    }
}

uint32_t sc_gen_defs(const struct sc_gen *gen, const struct sc_inst *inst,
                     uint32_t *regs)
{
    uint32_t n = 0;
    if (sc_gen_writes(inst) && inst->operands[0].kind != SC_OPERAND_ADDRESS)
        n = add_all(&inst->operands[0], regs, 0, SC_MAX_DEFS);
    if (is_carry(inst, false))
        n = add(regs, n, SC_MAX_DEFS, gen->reg_count - 1);
    return n;
}

uint32_t sc_gen_uses(const struct sc_gen *gen, const struct sc_inst *inst,
                     uint32_t *regs)
{
    uint32_t n = 0;
    if (inst->guarded)
        n = add(regs, n, SC_MAX_USES, inst->guard);
    if (is_carry(inst, true))
        n = add(regs, n, SC_MAX_USES, gen->reg_count - 1);
    bool writes = sc_gen_writes(inst);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (i || !writes || inst->operands[0].kind == SC_OPERAND_ADDRESS)
            n = add_all(&inst->operands[i], regs, n, SC_MAX_USES);
    return n;
}

/* live before = uses + (live after - defs), one instruction */
static void step_back(const struct sc_gen *gen, const struct sc_inst *inst,
                      sc_bits *live)
{
    uint32_t regs[SC_MAX_USES];
    if (!inst->guarded) {
        uint32_t n = sc_gen_defs(gen, inst, regs);
        for (uint32_t i = 0; i < n; i++)
            live[regs[i] / 64] &= ~((uint64_t)1 << regs[i] % 64);
    }
    uint32_t n = sc_gen_uses(gen, inst, regs);
    for (uint32_t i = 0; i < n; i++)
        sc_bits_add(live, regs[i]);
}

void sc_gen_live_before(const struct sc_gen *gen, uint32_t place, uint32_t inst,
                        sc_bits *live)
{
    const struct sc_place *p = &gen->places[place];
    memcpy(live, p->live_out, gen->words * sizeof *live);
    for (uint32_t i = p->end; i-- > inst;)
        step_back(gen, &gen->func->insts[i], live);
}

static bool update(struct sc_gen *gen, uint32_t place, sc_bits *scratch)
{
    struct sc_place *p = &gen->places[place];
    for (uint32_t k = 0; k < p->succ_count; k++)
        for (uint32_t w = 0; p->succs[k] < gen->count && w < gen->words; w++)
            p->live_out[w] |= gen->places[p->succs[k]].live_in[w];
    sc_gen_live_before(gen, place, p->first, scratch);
    if (!memcmp(scratch, p->live_in, gen->words * sizeof *scratch))
        return false;
    memcpy(p->live_in, scratch, gen->words * sizeof *scratch);
    return true;
}

void sc_gen_live(struct sc_gen *gen)
{
    sc_bits *scratch = sc_load_alloc(&gen->load, gen->words, sizeof *scratch);
    for (uint32_t i = 0; i < gen->count; i++) {
        struct sc_place *p = &gen->places[i];
        p->live_in = sc_load_alloc(&gen->load, gen->words, sizeof(sc_bits));
        p->live_out = sc_load_alloc(&gen->load, gen->words, sizeof(sc_bits));
        p->clash = sc_load_alloc(&gen->load, gen->words, sizeof(sc_bits));
        for (uint32_t k = p->first; k < p->end; k++) {
            uint32_t regs[SC_MAX_DEFS];
            uint32_t n = sc_gen_defs(gen, &gen->func->insts[k], regs);
            for (uint32_t r = 0; r < n; r++) {
                gen->defs[regs[r]]++;
                gen->def_inst[regs[r]] = k;
            }
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = gen->count; i-- > 0;)
            changed |= update(gen, i, scratch);
    }
}

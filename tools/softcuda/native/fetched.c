/*
 * Registers that stem from what lanes loaded; see native/gen.h.
 *
 * Addresses made of them hardly ever lie side by side: not asking whether they
 * do is cheaper. What a lane reads back from its own memory is no news, and
 * what atomics give often counts up from lane to lane. Lock: none.
 */
#include "native/emit.h"

static bool fetches(const struct sc_gen *gen, const struct sc_inst *inst)
{
    if (inst->opcode != SC_OP_ld && inst->opcode != SC_OP_ldu)
        return false;
    enum sc_mode mode = sc_emit_mode(inst);
    return mode == SC_MODE_GLOBAL || mode == SC_MODE_SHARED ||
           (mode == SC_MODE_GENERIC && !gen->has_local);
}

static bool stems(const struct sc_gen *gen, const struct sc_inst *inst)
{
    uint32_t regs[SC_MAX_USES], n = sc_gen_uses(gen, inst, regs);
    if (inst->opcode == SC_OP_ld || inst->opcode == SC_OP_ldu ||
        inst->opcode == SC_OP_atom)
        return fetches(gen, inst);
    for (uint32_t i = inst->guarded ? 1 : 0; i < n; i++)
        if (gen->fetched[regs[i]])
            return true;
    return false;
}

void sc_gen_fetched(struct sc_gen *gen)
{
    gen->fetched =
        sc_load_alloc(&gen->load, gen->reg_count, sizeof *gen->fetched);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < gen->func->inst_count; i++) {
            const struct sc_inst *inst = &gen->func->insts[i];
            uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
            if (!n || !stems(gen, inst))
                continue;
            for (uint32_t k = 0; k < n; k++) {
                if (gen->fetched[regs[k]] || !sc_gen_varies(gen, regs[k]))
                    continue;
                gen->fetched[regs[k]] = again = true;
            }
        }
    }
}

/*
 * Registers that were set since a group last waited at a barrier; see
 * native/gen.h.
 *
 * Of all others the group's room already holds what they hold: what is live
 * at a barrier and was not set since the one before was live there. Lock: none.
 */
#include "native/emit.h"

#include <string.h>

static void step(const struct sc_gen *gen, const struct sc_inst *inst,
                 sc_bits *fresh)
{
    uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
    if (sc_emit_is_barrier(inst))
        memset(fresh, 0, gen->words * sizeof *fresh);
    for (uint32_t i = 0; i < n; i++)
        sc_bits_add(fresh, regs[i]);
}

void sc_gen_fresh_before(const struct sc_gen *gen, uint32_t place,
                         uint32_t inst, sc_bits *fresh)
{
    const struct sc_place *p = &gen->places[place];
    memcpy(fresh, p->fresh, gen->words * sizeof *fresh);
    for (uint32_t i = p->first; i < inst; i++)
        step(gen, &gen->func->insts[i], fresh);
}

static bool pass_on(struct sc_gen *gen, uint32_t place, sc_bits *scratch)
{
    const struct sc_place *p = &gen->places[place];
    bool changed = false;
    sc_gen_fresh_before(gen, place, p->end, scratch);
    for (uint32_t k = 0; k < p->succ_count; k++) {
        sc_bits *next =
            p->succs[k] < gen->count ? gen->places[p->succs[k]].fresh : NULL;
        for (uint32_t w = 0; next && w < gen->words; w++) {
            changed |= (scratch[w] & ~next[w]) != 0;
            next[w] |= scratch[w];
        }
    }
    return changed;
}

void sc_gen_fresh(struct sc_gen *gen)
{
    sc_bits *scratch = sc_load_alloc(&gen->load, gen->words, sizeof *scratch);
    for (uint32_t i = 0; i < gen->count; i++)
        gen->places[i].fresh =
            sc_load_alloc(&gen->load, gen->words, sizeof *scratch);
    if (gen->count)
        memset(gen->places[0].fresh, 0xff, gen->words * sizeof *scratch);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < gen->count; i++)
            changed |= pass_on(gen, i, scratch);
    }
}

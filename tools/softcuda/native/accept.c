/*
 * What the generator takes on: whole-kernel refusals, and what a kernel needs
 * its groups to be; see native/gen.h.
 *
 * Lanes of a warp that wait for each other hang when they run in lockstep. A
 * loop is taken for such a wait when a branch in it depends on a volatile,
 * relaxed or acquiring load, or on an atomic operation, that asks the same
 * thing in every round. Lock: none.
 */
#include "native/emit.h"

#include <string.h>

/* ---- single instructions ---- */

static bool crosses_lanes(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_shfl:
    case SC_OP_vote:
    case SC_OP_match:
    case SC_OP_redux:
    case SC_OP_elect:
    case SC_OP_activemask:
        return true;
    case SC_OP_bar:
    case SC_OP_barrier:
        return sc_inst_has(inst, SC_MOD_warp);
    case SC_OP_ld:
    case SC_OP_st:
        /* old code has the lanes of a warp talk like this without a barrier */
        return sc_inst_has(inst, SC_MOD_volatile) &&
               !sc_inst_has(inst, SC_MOD_global);
    default:
        return false;
    }
}

static bool is_barrier(const struct sc_inst *inst)
{
    return (inst->opcode == SC_OP_bar || inst->opcode == SC_OP_barrier) &&
           !sc_inst_has(inst, SC_MOD_warp);
}

/* A vector in memory of all threads that others may watch. */
static bool is_watched_vector(const struct sc_inst *inst)
{
    return (inst->opcode == SC_OP_ld || inst->opcode == SC_OP_st) &&
           (sc_inst_has(inst, SC_MOD_v2) || sc_inst_has(inst, SC_MOD_v4)) &&
           (sc_inst_has(inst, SC_MOD_volatile) ||
            sc_inst_has(inst, SC_MOD_relaxed) ||
            sc_inst_has(inst, SC_MOD_acquire) ||
            sc_inst_has(inst, SC_MOD_release)) &&
           !sc_inst_has(inst, SC_MOD_shared) &&
           !sc_inst_has(inst, SC_MOD_local);
}

static void look_at(struct sc_gen *gen, const struct sc_inst *inst)
{
    gen->inst = inst;
    gen->whole_warps |= crosses_lanes(inst);
    gen->has_barrier |= is_barrier(inst);
    if (inst->opcode == SC_OP_call)
        sc_gen_refuse(gen, "the generator lacks calls");
    if (is_watched_vector(inst))
        sc_gen_refuse(gen, "the generator moves components one by one");
    if (is_barrier(inst) && sc_inst_has(inst, SC_MOD_arrive))
        sc_gen_refuse(gen, "the generator lacks bar.arrive");
    if (is_barrier(inst) && inst->guarded)
        sc_gen_refuse(gen, "the generator lacks barriers with a guard");
    if (is_barrier(inst) && sc_inst_has(inst, SC_MOD_sync) &&
        inst->operand_count == 2 &&
        (inst->operands[1].kind != SC_OPERAND_INT ||
         inst->operands[1].bits != ((gen->threads + 31) & ~31u)))
        sc_gen_refuse(gen, "the generator lacks barriers of some threads");
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == SC_OPERAND_SYMBOL &&
            inst->operands[i].var->space == SC_SPACE_PARAM &&
            inst->opcode != SC_OP_cvta && inst->opcode != SC_OP_mov)
            sc_gen_refuse(gen, "the generator lacks it");
}

/* ---- variables ---- */

static bool is_placed(const struct sc_gen *gen, const struct sc_var *var)
{
    for (uint32_t i = 0; i < gen->offset_count; i++)
        if (gen->offsets[i].var == var)
            return true;
    return false;
}

static void add_offset(struct sc_gen *gen, const struct sc_var *var,
                       uint64_t at)
{
    gen->offsets = sc_load_grow(&gen->load, gen->offsets, gen->offset_count,
                                &gen->offset_capacity, sizeof *gen->offsets);
    gen->offsets[gen->offset_count++] = (struct sc_offset){var, at};
}

/* As exec/lower.c places them, so that addresses are the same. */
static void place(struct sc_gen *gen, const struct sc_var *var)
{
    bool shared = var->space == SC_SPACE_SHARED;
    if ((!shared && var->space != SC_SPACE_LOCAL) || !var->bytes ||
        is_placed(gen, var))
        return;
    uint32_t *bytes = shared ? &gen->shared_bytes : &gen->local_bytes;
    uint32_t at = (*bytes + var->align - 1) & ~(var->align - 1);
    add_offset(gen, var, at);
    *bytes = at + (uint32_t)var->bytes;
    gen->has_local |= !shared;
}

static void align_dynamic(struct sc_gen *gen, const struct sc_var *var)
{
    if (var->space == SC_SPACE_SHARED && !var->bytes)
        gen->shared_bytes =
            (gen->shared_bytes + var->align - 1) & ~(var->align - 1);
}

static void place_dynamic(struct sc_gen *gen, const struct sc_var *var)
{
    if (var->space == SC_SPACE_SHARED && !var->bytes && !is_placed(gen, var))
        add_offset(gen, var, gen->shared_bytes);
}

static void for_symbols(struct sc_gen *gen,
                        void (*visit)(struct sc_gen *, const struct sc_var *))
{
    for (size_t i = 0; i < gen->func->inst_count; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        for (uint32_t k = 0; k < inst->operand_count; k++) {
            const struct sc_operand *o = &inst->operands[k];
            if (o->kind == SC_OPERAND_ADDRESS)
                o = o->sub;
            if (o->kind == SC_OPERAND_SYMBOL)
                visit(gen, o->var);
        }
    }
}

static void place_variables(struct sc_gen *gen)
{
    for (const struct sc_var *v = gen->func->vars; v; v = v->next)
        place(gen, v);
    for_symbols(gen, place);
    for_symbols(gen, align_dynamic);
    for_symbols(gen, place_dynamic);
}

/* ---- lanes that wait for each other ---- */

static bool is_written_in(const struct sc_gen *gen, uint32_t first,
                          uint32_t last, uint32_t reg)
{
    for (uint32_t i = first; i <= last; i++) {
        const struct sc_place *p = &gen->places[i];
        for (uint32_t k = p->first; k < p->end; k++) {
            uint32_t regs[SC_MAX_DEFS];
            uint32_t n = sc_gen_defs(gen, &gen->func->insts[k], regs);
            for (uint32_t r = 0; r < n; r++)
                if (regs[r] == reg)
                    return true;
        }
    }
    return false;
}

static bool may_ask(const struct sc_gen *gen, const struct sc_inst *inst)
{
    if (inst->opcode == SC_OP_ld)
        return sc_inst_has(inst, SC_MOD_volatile) ||
               sc_inst_has(inst, SC_MOD_relaxed) ||
               sc_inst_has(inst, SC_MOD_acquire) ||
               sc_inst_has(inst, SC_MOD_mmio);
    if (inst->opcode != SC_OP_atom)
        return false;
    uint32_t b = 1; /* what adds nothing only reads */
    return sc_inst_has(inst, SC_MOD_cas) || sc_inst_has(inst, SC_MOD_exch) ||
           (inst->operand_count > 2 &&
            sc_gen_is_constant(gen, &inst->operands[2], &b) && b == 0);
}

/* Deep enough for what compilers leave in a loop. */
#define MOST_STEPS 4

/* Whether a register holds the same in every round: nobody writes it there, or
 * it is made anew of what stays the same, as constants are. */
static bool stays(const struct sc_gen *gen, uint32_t reg, uint32_t first,
                  uint32_t last, int steps)
{
    uint32_t regs[SC_MAX_USES];
    if (!is_written_in(gen, first, last, reg))
        return true;
    const struct sc_inst *def = &gen->func->insts[gen->def_inst[reg]];
    if (gen->defs[reg] != 1 || !steps || def->guarded ||
        def->opcode == SC_OP_ld || def->opcode == SC_OP_atom ||
        crosses_lanes(def))
        return false;
    uint32_t n = sc_gen_uses(gen, def, regs);
    for (uint32_t i = 0; i < n; i++)
        if (!stays(gen, regs[i], first, last, steps - 1))
            return false;
    return true;
}

static bool asks_again(const struct sc_gen *gen, const struct sc_inst *inst,
                       uint32_t first, uint32_t last)
{
    uint32_t regs[SC_MAX_USES];
    if (!may_ask(gen, inst))
        return false;
    uint32_t n = sc_gen_uses(gen, inst, regs);
    for (uint32_t i = 0; i < n; i++)
        if (!stays(gen, regs[i], first, last, MOST_STEPS))
            return false;
    return true;
}

/* One round over the loop; `answers` are registers that depend on one. */
static bool spread_answers(const struct sc_gen *gen, uint32_t first,
                           uint32_t last, sc_bits *answers)
{
    bool changed = false;
    for (uint32_t i = first; i <= last; i++) {
        const struct sc_place *p = &gen->places[i];
        for (uint32_t k = p->first; k < p->end; k++) {
            const struct sc_inst *inst = &gen->func->insts[k];
            uint32_t regs[SC_MAX_USES], n = sc_gen_uses(gen, inst, regs);
            bool answer = asks_again(gen, inst, first, last);
            for (uint32_t r = 0; r < n; r++)
                answer |= sc_bits_has(answers, regs[r]);
            n = answer ? sc_gen_defs(gen, inst, regs) : 0;
            for (uint32_t r = 0; r < n; r++) {
                changed |= !sc_bits_has(answers, regs[r]);
                sc_bits_add(answers, regs[r]);
            }
        }
    }
    return changed;
}

static void check_loop(struct sc_gen *gen, uint32_t first, uint32_t last,
                       sc_bits *answers)
{
    memset(answers, 0, gen->words * sizeof *answers);
    while (spread_answers(gen, first, last, answers)) {
    }
    for (uint32_t i = first; i <= last; i++) {
        const struct sc_place *p = &gen->places[i];
        if (p->end == p->first)
            continue;
        const struct sc_inst *inst = &gen->func->insts[p->end - 1];
        gen->inst = inst;
        if (sc_cfg_ends_block(inst) && inst->guarded &&
            sc_bits_has(answers, inst->guard))
            sc_gen_refuse(gen, "lanes may wait for each other");
    }
}

void sc_gen_accept(struct sc_gen *gen)
{
    for (size_t i = 0; i < gen->func->inst_count; i++)
        look_at(gen, &gen->func->insts[i]);
    gen->inst = NULL;
    place_variables(gen);
}

void sc_gen_accept_loops(struct sc_gen *gen)
{
    sc_bits *answers = sc_load_alloc(&gen->load, gen->words, sizeof *answers);
    for (uint32_t t = 0; t < gen->count; t++)
        for (uint32_t k = 0; k < gen->places[t].succ_count; k++)
            if (gen->places[t].succs[k] <= t)
                check_loop(gen, gen->places[t].succs[k], t, answers);
    gen->inst = NULL;
}

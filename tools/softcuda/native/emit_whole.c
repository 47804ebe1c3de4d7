/*
 * Writes places several times where that pays: for groups whose linear
 * accesses all lie where they should, which is asked once, with all lanes here
 * and with some; and for others. See native/emit.h.
 *
 * What is asked are ranges of base registers. Those that the place itself
 * makes of scalars are made ahead, which changes nothing when they are made
 * again. Lock: none.
 */
#include "native/emit.h"

/* Text is written several times: not of what is long already. */
#define MOST_PLACE  120u
#define MOST_THRICE 60u
#define MOST_KERNEL 1000u

/* ---- what can be made ahead ---- */

static bool is_set_in(const struct sc_gen *gen, const struct sc_place *p,
                      uint32_t reg)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        uint32_t regs[SC_MAX_DEFS];
        uint32_t n = sc_gen_defs(gen, &gen->func->insts[i], regs);
        for (uint32_t k = 0; k < n; k++)
            if (regs[k] == reg)
                return true;
    }
    return false;
}

/* `reg` has the value now that it has wherever the place reads it. */
static bool is_there(const struct sc_gen *gen, const struct sc_place *p,
                     const bool *ahead, uint32_t reg)
{
    return ahead[reg] || !is_set_in(gen, p, reg);
}

static bool reads_clock(const struct sc_inst *inst)
{
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == SC_OPERAND_SPECIAL)
            switch (inst->operands[i].reg) {
            case SC_SREG_clock:
            case SC_SREG_clock64:
            case SC_SREG_clock_hi:
            case SC_SREG_globaltimer:
            case SC_SREG_globaltimer_lo:
            case SC_SREG_globaltimer_hi:
                return true;
            default:
                break;
            }
    return false;
}

static bool is_pure(const struct sc_gen *gen, const struct sc_inst *inst)
{
    struct sc_alu_call call;
    if (reads_clock(inst))
        return false;
    return inst->opcode == SC_OP_cvta || sc_gen_loads_param(inst) ||
           (sc_alu_find(gen->func, inst, &call) && call.result_count == 1 &&
            !sc_inst_has(inst, SC_MOD_cc));
}

static bool can_be_ahead(const struct sc_gen *gen, const struct sc_place *p,
                         const bool *ahead, const struct sc_inst *inst)
{
    uint32_t regs[SC_MAX_USES], n = sc_gen_uses(gen, inst, regs);
    if (inst->guarded || sc_cfg_ends_block(inst) || !inst->operand_count ||
        inst->operands[0].kind != SC_OPERAND_REG || !is_pure(gen, inst))
        return false;
    uint32_t to = inst->operands[0].reg;
    if (gen->defs[to] != 1 || sc_gen_varies(gen, to) ||
        sc_bits_has(p->live_in, to))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (sc_gen_varies(gen, regs[i]) || !is_there(gen, p, ahead, regs[i]))
            return false;
    return true;
}

static bool *find_ahead(struct sc_gen *gen, const struct sc_place *p)
{
    bool *ahead = sc_load_alloc(&gen->load, gen->reg_count, sizeof *ahead);
    for (uint32_t i = p->first; i < p->end; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        if (can_be_ahead(gen, p, ahead, inst))
            ahead[inst->operands[0].reg] = true;
    }
    return ahead;
}

/* Mark what the bases of ranges are made of, backwards. */
static void mark_needed(const struct sc_gen *gen, const struct sc_place *p,
                        const bool *ahead, bool *needed)
{
    for (uint32_t i = p->end; i-- > p->first;) {
        const struct sc_inst *inst = &gen->func->insts[i];
        uint32_t regs[SC_MAX_USES], n;
        if (inst->operand_count == 0 ||
            inst->operands[0].kind != SC_OPERAND_REG || !sc_gen_writes(inst) ||
            !ahead[inst->operands[0].reg] || !needed[inst->operands[0].reg])
            continue;
        n = sc_gen_uses(gen, inst, regs);
        for (uint32_t k = 0; k < n; k++)
            needed[regs[k]] = true;
    }
}

static void put_ahead(struct sc_gen *gen, const struct sc_place *p,
                      const bool *ahead, const bool *needed)
{
    for (uint32_t i = p->first; i < p->end; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        if (!inst->operand_count || !sc_gen_writes(inst) ||
            inst->operands[0].kind != SC_OPERAND_REG ||
            !ahead[inst->operands[0].reg] || !needed[inst->operands[0].reg])
            continue;
        gen->inst = inst;
        sc_emit_inst(gen);
    }
    gen->inst = NULL;
}

/* ---- the place ---- */

/* One line of it becomes much text, which gains nothing. */
static bool is_long(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_atom:
    case SC_OP_red:
    case SC_OP_shfl:
    case SC_OP_vote:
    case SC_OP_match:
    case SC_OP_redux:
    case SC_OP_elect:
        return true;
    default:
        return sc_emit_is_barrier(inst);
    }
}

static bool is_fit(const struct sc_gen *gen, const struct sc_place *p)
{
    if (p->end - p->first > MOST_PLACE || gen->func->inst_count > MOST_KERNEL)
        return false;
    for (uint32_t i = p->first; i < p->end; i++)
        if (is_long(&gen->func->insts[i]))
            return false;
    return true;
}

/* The compiler is to forget what it made of them: kept for the seldom way, it
 * would fill the registers of the other. */
static void put_anew(struct sc_gen *gen, const bool *ahead, const bool *needed)
{
    for (uint32_t r = 0; r + 1 < gen->reg_count; r++)
        if (needed[r] && !ahead[r] && !sc_gen_varies(gen, r) &&
            sc_gen_class(gen, r) != SC_LANE_PRED)
            sc_put(gen, "__asm__(\"\" : \"+r\"(r%u));\n", r);
}

/* All accesses are fine: with all lanes, or those of the mask. */
static void put_sure(struct sc_gen *gen, const struct sc_place *p,
                     void (*body)(struct sc_gen *))
{
    char mask = gen->mask;
    bool thrice = p->end - p->first <= MOST_THRICE;
    uint32_t ranges = gen->range_count;
    for (uint32_t part = 0; mask && part < gen->parts; part++)
        sc_put(gen, "%sm_all(%s)", part ? " & " : "if (",
               sc_emit_mask(gen, part).text);
    sc_put(gen, mask ? ") {\n" : "{\n");
    gen->mask = 0;
    body(gen);
    gen->mask = mask;
    gen->range_count = ranges;
    sc_put(gen, "}\n");
    if (mask && thrice)
        body(gen);
}

void sc_emit_whole(struct sc_gen *gen, void (*body)(struct sc_gen *))
{
    const struct sc_place *p = &gen->places[gen->place];
    uint32_t first = gen->range_count;
    bool *needed = sc_load_alloc(&gen->load, gen->reg_count, sizeof *needed);
    bool *ahead = is_fit(gen, p) ? find_ahead(gen, p) : NULL;
    for (uint32_t i = p->first; ahead && i < p->end; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        uint32_t reg = sc_emit_base_of(gen, inst);
        if (reg != SC_NONE && is_there(gen, p, ahead, reg))
            needed[reg] = true;
    }
    uint32_t found = ahead ? sc_emit_find_ranges(gen, needed) : 0;
    if (!found || (!gen->mask && found < 2)) {
        gen->range_count = first;
        body(gen);
        return;
    }
    sc_put(gen, "{\n");
    mark_needed(gen, p, ahead, needed);
    put_ahead(gen, p, ahead, needed);
    sc_emit_put_ranges(gen, first);
    sc_put(gen, "if (__builtin_expect(sure, 1)) {\n");
    put_sure(gen, p, body);
    gen->range_count = first;
    /* every body ends elsewhere */
    sc_put(gen, "}\n");
    put_anew(gen, ahead, needed);
    body(gen);
    gen->range_count = first;
    sc_put(gen, "}\n");
}

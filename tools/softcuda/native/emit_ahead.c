/*
 * Asks for memory before it is needed; see native/emit.h.
 *
 * A group runs a loop on its own, so where threads walk an array in steps of
 * the grid it touches a line here and a line a page or more further on, which
 * no processor foresees. The step follows from the instructions of the loop;
 * what they will load some rounds later is asked for now. Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

/* Rounds ahead; closer steps than this the processor finds by itself. */
#define ROUNDS     4
#define NEAR_BYTES 512
#define MOST_LINES 4u
/* Instructions between an address and what counts the rounds. */
#define MOST_DEPTH 8

/** What a register gains in a round of the loop, as text; "" = nothing. */
struct step {
    char text[160];
    int64_t number; /* added to the text */
};

struct walk {
    const struct sc_gen *gen;
    uint32_t head, end; /* places of the loop */
};

static bool step_of(const struct walk *walk, const struct sc_operand *operand,
                    int depth, struct step *step);

static bool writes(const struct sc_gen *gen, const struct sc_inst *inst,
                   uint32_t reg)
{
    uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
    for (uint32_t i = 0; i < n; i++)
        if (regs[i] == reg)
            return true;
    return false;
}

/* The only instruction of the loop that writes `reg`; NULL with *count 0 or
 * more than 1. */
static const struct sc_inst *writer(const struct walk *walk, uint32_t reg,
                                    uint32_t *count)
{
    const struct sc_inst *found = NULL;
    *count = 0;
    for (uint32_t t = walk->head; t <= walk->end; t++) {
        const struct sc_place *p = &walk->gen->places[t];
        for (uint32_t i = p->first; i < p->end; i++) {
            const struct sc_inst *inst = &walk->gen->func->insts[i];
            if (!writes(walk->gen, inst, reg))
                continue;
            (*count)++;
            found = inst;
        }
    }
    return *count == 1 ? found : NULL;
}

static bool add(struct step *a, const struct step *b, bool minus)
{
    char sum[sizeof a->text];
    int n = snprintf(sum, sizeof sum, "%s%s%s", a->text,
                     b->text[0] ? (minus ? " - " : " + ") : "", b->text);
    if (n >= (int)sizeof sum)
        return false;
    memcpy(a->text, sum, sizeof sum);
    a->number = (int64_t)((uint64_t)a->number +
                          (minus ? -(uint64_t)b->number : (uint64_t)b->number));
    return true;
}

static bool scale(struct step *a, int64_t by)
{
    char product[sizeof a->text];
    int n = snprintf(product, sizeof product, a->text[0] ? "(%s) * %lld" : "%s",
                     a->text, (long long)by);
    if (n >= (int)sizeof product)
        return false;
    memcpy(a->text, product, sizeof product);
    a->number = (int64_t)((uint64_t)a->number * (uint64_t)by);
    return true;
}

/* `reg` counts rounds: it is itself plus something that stays the same. */
static bool step_of_counter(const struct walk *walk, const struct sc_inst *inst,
                            uint32_t reg, struct step *step)
{
    const struct sc_gen *gen = walk->gen;
    const struct sc_operand *a = &inst->operands[1], *b = &inst->operands[2];
    bool minus = inst->opcode == SC_OP_sub;
    uint32_t count = 0, number = 0;
    if (inst->opcode != SC_OP_add && !minus)
        return false;
    if (!minus && b->kind == SC_OPERAND_REG && b->reg == reg) {
        const struct sc_operand *swap = a;
        a = b;
        b = swap;
    }
    if (a->kind != SC_OPERAND_REG || a->reg != reg)
        return false;
    bool wide = sc_type_bytes(inst->types[0]) == 8;
    if (b->kind == SC_OPERAND_INT) {
        step->number = wide ? (int64_t)b->bits : (int32_t)(uint32_t)b->bits;
    } else if (sc_gen_is_constant(gen, b, &number) && !wide) {
        step->number = (int32_t)number;
    } else {
        if (b->kind != SC_OPERAND_REG ||
            !sc_shape_is_uniform(sc_gen_shape(gen, b)) ||
            writer(walk, b->reg, &count) || count)
            return false;
        snprintf(step->text, sizeof step->text,
                 wide ? "(int64_t)r%u" : "(int64_t)(int32_t)r%u", b->reg);
    }
    return !minus || scale(step, -1);
}

static bool step_of_product(const struct walk *walk, const struct sc_inst *inst,
                            int depth, struct step *step)
{
    const struct sc_operand *a = &inst->operands[1], *b = &inst->operands[2];
    if (a->kind == SC_OPERAND_INT) {
        const struct sc_operand *swap = a;
        a = b;
        b = swap;
    }
    if (b->kind != SC_OPERAND_INT || sc_inst_has(inst, SC_MOD_hi))
        return false;
    bool wide = sc_type_bytes(inst->types[0]) == 8;
    return step_of(walk, a, depth, step) &&
           scale(step, wide ? (int64_t)b->bits : (int32_t)(uint32_t)b->bits);
}

/* What an instruction makes of the steps of its operands. */
static bool step_of_result(const struct walk *walk, const struct sc_inst *inst,
                           int depth, struct step *step)
{
    const struct sc_operand *o = inst->operands;
    struct step more = {.number = 0};
    switch (inst->opcode) {
    case SC_OP_mov:
    case SC_OP_cvta:
    case SC_OP_cvt:
        return step_of(walk, &o[1], depth, step);
    case SC_OP_add:
    case SC_OP_sub:
        return step_of(walk, &o[1], depth, step) &&
               step_of(walk, &o[2], depth, &more) &&
               add(step, &more, inst->opcode == SC_OP_sub);
    case SC_OP_shl:
        return o[2].kind == SC_OPERAND_INT && o[2].bits < 32 &&
               step_of(walk, &o[1], depth, step) &&
               scale(step, (int64_t)1 << o[2].bits);
    case SC_OP_mul:
        return step_of_product(walk, inst, depth, step);
    case SC_OP_mad:
        return step_of_product(walk, inst, depth, step) &&
               step_of(walk, &o[3], depth, &more) && add(step, &more, false);
    default:
        return false;
    }
}

static bool step_of(const struct walk *walk, const struct sc_operand *operand,
                    int depth, struct step *step)
{
    uint32_t count = 0;
    if (operand->kind != SC_OPERAND_REG)
        return operand->kind != SC_OPERAND_VECTOR;
    const struct sc_inst *inst = writer(walk, operand->reg, &count);
    if (!inst)
        return count == 0;
    if (!depth || inst->guarded || inst->type_count == 0 ||
        inst->operands[0].kind != SC_OPERAND_REG)
        return false;
    if (walk->gen->defs[operand->reg] > 1)
        return step_of_counter(walk, inst, operand->reg, step);
    return step_of_result(walk, inst, depth - 1, step);
}

/* An earlier load of the place has asked for the same line, or its
 * neighbour. */
static bool is_asked_for(const struct sc_gen *gen, const struct sc_address *at)
{
    const struct sc_inst *inst =
        &gen->func->insts[gen->places[gen->place].first];
    for (; inst < gen->inst; inst++) {
        const struct sc_operand *o = inst->operands;
        if (inst->opcode != SC_OP_ld || inst->operand_count < 2 ||
            o[1].kind != SC_OPERAND_ADDRESS ||
            o[1].sub->kind != SC_OPERAND_REG || o[1].sub->reg != at->base.reg)
            continue;
        int64_t apart = (int64_t)(o[1].bits - at->offset);
        if (apart > -64 && apart < 64)
            return true;
    }
    return false;
}

void sc_emit_ahead(struct sc_gen *gen, const struct sc_address *at,
                   uint32_t bytes)
{
    const struct sc_place *p = &gen->places[gen->place];
    struct step step = {.number = 0};
    int64_t stride = at->shape.stride;
    if (p->loop_head == SC_NONE || at->is_fixed ||
        at->shape.kind != SC_SHAPE_LINEAR || is_asked_for(gen, at))
        return;
    struct walk walk = {gen, p->loop_head, p->loop_end};
    if (!step_of(&walk, &at->base, MOST_DEPTH, &step) ||
        (!step.text[0] && step.number < NEAR_BYTES &&
         step.number > -NEAR_BYTES))
        return;
    uint64_t span =
        (uint64_t)(stride < 0 ? -stride : stride) * (gen->group - 1) + bytes;
    for (uint32_t line = 0; line < MOST_LINES && line * 64 < span; line++)
        sc_put(gen,
               "__builtin_prefetch((const void *)(%s + %d * (%lldull%s%s) "
               "%c %u));\n",
               sc_emit_base(gen, at).text, ROUNDS, (long long)step.number,
               step.text[0] ? " + " : "", step.text, stride < 0 ? '-' : '+',
               line * 64);
}

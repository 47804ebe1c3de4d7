/*
 * From instructions to steps, and only those that addresses depend on; see
 * ptx/flow.h.
 *
 * What is not put in a form of its own here gives any number. Lock: none.
 */
#include "ptx/flow.h"

#include <string.h>

void sc_flow_results(const struct sc_inst *inst,
                     void (*each)(void *context, uint32_t reg), void *context)
{
    uint32_t results = inst->opcode == SC_OP_call && inst->call
                           ? 1 + inst->call->ret_count
                           : 1;
    for (uint32_t i = results > 1; i < results && i < inst->operand_count;
         i++) {
        const struct sc_operand *o = &inst->operands[i];
        bool parts = o->kind == SC_OPERAND_VECTOR || o->kind == SC_OPERAND_PAIR;
        if (o->kind == SC_OPERAND_REG)
            each(context, o->reg);
        for (uint32_t k = 0; parts && k < o->reg; k++) {
            const struct sc_operand *sub = &o->sub[k];
            if (sub->kind == SC_OPERAND_REG)
                each(context, sub->reg);
            for (uint32_t n = 0; sub->kind == SC_OPERAND_VECTOR && n < sub->reg;
                 n++)
                if (sub->sub[n].kind == SC_OPERAND_REG)
                    each(context, sub->sub[n].reg);
        }
    }
}

struct sc_source sc_flow_source(const struct sc_operand *operand)
{
    struct sc_source source = {.kind = SC_SOURCE_ANY};
    if (operand->kind == SC_OPERAND_REG) {
        source.kind = SC_SOURCE_REG;
        source.reg = operand->reg;
    } else if (operand->kind == SC_OPERAND_INT) {
        source.kind = SC_SOURCE_NUMBER;
        source.number = (int64_t)operand->bits;
    } else if (operand->kind == SC_OPERAND_SPECIAL) {
        source.kind = SC_SOURCE_SPECIAL;
        source.reg = operand->reg;
    }
    return source;
}

unsigned sc_flow_bits(const struct sc_func *func, uint32_t reg)
{
    return 8 * sc_type_bytes(func->regs[reg].type);
}

static unsigned type_bits(enum sc_type type)
{
    return 8 * sc_type_bytes(type);
}

static bool is_whole(enum sc_type type)
{
    enum sc_type_class class = sc_type_class(type);
    return class == SC_CLASS_BITS || class == SC_CLASS_UNSIGNED ||
           class == SC_CLASS_SIGNED;
}

static bool is_signed(enum sc_type type)
{
    return sc_type_class(type) == SC_CLASS_SIGNED;
}

/* Numbers of the last type, whatever they are. */
static void make_any(struct sc_step *step, const struct sc_inst *inst)
{
    enum sc_type type =
        inst->type_count ? inst->types[inst->type_count - 1] : SC_T_b64;
    step->kind = SC_STEP_ANY;
    step->bits = step->from_bits =
        (uint8_t)(type_bits(type) < 64 ? type_bits(type) : 64);
    step->is_signed = is_signed(type);
}

/* Results of one type with operands of it. */
static const struct {
    enum sc_opcode opcode;
    enum sc_step_kind kind;
    uint32_t operands;
} plain[] = {
    {SC_OP_add, SC_STEP_ADD, 2},  {SC_OP_sub, SC_STEP_SUB, 2},
    {SC_OP_shl, SC_STEP_SHL, 2},  {SC_OP_shr, SC_STEP_SHR, 2},
    {SC_OP_and, SC_STEP_AND, 2},  {SC_OP_or, SC_STEP_OR, 2},
    {SC_OP_xor, SC_STEP_OR, 2},   {SC_OP_min, SC_STEP_MIN, 2},
    {SC_OP_max, SC_STEP_MAX, 2},  {SC_OP_div, SC_STEP_DIV, 2},
    {SC_OP_rem, SC_STEP_REM, 2},  {SC_OP_neg, SC_STEP_NEG, 1},
    {SC_OP_not, SC_STEP_NOT, 1},  {SC_OP_selp, SC_STEP_SELECT, 3},
    {SC_OP_mov, SC_STEP_COPY, 1}, {SC_OP_cvta, SC_STEP_COPY, 1},
};

static void take(struct sc_step *step, const struct sc_inst *inst,
                 uint32_t count)
{
    for (uint32_t i = 0; i < count && i < 3; i++)
        step->from[i] = sc_flow_source(&inst->operands[i + 1]);
}

static bool make_plain(struct sc_step *step, const struct sc_inst *inst)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].opcode != inst->opcode ||
            inst->operand_count != plain[i].operands + 1)
            continue;
        step->kind = plain[i].kind;
        take(step, inst, plain[i].operands);
        return true;
    }
    return false;
}

static bool make_product(struct sc_step *step, const struct sc_inst *inst)
{
    bool mad = inst->opcode == SC_OP_mad, wide = sc_inst_has(inst, SC_MOD_wide);
    if ((inst->opcode != SC_OP_mul && !mad) ||
        inst->operand_count != (mad ? 4u : 3u) ||
        (!wide && !sc_inst_has(inst, SC_MOD_lo)) || (wide && step->bits > 32))
        return false;
    step->kind = mad    ? wide ? SC_STEP_MAD_WIDE : SC_STEP_MAD
                 : wide ? SC_STEP_MUL_WIDE
                        : SC_STEP_MUL;
    step->bits = (uint8_t)(wide ? 2 * step->bits : step->bits);
    take(step, inst, mad ? 3 : 2);
    return true;
}

static bool make_conversion(struct sc_step *step, const struct sc_inst *inst)
{
    if (inst->opcode != SC_OP_cvt || inst->type_count != 2 ||
        inst->operand_count != 2)
        return false;
    step->kind = SC_STEP_COPY;
    step->bits = (uint8_t)type_bits(inst->types[0]);
    step->from_bits = (uint8_t)type_bits(inst->types[1]);
    step->is_signed = is_signed(inst->types[1]);
    take(step, inst, 1);
    return true;
}

/* mov between a register and its two halves */
static bool make_halves(struct sc_step *step, const struct sc_inst *inst)
{
    const struct sc_operand *to = &inst->operands[0], *from;
    if (inst->opcode != SC_OP_mov || inst->operand_count != 2)
        return false;
    from = &inst->operands[1];
    bool splits = to->kind == SC_OPERAND_VECTOR && to->reg == 2;
    bool packs = from->kind == SC_OPERAND_VECTOR && from->reg == 2;
    if (splits == packs)
        return false;
    step->from_bits = step->bits / 2;
    if (packs) {
        step->kind = SC_STEP_PACK;
        step->from[0] = sc_flow_source(&from->sub[0]);
        step->from[1] = sc_flow_source(&from->sub[1]);
        return true;
    }
    step->kind = to->sub[1].kind == SC_OPERAND_REG && to->sub[1].reg == step->to
                     ? SC_STEP_HIGH
                     : SC_STEP_LOW;
    step->from[0] = sc_flow_source(from);
    return to->sub[0].kind != SC_OPERAND_REG ||
           to->sub[1].kind != SC_OPERAND_REG ||
           to->sub[0].reg != to->sub[1].reg;
}

/* Which part of what is loaded the register gets. */
static uint32_t part_of(const struct sc_operand *to, uint32_t reg)
{
    for (uint32_t i = 0; i < sc_operand_parts(to); i++)
        if (to->sub[i].kind == SC_OPERAND_REG && to->sub[i].reg == reg)
            return i;
    return 0;
}

static bool make_parameter(struct sc_step *step, const struct sc_func *func,
                           const struct sc_inst *inst)
{
    uint64_t offset;
    if (inst->opcode != SC_OP_ld || inst->operand_count != 2 ||
        !(sc_inst_has(inst, SC_MOD_param) ||
          sc_inst_has(inst, SC_MOD_param__entry)))
        return false;
    const struct sc_var *var =
        sc_origin_parameter(func, &inst->operands[1], &offset);
    offset += part_of(&inst->operands[0], step->to) * (step->bits / 8u);
    if (!var || offset + step->bits / 8u > var->bytes)
        return false;
    step->kind = SC_STEP_PARAM;
    step->at = (uint32_t)(var->address + offset);
    return true;
}

static bool make(struct sc_step *step, const struct sc_func *func,
                 const struct sc_inst *inst)
{
    if (!inst->type_count || inst->odd || sc_inst_has(inst, SC_MOD_sat))
        return false;
    for (unsigned i = 0; i < inst->type_count; i++)
        if (!is_whole(inst->types[i]) || type_bits(inst->types[i]) > 64)
            return false;
    if (make_halves(step, inst) || make_parameter(step, func, inst))
        return true;
    return inst->operands[0].kind == SC_OPERAND_REG &&
           (make_plain(step, inst) || make_product(step, inst) ||
            make_conversion(step, inst));
}

/* ---- which are needed ---------------------------------------------------- */

struct build {
    struct sc_load *load;
    struct sc_flow *flow;
    uint32_t inst;
    bool marked; /* a register that was not needed before */
};

static void mark(struct build *b, const struct sc_source *source)
{
    if (source->kind != SC_SOURCE_REG || b->flow->needed[source->reg])
        return;
    b->flow->needed[source->reg] = true;
    b->marked = true;
}

static struct sc_step step_of(const struct sc_flow *flow, uint32_t index,
                              uint32_t reg)
{
    const struct sc_inst *inst = &flow->func->insts[index];
    struct sc_step step = {.to = reg, .inst = index};
    make_any(&step, inst);
    struct sc_step any = step;
    if (!make(&step, flow->func, inst))
        step = any;
    return step;
}

static void mark_sources(void *context, uint32_t reg)
{
    struct build *b = context;
    if (!b->flow->needed[reg])
        return;
    struct sc_step step = step_of(b->flow, b->inst, reg);
    for (int i = 0; i < 3; i++)
        mark(b, &step.from[i]);
}

static void keep_step(void *context, uint32_t reg)
{
    struct build *b = context;
    struct sc_flow *flow = b->flow;
    if (!flow->needed[reg])
        return;
    flow->steps = sc_load_grow(b->load, flow->steps, flow->step_count,
                               &flow->step_capacity, sizeof *flow->steps);
    struct sc_step *step = sc_load_alloc(b->load, 1, sizeof *step);
    *step = step_of(flow, b->inst, reg);
    flow->steps[flow->step_count++] = step;
}

static void mark_all(struct build *b)
{
    const struct sc_cfg *cfg = &b->flow->cfg;
    for (uint32_t i = cfg->order_count; i-- > 0;) {
        const struct sc_block *block = &cfg->blocks[cfg->order[i]];
        for (b->inst = block->end; b->inst-- > block->first;)
            sc_flow_results(&b->flow->func->insts[b->inst], mark_sources, b);
    }
}

static void keep_all(struct build *b)
{
    const struct sc_cfg *cfg = &b->flow->cfg;
    for (uint32_t i = 0; i < cfg->order_count; i++) {
        const struct sc_block *block = &cfg->blocks[cfg->order[i]];
        for (b->inst = block->first; b->inst < block->end; b->inst++)
            sc_flow_results(&b->flow->func->insts[b->inst], keep_step, b);
    }
}

static void find_addresses(struct sc_load *load, struct sc_flow *flow)
{
    size_t n = flow->origins.access_count;
    flow->addresses = sc_load_alloc(load, n, sizeof *flow->addresses);
    for (size_t i = 0; i < n; i++) {
        const struct sc_operand *o = flow->origins.accesses[i].address;
        if (o->kind != SC_OPERAND_ADDRESS)
            continue;
        flow->addresses[i] = sc_flow_source(&o->sub[0]);
    }
}

/* Registers of addresses and of comparisons, and what they depend on. */
static void find_needed(struct sc_load *load, struct sc_flow *flow)
{
    struct build b = {.load = load, .flow = flow};
    flow->needed =
        sc_load_alloc(load, flow->func->reg_count, sizeof *flow->needed);
    for (size_t i = 0; i < flow->origins.access_count; i++)
        mark(&b, &flow->addresses[i]);
    for (size_t i = 0; i < flow->fact_count; i++)
        for (int k = 0; k < 2; k++)
            if (flow->facts[i].kind == SC_FACT_COMPARES)
                mark(&b, &flow->facts[i].from[k]);
    do {
        b.marked = false;
        mark_all(&b);
    } while (b.marked);
    keep_all(&b);
}

static void find_variables(struct sc_load *load, struct sc_flow *flow)
{
    size_t regs = flow->func->reg_count;
    uint32_t *count = sc_load_alloc(load, regs, sizeof *count);
    struct sc_variable **of = sc_load_alloc(load, regs, sizeof *of);
    flow->variables =
        sc_load_alloc(load, flow->step_count, sizeof *flow->variables);
    for (size_t i = 0; i < flow->step_count; i++)
        count[flow->steps[i]->to]++;
    for (size_t i = 0; i < flow->step_count; i++) {
        uint32_t reg = flow->steps[i]->to;
        struct sc_variable *v = of[reg];
        if (!v) {
            v = of[reg] = &flow->variables[flow->variable_count++];
            v->reg = reg;
            v->bits = sc_flow_bits(flow->func, reg);
            v->steps = sc_load_alloc(load, count[reg], sizeof *v->steps);
        }
        v->steps[v->step_count++] = flow->steps[i];
    }
}

static void number_source(const uint32_t *numbers, struct sc_source *source)
{
    if (source->kind == SC_SOURCE_REG)
        source->variable = numbers[source->reg];
}

/* Sources name variables, which are fewer than registers. */
static void number_variables(struct sc_load *load, struct sc_flow *flow)
{
    size_t regs = flow->func->reg_count;
    uint32_t *numbers = sc_load_alloc(load, regs, sizeof *numbers);
    memset(numbers, 0xff, regs * sizeof *numbers);
    for (size_t i = 0; i < flow->variable_count; i++)
        numbers[flow->variables[i].reg] = (uint32_t)i;
    for (size_t i = 0; i < flow->step_count; i++)
        for (int k = 0; k < 3; k++)
            number_source(numbers, &flow->steps[i]->from[k]);
    for (size_t i = 0; i < flow->origins.access_count; i++)
        number_source(numbers, &flow->addresses[i]);
    for (size_t i = 0; i < flow->fact_count; i++)
        for (int k = 0; k < 2; k++)
            if (flow->facts[i].kind == SC_FACT_COMPARES)
                number_source(numbers, &flow->facts[i].from[k]);
}

void sc_flow_build(struct sc_load *load, const struct sc_func *func,
                   struct sc_flow *flow)
{
    memset(flow, 0, sizeof *flow);
    flow->func = func;
    sc_origins_find(load, func, &flow->origins);
    if (flow->origins.reaches_anywhere && flow->origins.writes_anywhere)
        return;
    sc_cfg_build(load, func, &flow->cfg);
    uint32_t blocks = flow->cfg.block_count;
    flow->place_of = sc_load_alloc(load, blocks, sizeof *flow->place_of);
    memset(flow->place_of, 0xff, blocks * sizeof *flow->place_of);
    for (uint32_t i = 0; i < flow->cfg.order_count; i++)
        flow->place_of[flow->cfg.order[i]] = i;
    find_addresses(load, flow);
    sc_facts_find(load, flow);
    find_needed(load, flow);
    find_variables(load, flow);
    number_variables(load, flow);
    sc_loops_find(load, flow);
    sc_limits_find(load, flow);
    sc_depend_find(load, flow);
}

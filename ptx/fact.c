/*
 * What holds where, because of branches and guards; see ptx/flow.h.
 *
 * A fact is an instruction that sets a predicate. Three bits of it are carried
 * through the blocks: the predicate still says what it said when it was set;
 * the comparison is known to hold, or not to hold, of what its registers have
 * now. A bit is there where it is on all ways, and is lost where one of the
 * registers is set. Lock: none.
 */
#include "ptx/flow.h"

#include <string.h>

enum { FACTS_MOST = 512, DEPTH_MOST = 8, LIMITS_MOST = 64 };
enum { CURRENT, HOLDS, FAILS, BITS };

/* ---- finding them -------------------------------------------------------- */

static const struct {
    enum sc_modifier modifier;
    enum sc_relation relation;
    int sign; /* -1: of the type */
} relations[] = {
    {SC_MOD_lt, SC_LT, -1}, {SC_MOD_le, SC_LE, -1}, {SC_MOD_gt, SC_GT, -1},
    {SC_MOD_ge, SC_GE, -1}, {SC_MOD_eq, SC_EQ, -1}, {SC_MOD_ne, SC_NE, -1},
    {SC_MOD_lo, SC_LT, 0},  {SC_MOD_ls, SC_LE, 0},  {SC_MOD_hs, SC_GE, 0},
    {SC_MOD_hi, SC_GT, 0},
};

static bool compares(const struct sc_flow *flow, const struct sc_inst *inst,
                     struct sc_fact *fact)
{
    enum sc_type type = inst->type_count ? inst->types[0] : SC_T_f32;
    enum sc_type_class class = sc_type_class(type);
    unsigned found = 0;
    if (inst->type_count != 1 || inst->operand_count != 3 || inst->odd ||
        class == SC_CLASS_FLOAT || class == SC_CLASS_PACKED ||
        class == SC_CLASS_PRED || sc_inst_has(inst, SC_MOD_and) ||
        sc_inst_has(inst, SC_MOD_or) || sc_inst_has(inst, SC_MOD_xor))
        return false;
    fact->kind = SC_FACT_COMPARES;
    fact->bits = (uint8_t)(8 * sc_type_bytes(type));
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (!sc_inst_has(inst, relations[i].modifier))
            continue;
        found++;
        fact->relation = relations[i].relation;
        fact->is_signed = relations[i].sign < 0 && class == SC_CLASS_SIGNED;
    }
    for (int i = 0; i < 2; i++) {
        fact->from[i] = sc_flow_source(&inst->operands[i + 1]);
        if (fact->from[i].kind == SC_SOURCE_REG &&
            sc_flow_bits(flow->func, fact->from[i].reg) != fact->bits)
            return false;
    }
    return found == 1 && fact->bits <= 64;
}

static bool joins(const struct sc_inst *inst, struct sc_fact *fact)
{
    static const struct {
        enum sc_opcode opcode;
        enum sc_fact_kind kind;
        uint32_t operands;
    } kinds[] = {{SC_OP_and, SC_FACT_AND, 3},
                 {SC_OP_or, SC_FACT_OR, 3},
                 {SC_OP_not, SC_FACT_NOT, 2},
                 {SC_OP_mov, SC_FACT_NOT, 2}};
    if (inst->type_count != 1 || inst->types[0] != SC_T_pred)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].opcode != inst->opcode ||
            kinds[i].operands != inst->operand_count)
            continue;
        fact->kind = kinds[i].kind;
        for (uint32_t k = 0; k + 1 < inst->operand_count; k++) {
            fact->from[k] = sc_flow_source(&inst->operands[k + 1]);
            fact->negated[k] =
                inst->operands[k + 1].negate ^ (inst->opcode == SC_OP_mov);
        }
        return true;
    }
    return false;
}

void sc_facts_find(struct sc_load *load, struct sc_flow *flow)
{
    for (uint32_t i = 0; i < flow->func->inst_count; i++) {
        const struct sc_inst *inst = &flow->func->insts[i];
        struct sc_fact fact = {.inst = i};
        if (inst->guarded || !inst->operand_count ||
            inst->operands[0].kind != SC_OPERAND_REG ||
            flow->fact_count == FACTS_MOST)
            continue;
        fact.predicate = inst->operands[0].reg;
        bool is = inst->opcode == SC_OP_setp ? compares(flow, inst, &fact)
                                             : joins(inst, &fact);
        for (int k = 0; k < 2; k++)
            is &= fact.from[k].kind != SC_SOURCE_REG ||
                  fact.from[k].reg != fact.predicate;
        if (!is)
            continue;
        flow->facts = sc_load_grow(load, flow->facts, flow->fact_count,
                                   &flow->fact_capacity, sizeof *flow->facts);
        flow->facts[flow->fact_count++] = fact;
    }
}

/* ---- carrying them through the blocks ------------------------------------ */

struct use {
    uint16_t fact;
    bool is_predicate;
    struct use *next;
};

struct spread {
    struct sc_load *load;
    struct sc_flow *flow;
    struct use **uses;   /* by register */
    int32_t *fact_of;    /* by instruction; -1: none */
    uint64_t **in, *now; /* by block; where the walk is */
    size_t words;
};

static void set(uint64_t *bits, size_t fact, int bit, bool value)
{
    size_t at = fact * BITS + (size_t)bit;
    uint64_t one = (uint64_t)1 << at % 64;
    bits[at / 64] = value ? bits[at / 64] | one : bits[at / 64] & ~one;
}

static bool get(const uint64_t *bits, size_t fact, int bit)
{
    size_t at = fact * BITS + (size_t)bit;
    return bits[at / 64] >> at % 64 & 1;
}

static void add_use(struct spread *s, uint32_t reg, size_t fact,
                    bool is_predicate)
{
    struct use *use = sc_load_alloc(s->load, 1, sizeof *use);
    *use = (struct use){(uint16_t)fact, is_predicate, s->uses[reg]};
    s->uses[reg] = use;
}

static void lose(void *context, uint32_t reg)
{
    struct spread *s = context;
    for (const struct use *use = s->uses[reg]; use; use = use->next) {
        set(s->now, use->fact, CURRENT, false);
        if (use->is_predicate)
            continue;
        set(s->now, use->fact, HOLDS, false);
        set(s->now, use->fact, FAILS, false);
    }
}

static void step_over(struct spread *s, uint32_t inst)
{
    sc_flow_results(&s->flow->func->insts[inst], lose, s);
    if (s->fact_of[inst] >= 0)
        set(s->now, (size_t)s->fact_of[inst], CURRENT, true);
}

/* Comparisons that follow from a predicate's value. */
struct limits {
    struct sc_limit list[LIMITS_MOST];
    uint32_t count;
};

static void expand(const struct spread *s, uint32_t predicate, bool value,
                   struct limits *limits, int depth)
{
    for (size_t f = 0; f < s->flow->fact_count; f++) {
        const struct sc_fact *fact = &s->flow->facts[f];
        if (fact->predicate != predicate || !get(s->now, f, CURRENT) ||
            depth == DEPTH_MOST || limits->count == LIMITS_MOST)
            continue;
        if (fact->kind == SC_FACT_COMPARES) {
            limits->list[limits->count++] =
                (struct sc_limit){(uint16_t)f, !value, false};
            continue;
        }
        if (fact->kind != SC_FACT_NOT && value != (fact->kind == SC_FACT_AND))
            continue;
        for (int k = 0; k < 2; k++)
            if (fact->from[k].kind == SC_SOURCE_REG)
                expand(s, fact->from[k].reg,
                       value ^ fact->negated[k] ^ (fact->kind == SC_FACT_NOT),
                       limits, depth + 1);
    }
}

/* The comparisons that taking an edge means. */
static void edge_limits(const struct spread *s, uint32_t block, uint32_t edge,
                        struct limits *limits)
{
    const struct sc_block *b = &s->flow->cfg.blocks[block];
    const struct sc_inst *last =
        b->end > b->first ? &s->flow->func->insts[b->end - 1] : NULL;
    limits->count = 0;
    if (!last || !last->guarded || !sc_cfg_ends_block(last) ||
        last->opcode == SC_OP_brx || b->succ_count > 2 ||
        (b->succ_count == 2 && b->succs[0] == b->succs[1]))
        return;
    bool taken = !(b->falls && edge == 0);
    expand(s, last->guard, taken != last->guard_negate, limits, 0);
}

static void walk(struct spread *s, uint32_t block, uint32_t end)
{
    const struct sc_block *b = &s->flow->cfg.blocks[block];
    memcpy(s->now, s->in[block], s->words * sizeof *s->now);
    for (uint32_t i = b->first; i < end; i++)
        step_over(s, i);
}

/* Return: whether the successor lost something. */
static bool meet(struct spread *s, uint32_t block, uint32_t edge)
{
    uint32_t next = s->flow->cfg.blocks[block].succs[edge];
    struct limits limits;
    bool changed = false;
    edge_limits(s, block, edge, &limits);
    uint64_t kept[(FACTS_MOST * BITS + 63) / 64];
    memcpy(kept, s->now, s->words * sizeof *kept);
    for (uint32_t i = 0; i < limits.count; i++)
        set(kept, limits.list[i].fact, limits.list[i].negated ? FAILS : HOLDS,
            true);
    for (size_t w = 0; w < s->words; w++) {
        uint64_t both = s->in[next][w] & kept[w];
        changed |= both != s->in[next][w];
        s->in[next][w] = both;
    }
    return changed;
}

static void spread_all(struct spread *s)
{
    const struct sc_cfg *cfg = &s->flow->cfg;
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < cfg->order_count; i++) {
            uint32_t block = cfg->order[i];
            walk(s, block, cfg->blocks[block].end);
            for (uint32_t e = 0; e < cfg->blocks[block].succ_count; e++)
                changed |= meet(s, block, e);
        }
    }
}

static void prepare(struct spread *s)
{
    struct sc_flow *flow = s->flow;
    const struct sc_cfg *cfg = &flow->cfg;
    size_t insts = flow->func->inst_count;
    s->words = (flow->fact_count * BITS + 63) / 64;
    s->uses = sc_load_alloc(s->load, flow->func->reg_count, sizeof *s->uses);
    s->fact_of = sc_load_alloc(s->load, insts, sizeof *s->fact_of);
    memset(s->fact_of, 0xff, insts * sizeof *s->fact_of);
    s->now = sc_load_alloc(s->load, s->words, sizeof *s->now);
    s->in = sc_load_alloc(s->load, cfg->block_count, sizeof *s->in);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        s->in[b] = sc_load_alloc(s->load, s->words, sizeof **s->in);
        if (b) /* nothing is known at the beginning */
            memset(s->in[b], 0xff, s->words * sizeof **s->in);
    }
    for (size_t f = 0; f < flow->fact_count; f++) {
        const struct sc_fact *fact = &flow->facts[f];
        s->fact_of[fact->inst] = (int32_t)f;
        add_use(s, fact->predicate, f, true);
        for (int k = 0; k < 2; k++)
            if (fact->from[k].kind == SC_SOURCE_REG)
                add_use(s, fact->from[k].reg, f, false);
    }
}

/* ---- noting them --------------------------------------------------------- */

/* What is known of a register here, and because of `more`. */
static void limit_source(struct spread *s, struct sc_source *source,
                         const struct limits *more)
{
    struct limits found = {.count = 0};
    if (source->kind != SC_SOURCE_REG)
        return;
    for (const struct use *u = s->uses[source->reg]; u; u = u->next) {
        const struct sc_fact *fact = &s->flow->facts[u->fact];
        bool holds = get(s->now, u->fact, HOLDS);
        bool fails = get(s->now, u->fact, FAILS);
        for (uint32_t i = 0; more && i < more->count; i++) {
            holds |= more->list[i].fact == u->fact && !more->list[i].negated;
            fails |= more->list[i].fact == u->fact && more->list[i].negated;
        }
        if (u->is_predicate || fact->kind != SC_FACT_COMPARES ||
            !(holds || fails) || found.count == LIMITS_MOST)
            continue;
        found.list[found.count++] =
            (struct sc_limit){u->fact, fails,
                              fact->from[0].kind != SC_SOURCE_REG ||
                                  fact->from[0].reg != source->reg};
    }
    struct sc_limit *list = sc_load_alloc(s->load, found.count, sizeof *list);
    memcpy(list, found.list, found.count * sizeof *list);
    source->limits = list;
    source->limit_count = found.count;
}

static void limit_step(struct spread *s, struct sc_step *step)
{
    const struct sc_inst *inst = &s->flow->func->insts[step->inst];
    struct limits guard = {.count = 0};
    if (inst->guarded)
        expand(s, inst->guard, !inst->guard_negate, &guard, 0);
    for (int i = 0; i < 3; i++) {
        struct limits all = guard;
        if (step->kind == SC_STEP_SELECT && i < 2 &&
            inst->operands[3].kind == SC_OPERAND_REG)
            expand(s, inst->operands[3].reg,
                   (i == 0) != inst->operands[3].negate, &all, 0);
        limit_source(s, &step->from[i], &all);
    }
}

/* Where these cannot all hold, nobody comes. */
static void note_conditions(struct spread *s, size_t access,
                            const struct limits *guard)
{
    struct limits all = *guard;
    for (size_t f = 0; f < s->flow->fact_count; f++) {
        bool holds = get(s->now, f, HOLDS), fails = get(s->now, f, FAILS);
        if ((holds || fails) && all.count < LIMITS_MOST &&
            s->flow->facts[f].kind == SC_FACT_COMPARES)
            all.list[all.count++] =
                (struct sc_limit){(uint16_t)f, fails, false};
    }
    struct sc_limit *list = sc_load_alloc(s->load, all.count, sizeof *list);
    memcpy(list, all.list, all.count * sizeof *list);
    s->flow->conditions[access] = (struct sc_limits){list, all.count};
}

static void limit_address(struct spread *s, size_t access)
{
    const struct sc_inst *inst =
        &s->flow->func->insts[s->flow->origins.accesses[access].inst];
    struct limits guard = {.count = 0};
    if (inst->guarded)
        expand(s, inst->guard, !inst->guard_negate, &guard, 0);
    limit_source(s, &s->flow->addresses[access], &guard);
    note_conditions(s, access, &guard);
}

static void limit_block(struct spread *s, uint32_t block, size_t *step)
{
    struct sc_flow *flow = s->flow;
    const struct sc_block *b = &flow->cfg.blocks[block];
    memcpy(s->now, s->in[block], s->words * sizeof *s->now);
    for (uint32_t i = b->first; i < b->end; i++) {
        for (; *step < flow->step_count && flow->steps[*step]->inst == i;
             ++*step)
            limit_step(s, flow->steps[*step]);
        step_over(s, i);
    }
    for (uint32_t e = 0; e < b->succ_count; e++) {
        struct limits limits;
        edge_limits(s, block, e, &limits);
        sc_loops_note(s->load, flow, block, b->succs[e], limits.list,
                      limits.count);
    }
}

void sc_limits_find(struct sc_load *load, struct sc_flow *flow)
{
    struct spread s = {.load = load, .flow = flow};
    size_t step = 0;
    prepare(&s);
    spread_all(&s);
    flow->conditions = sc_load_alloc(load, flow->origins.access_count,
                                     sizeof *flow->conditions);
    for (uint32_t i = 0; i < flow->cfg.order_count; i++)
        limit_block(&s, flow->cfg.order[i], &step);
    for (size_t i = 0; i < flow->origins.access_count; i++) {
        uint32_t inst = flow->origins.accesses[i].inst;
        uint32_t block = flow->cfg.block_of[inst];
        if (flow->place_of[block] == UINT32_MAX)
            continue; /* nobody comes there */
        walk(&s, block, inst);
        limit_address(&s, i);
    }
}

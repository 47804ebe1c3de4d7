/*
 * Loops, the registers that count in them, and the branches that end them; see
 * ptx/flow.h.
 *
 * The order of the blocks has each loop in one piece with its head first
 * (ptx/cfg.h). Lock: none.
 */
#include "ptx/flow.h"

#include <string.h>

/* ---- loops --------------------------------------------------------------- */

static struct sc_loop *loop_at(struct sc_load *load, struct sc_flow *flow,
                               uint32_t head)
{
    for (size_t i = 0; i < flow->loop_count; i++)
        if (flow->loops[i].head == head)
            return &flow->loops[i];
    flow->loops = sc_load_grow(load, flow->loops, flow->loop_count,
                               &flow->loop_capacity, sizeof *flow->loops);
    struct sc_loop *loop = &flow->loops[flow->loop_count++];
    *loop = (struct sc_loop){.head = head,
                             .first = flow->place_of[head],
                             .end = flow->place_of[head] + 1,
                             .is_simple = true};
    return loop;
}

static bool is_inside(const struct sc_flow *flow, const struct sc_loop *loop,
                      uint32_t block)
{
    uint32_t place = flow->place_of[block];
    return place >= loop->first && place < loop->end;
}

/* Edges back to what was laid out before make loops. */
static void find_heads(struct sc_load *load, struct sc_flow *flow)
{
    for (uint32_t place = 0; place < flow->cfg.order_count; place++) {
        const struct sc_block *block =
            &flow->cfg.blocks[flow->cfg.order[place]];
        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t head = block->succs[e];
            if (flow->place_of[head] > place)
                continue;
            struct sc_loop *loop = loop_at(load, flow, head);
            if (loop->end <= place)
                loop->end = place + 1;
        }
    }
}

/* A loop with part of another in it has all of it. */
static void extend(struct sc_flow *flow)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < flow->loop_count; i++)
            for (size_t k = 0; k < flow->loop_count; k++) {
                struct sc_loop *outer = &flow->loops[i];
                const struct sc_loop *inner = &flow->loops[k];
                bool begins =
                    inner->first > outer->first && inner->first < outer->end;
                if (begins && inner->end > outer->end) {
                    outer->end = inner->end;
                    changed = true;
                }
            }
    }
}

static void check_entries(struct sc_flow *flow, struct sc_loop *loop)
{
    for (uint32_t place = 0; place < flow->cfg.order_count; place++) {
        const struct sc_block *block =
            &flow->cfg.blocks[flow->cfg.order[place]];
        bool outside = place < loop->first || place >= loop->end;
        for (uint32_t e = 0; outside && e < block->succ_count; e++)
            if (is_inside(flow, loop, block->succs[e]) &&
                block->succs[e] != loop->head)
                loop->is_simple = false;
    }
}

/* ---- ways through a loop ------------------------------------------------- */

struct ways {
    const struct sc_flow *flow;
    const struct sc_loop *loop;
    uint32_t *stack;
    bool *seen;
};

/* Is there a way from the head to `to` (UINT32_MAX: back to the head) that
 * does not come through `without`? */
static bool leads(struct ways *w, uint32_t to, uint32_t without)
{
    const struct sc_cfg *cfg = &w->flow->cfg;
    uint32_t depth = 0;
    if (without == w->loop->head || without == to)
        return false;
    if (to == w->loop->head)
        return true;
    memset(w->seen, 0, cfg->block_count * sizeof *w->seen);
    w->seen[w->loop->head] = true;
    w->stack[depth++] = w->loop->head;
    while (depth) {
        const struct sc_block *block = &cfg->blocks[w->stack[--depth]];
        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t next = block->succs[e];
            if (next == to || (to == UINT32_MAX && next == w->loop->head))
                return true;
            if (!is_inside(w->flow, w->loop, next) || next == without ||
                w->seen[next])
                continue;
            w->seen[next] = true;
            w->stack[depth++] = next;
        }
    }
    return false;
}

static struct ways ways_of(struct sc_load *load, const struct sc_flow *flow,
                           const struct sc_loop *loop)
{
    uint32_t blocks = flow->cfg.block_count;
    return (struct ways){flow, loop,
                         sc_load_alloc(load, blocks, sizeof(uint32_t)),
                         sc_load_alloc(load, blocks, sizeof(bool))};
}

/* ---- counters ------------------------------------------------------------ */

static uint32_t block_of(const struct sc_flow *flow, const struct sc_step *step)
{
    return flow->cfg.block_of[step->inst];
}

static bool is_in_inner(const struct sc_flow *flow, const struct sc_loop *loop,
                        uint32_t block)
{
    for (size_t i = 0; i < flow->loop_count; i++) {
        const struct sc_loop *other = &flow->loops[i];
        if (other->first > loop->first && is_inside(flow, loop, other->head) &&
            is_inside(flow, other, block))
            return true;
    }
    return false;
}

static const struct sc_variable *variable_of(const struct sc_flow *flow,
                                             uint32_t reg)
{
    for (size_t i = 0; i < flow->variable_count; i++)
        if (flow->variables[i].reg == reg)
            return &flow->variables[i];
    return NULL;
}

/* The step that adds to the variable: `closing` itself, or what it copies. */
static const struct sc_step *advance_of(const struct sc_flow *flow,
                                        const struct sc_loop *loop,
                                        const struct sc_step *closing)
{
    const struct sc_step *step = closing;
    if (step->kind == SC_STEP_COPY && step->from_bits == step->bits &&
        step->from[0].kind == SC_SOURCE_REG) {
        const struct sc_variable *v = variable_of(flow, step->from[0].reg);
        if (!v || v->step_count != 1 ||
            !is_inside(flow, loop, block_of(flow, v->steps[0])) ||
            is_in_inner(flow, loop, block_of(flow, v->steps[0])))
            return NULL;
        step = v->steps[0];
    }
    bool adds = step->kind == SC_STEP_ADD || step->kind == SC_STEP_SUB;
    bool from =
        step->from[0].kind == SC_SOURCE_REG && step->from[0].reg == closing->to;
    bool guarded = flow->func->insts[closing->inst].guarded ||
                   flow->func->insts[step->inst].guarded;
    return adds && from && !guarded &&
                   step->bits == sc_flow_bits(flow->func, closing->to) &&
                   step->from[1].kind != SC_SOURCE_ANY &&
                   !(step->from[1].kind == SC_SOURCE_REG &&
                     step->from[1].reg == closing->to)
               ? step
               : NULL;
}

/* Is the variable set anew each time before the loop is entered? Otherwise it
 * goes on from where the loop left it. */
static bool begins_anew(struct sc_load *load, const struct sc_flow *flow,
                        const struct sc_loop *loop, const struct sc_variable *v)
{
    const struct sc_loop *around = NULL;
    for (size_t i = 0; i < flow->loop_count; i++) {
        const struct sc_loop *l = &flow->loops[i];
        if (l->head != loop->head && is_inside(flow, l, loop->head) &&
            (!around || l->end - l->first < around->end - around->first))
            around = l;
    }
    if (!around)
        return true;
    struct ways w = ways_of(load, flow, around);
    for (uint32_t i = 0; around->is_simple && i < v->step_count; i++) {
        uint32_t block = block_of(flow, v->steps[i]);
        bool guarded = flow->func->insts[v->steps[i]->inst].guarded;
        if (!guarded && is_inside(flow, around, block) &&
            !is_inside(flow, loop, block) && !leads(&w, loop->head, block))
            return true;
    }
    return false;
}

static void find_counter(struct sc_load *load, struct sc_flow *flow,
                         struct sc_loop *loop, struct sc_variable *v)
{
    const struct sc_step *closing = NULL;
    for (uint32_t i = 0; i < v->step_count; i++) {
        if (!is_inside(flow, loop, block_of(flow, v->steps[i])))
            continue;
        if (closing)
            return;
        closing = v->steps[i];
    }
    if (!closing || v->step_count < 2 || v->counter ||
        is_in_inner(flow, loop, block_of(flow, closing)))
        return;
    const struct sc_step *advance = advance_of(flow, loop, closing);
    if (!advance || !begins_anew(load, flow, loop, v))
        return;
    struct ways w = ways_of(load, flow, loop);
    struct sc_counter *counter = sc_load_alloc(load, 1, sizeof *counter);
    *counter = (struct sc_counter){
        v, loop, advance, closing,
        !leads(&w, UINT32_MAX, block_of(flow, closing)) &&
            !leads(&w, block_of(flow, closing), block_of(flow, advance))};
    v->counter = counter;
}

void sc_loops_find(struct sc_load *load, struct sc_flow *flow)
{
    find_heads(load, flow);
    extend(flow);
    for (size_t i = 0; i < flow->loop_count; i++) {
        struct sc_loop *loop = &flow->loops[i];
        check_entries(flow, loop);
        for (size_t v = 0; loop->is_simple && v < flow->variable_count; v++)
            find_counter(load, flow, loop, &flow->variables[v]);
    }
}

/* ---- ends of loops ------------------------------------------------------- */

/* Does the instruction come before the end of the block each time around? */
static bool comes_before(struct ways *w, uint32_t inst, uint32_t block)
{
    uint32_t own = w->flow->cfg.block_of[inst];
    return own == block || !leads(w, block, own);
}

/* The counter whose value, or next value, the register has at the end of the
 * block. */
static void note_test(struct sc_load *load, struct sc_flow *flow,
                      struct ways *w, struct sc_loop *loop, uint32_t block,
                      struct sc_limit limit)
{
    const struct sc_fact *fact = &flow->facts[limit.fact];
    const struct sc_source *source = &fact->from[limit.turned];
    for (size_t i = 0; i < flow->variable_count; i++) {
        const struct sc_counter *c = flow->variables[i].counter;
        if (!c || c->loop != loop || !c->each_time ||
            source->kind != SC_SOURCE_REG)
            continue;
        bool itself = c->variable->reg == source->reg;
        bool next = c->advance != c->closing && c->advance->to == source->reg;
        if ((!itself && !next) ||
            (next && !comes_before(w, c->advance->inst, block)))
            continue;
        bool advanced = next || comes_before(w, c->closing->inst, block);
        bool behind = !leads(w, block_of(flow, c->closing), block);
        loop->tests = sc_load_grow(load, loop->tests, loop->test_count,
                                   &loop->test_capacity, sizeof *loop->tests);
        loop->tests[loop->test_count++] =
            (struct sc_test){c, limit, advanced, advanced || behind};
    }
}

void sc_loops_note(struct sc_load *load, struct sc_flow *flow, uint32_t block,
                   uint32_t stays, const struct sc_limit *limits,
                   uint32_t count)
{
    for (size_t i = 0; count && i < flow->loop_count; i++) {
        struct sc_loop *loop = &flow->loops[i];
        const struct sc_block *b = &flow->cfg.blocks[block];
        bool leaves = b->succ_count < 2;
        for (uint32_t e = 0; e < b->succ_count; e++)
            leaves |= !is_inside(flow, loop, b->succs[e]);
        if (!loop->is_simple || !leaves || !is_inside(flow, loop, block) ||
            !is_inside(flow, loop, stays))
            continue;
        struct ways w = ways_of(load, flow, loop);
        if (leads(&w, UINT32_MAX, block))
            continue;
        for (uint32_t k = 0; k < count; k++)
            for (int side = 0; side < 2; side++) {
                struct sc_limit limit = limits[k];
                limit.turned = side;
                note_test(load, flow, &w, loop, block, limit);
            }
    }
}

/*
 * Blocks, edges and loop-contiguous layout; see ptx/cfg.h.
 *
 * The layout is Bourdoncle's weak topological order, found by taking strongly
 * connected components apart again and again. Lock: none.
 */
#include "ptx/cfg.h"

#include <string.h>

#define MAX_LOOP_DEPTH 64u
#define UNSEEN         UINT32_MAX

bool sc_cfg_ends_block(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_bra:
    case SC_OP_brx:
    case SC_OP_ret:
    case SC_OP_exit:
    case SC_OP_trap:
        return true;
    default:
        return false;
    }
}

static uint32_t target_count(const struct sc_inst *inst)
{
    if (inst->opcode == SC_OP_bra && inst->operand_count == 1)
        return 1;
    if (inst->opcode == SC_OP_brx && inst->operand_count == 2)
        return inst->operands[1].targets->count;
    return 0;
}

static uint32_t target_of(const struct sc_inst *inst, uint32_t index)
{
    if (inst->opcode == SC_OP_bra)
        return inst->operands[0].target;
    return inst->operands[1].targets->labels[index].target;
}

static void check_targets(struct sc_load *load, const struct sc_inst *inst)
{
    bool good = true;
    if (inst->opcode == SC_OP_bra)
        good = inst->operand_count == 1 &&
               inst->operands[0].kind == SC_OPERAND_LABEL;
    else if (inst->opcode == SC_OP_brx)
        good = inst->operand_count == 2 &&
               inst->operands[1].kind == SC_OPERAND_LABEL;
    if (!good)
        sc_load_fail(load, SC_LOAD_INVALID, inst->line,
                     "branch without a label: '%.*s'", (int)inst->text_length,
                     inst->text);
}

/* block_of first marks leaders with 1, then holds block numbers */
static void find_blocks(struct sc_load *load, const struct sc_func *func,
                        struct sc_cfg *cfg)
{
    uint32_t n = (uint32_t)func->inst_count;
    cfg->block_of = sc_load_alloc(load, n + 1, sizeof *cfg->block_of);
    cfg->block_of[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct sc_inst *inst = &func->insts[i];
        check_targets(load, inst);
        for (uint32_t k = 0; k < target_count(inst); k++)
            cfg->block_of[target_of(inst, k)] = 1;
        if (sc_cfg_ends_block(inst))
            cfg->block_of[i + 1] = 1;
    }
    cfg->block_of[n] = 1; /* falling off the end is a return of its own */
    uint32_t count = 0;
    for (uint32_t i = 0; i <= n; i++)
        count += cfg->block_of[i];
    cfg->blocks = sc_load_alloc(load, count, sizeof *cfg->blocks);
    cfg->block_count = count;
    uint32_t block = UNSEEN;
    for (uint32_t i = 0; i <= n; i++) {
        block += cfg->block_of[i];
        if (cfg->block_of[i])
            cfg->blocks[block].first = i;
        cfg->blocks[block].end = i < n ? i + 1 : i;
        cfg->block_of[i] = block;
    }
}

static void find_edges(struct sc_load *load, const struct sc_func *func,
                       struct sc_cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        struct sc_block *block = &cfg->blocks[b];
        const struct sc_inst *last =
            block->end > block->first ? &func->insts[block->end - 1] : NULL;
        bool ends = last && sc_cfg_ends_block(last);
        uint32_t targets = ends ? target_count(last) : 0;
        block->falls = b + 1 < cfg->block_count && (!ends || last->guarded);
        block->succs = sc_load_alloc(load, targets + 1, sizeof *block->succs);
        if (block->falls)
            block->succs[block->succ_count++] = b + 1;
        for (uint32_t k = 0; k < targets; k++)
            block->succs[block->succ_count++] =
                cfg->block_of[target_of(last, k)];
    }
}

/* State of the component search; arrays by block, `path` by depth. */
struct layout {
    struct sc_load *load;
    struct sc_cfg *cfg;
    uint32_t *region; /* component a block is being ordered in */
    uint32_t *index, *low;
    bool *open;
    uint32_t *stack, *path, *edge;
    uint32_t regions;
};

struct components {
    uint32_t *nodes; /* one component behind the other */
    uint32_t *ends;
    uint32_t count;
};

static void close_component(struct layout *l, uint32_t node, uint32_t *stacked,
                            struct components *out)
{
    uint32_t at = out->count ? out->ends[out->count - 1] : 0;
    uint32_t member;
    do {
        member = l->stack[--*stacked];
        l->open[member] = false;
        out->nodes[at++] = member;
    } while (member != node);
    out->ends[out->count++] = at;
}

/* Tarjan's algorithm without recursion, from `head`, ignoring edges into it
 * and out of its region; components come out in reverse topological order
 * with the node they were entered by last. */
static void find_components(struct layout *l, uint32_t head,
                            struct components *out)
{
    uint32_t counter = 0, stacked = 0, depth = 1;
    l->path[0] = head;
    l->edge[0] = 0;
    l->index[head] = l->low[head] = counter++;
    l->stack[stacked++] = head;
    l->open[head] = true;
    while (depth) {
        uint32_t node = l->path[depth - 1];
        const struct sc_block *block = &l->cfg->blocks[node];
        if (l->edge[depth - 1] < block->succ_count) {
            uint32_t next = block->succs[l->edge[depth - 1]++];
            if (next == head || l->region[next] != l->region[head])
                continue;
            if (l->index[next] == UNSEEN) {
                l->index[next] = l->low[next] = counter++;
                l->stack[stacked++] = next;
                l->open[next] = true;
                l->path[depth] = next;
                l->edge[depth++] = 0;
            } else if (l->open[next] && l->index[next] < l->low[node]) {
                l->low[node] = l->index[next];
            }
            continue;
        }
        depth--;
        if (depth && l->low[node] < l->low[l->path[depth - 1]])
            l->low[l->path[depth - 1]] = l->low[node];
        if (l->low[node] == l->index[node])
            close_component(l, node, &stacked, out);
    }
}

static void order_region(struct layout *l, uint32_t head, uint32_t size,
                         uint32_t nesting)
{
    struct sc_cfg *cfg = l->cfg;
    struct components out = {
        .nodes = sc_load_alloc(l->load, size, sizeof *out.nodes),
        .ends = sc_load_alloc(l->load, size, sizeof *out.ends)};
    find_components(l, head, &out);
    for (uint32_t c = out.count; c-- > 0;) {
        uint32_t first = c ? out.ends[c - 1] : 0, end = out.ends[c];
        uint32_t entered = out.nodes[end - 1];
        if (end - first == 1 || nesting == MAX_LOOP_DEPTH) {
            for (uint32_t i = end; i-- > first;)
                cfg->order[cfg->order_count++] = out.nodes[i];
            continue;
        }
        l->regions++;
        for (uint32_t i = first; i < end; i++) {
            l->region[out.nodes[i]] = l->regions;
            l->index[out.nodes[i]] = UNSEEN;
        }
        order_region(l, entered, end - first, nesting + 1);
    }
}

void sc_cfg_build(struct sc_load *load, const struct sc_func *func,
                  struct sc_cfg *cfg)
{
    memset(cfg, 0, sizeof *cfg);
    find_blocks(load, func, cfg);
    find_edges(load, func, cfg);
    uint32_t n = cfg->block_count;
    cfg->order = sc_load_alloc(load, n, sizeof *cfg->order);
    struct layout l = {.load = load, .cfg = cfg};
    l.region = sc_load_alloc(load, n, sizeof *l.region);
    l.index = sc_load_alloc(load, n, sizeof *l.index);
    l.low = sc_load_alloc(load, n, sizeof *l.low);
    l.open = sc_load_alloc(load, n, sizeof *l.open);
    l.stack = sc_load_alloc(load, n, sizeof *l.stack);
    l.path = sc_load_alloc(load, n, sizeof *l.path);
    l.edge = sc_load_alloc(load, n, sizeof *l.edge);
    memset(l.index, 0xff, n * sizeof *l.index);
    order_region(&l, 0, n, 0);
    for (uint32_t i = 0; i < cfg->order_count; i++) {
        const struct sc_block *block = &cfg->blocks[cfg->order[i]];
        for (uint32_t k = 0; k < block->succ_count; k++)
            cfg->blocks[block->succs[k]].pred_count++;
    }
}

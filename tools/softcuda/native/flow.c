/*
 * Places, post-dominators, loops, and where lanes part and meet; see
 * native/gen.h.
 *
 * After a branch that may part lanes, every place up to the one where all of
 * them meet again gets a label: which way out of the branch leads there, or,
 * where two ways join, a label of its own. Two lanes that parted at the branch
 * and stand at places with the same label must have met there. Lock: none.
 */
#include "native/gen.h"

#include <string.h>

/* Words of register sets that are or'ed for one kernel: some seconds. */
#define MOST_COMPARED ((uint64_t)1 << 32)

/* ---- edges ---- */

static bool leaves(const struct sc_inst *inst)
{
    return inst->opcode == SC_OP_ret || inst->opcode == SC_OP_exit ||
           inst->opcode == SC_OP_trap;
}

/* Lanes that are to return need not wait for each other. */
uint32_t sc_gen_place(const struct sc_gen *gen, uint32_t block)
{
    const struct sc_block *b = &gen->cfg.blocks[block];
    if (b->first == gen->func->inst_count)
        return gen->count;
    const struct sc_inst *inst = &gen->func->insts[b->first];
    bool ends = inst->opcode == SC_OP_ret || inst->opcode == SC_OP_exit;
    return ends && !inst->guarded ? gen->count : gen->place_of[block];
}

static void fill_place(struct sc_gen *gen, uint32_t i)
{
    uint32_t number = gen->cfg.order[i];
    const struct sc_block *block = &gen->cfg.blocks[number];
    struct sc_place *p = &gen->places[i];
    uint32_t end = (uint32_t)gen->func->inst_count;
    *p = (struct sc_place){.first = block->first,
                           .end = block->end,
                           .falls = block->falls,
                           .loop_end = SC_NONE,
                           .loop_head = SC_NONE};
    p->succs =
        sc_load_alloc(&gen->load, block->succ_count + 2, sizeof *p->succs);
    for (uint32_t k = 0; k < block->succ_count; k++)
        p->succs[p->succ_count++] = sc_gen_place(gen, block->succs[k]);
    bool past = block->first == end;
    if (past)
        p->end = p->first;
    if (past || leaves(&gen->func->insts[block->end - 1]) || !p->succ_count)
        p->succs[p->succ_count++] = gen->count;
}

/* ---- post-dominators, by the usual intersection of trees ---- */

static uint32_t meet(const struct sc_gen *gen, uint32_t a, uint32_t b)
{
    /* every chain ends at the end of the kernel; depth is found by walking */
    uint32_t da = 0, db = 0;
    for (uint32_t x = a; x != gen->count; x = gen->places[x].pdom)
        da++;
    for (uint32_t x = b; x != gen->count; x = gen->places[x].pdom)
        db++;
    for (; da > db; da--)
        a = gen->places[a].pdom;
    for (; db > da; db--)
        b = gen->places[b].pdom;
    while (a != b) {
        a = gen->places[a].pdom;
        b = gen->places[b].pdom;
    }
    return a;
}

static bool has_pdom(const struct sc_gen *gen, uint32_t place)
{
    return place == gen->count || gen->places[place].pdom != SC_NONE;
}

static bool settle_pdoms(struct sc_gen *gen)
{
    bool changed = false;
    for (uint32_t i = gen->count; i-- > 0;) {
        struct sc_place *p = &gen->places[i];
        uint32_t found = SC_NONE;
        for (uint32_t k = 0; k < p->succ_count; k++) {
            uint32_t s = p->succs[k];
            if (has_pdom(gen, s))
                found = found == SC_NONE ? s : meet(gen, found, s);
        }
        if (found != SC_NONE && found != p->pdom) {
            p->pdom = found;
            changed = true;
        }
    }
    return changed;
}

/* An endless loop gets an edge to the end, which is never taken. */
static void find_pdoms(struct sc_gen *gen)
{
    for (uint32_t i = 0; i < gen->count; i++)
        gen->places[i].pdom = SC_NONE;
    for (;;) {
        while (settle_pdoms(gen)) {
        }
        uint32_t i = gen->count;
        while (i > 0 && gen->places[i - 1].pdom != SC_NONE)
            i--;
        if (i == 0)
            return;
        struct sc_place *p = &gen->places[i - 1];
        p->succs[p->succ_count++] = gen->count;
    }
}

static void find_loops(struct sc_gen *gen)
{
    for (uint32_t t = 0; t < gen->count; t++) {
        const struct sc_place *latch = &gen->places[t];
        for (uint32_t k = 0; k < latch->succ_count; k++) {
            uint32_t head = latch->succs[k];
            for (uint32_t i = head; head <= t && i <= t; i++) {
                struct sc_place *p = &gen->places[i];
                /* of two loops around a place the shorter is the inner one */
                if (p->loop_head == SC_NONE || p->loop_head == head ||
                    p->loop_end - p->loop_head > t - head) {
                    bool same = p->loop_head == head;
                    p->loop_head = head;
                    p->loop_end = same && p->loop_end > t ? p->loop_end : t;
                }
            }
        }
    }
}

void sc_gen_flow(struct sc_gen *gen)
{
    sc_cfg_build(&gen->load, gen->func, &gen->cfg);
    gen->count = gen->cfg.order_count;
    gen->places = sc_load_alloc(&gen->load, gen->count, sizeof *gen->places);
    gen->place_of =
        sc_load_alloc(&gen->load, gen->cfg.block_count, sizeof *gen->place_of);
    for (uint32_t i = 0; i < gen->count; i++)
        gen->place_of[gen->cfg.order[i]] = i;
    for (uint32_t i = 0; i < gen->count; i++)
        fill_place(gen, i);
    find_pdoms(gen);
    find_loops(gen);
}

/* ---- where lanes part ---- */

/* Marks what is reached from the end of `place` without passing `stop`;
 * returns the last place reached. */
static uint32_t reach(const struct sc_gen *gen, uint32_t place, uint32_t stop,
                      bool *in, uint32_t *stack)
{
    uint32_t depth = 0, last = place;
    memset(in, 0, gen->count);
    stack[depth++] = place;
    while (depth) {
        const struct sc_place *p = &gen->places[stack[--depth]];
        for (uint32_t k = 0; k < p->succ_count; k++) {
            uint32_t s = p->succs[k];
            if (s == stop || s == gen->count || in[s])
                continue;
            in[s] = true;
            last = s > last ? s : last;
            stack[depth++] = s;
        }
    }
    return last;
}

/* The label of `at` from those of its predecessors; `from` is the branch. */
static uint32_t join(uint32_t have, uint32_t got, uint32_t at)
{
    return !have || have == got ? got : at + 1;
}

static bool label_once(const struct sc_gen *gen, uint32_t from, const bool *in,
                       uint32_t stop, uint32_t *labels, uint32_t *fresh)
{
    memset(fresh, 0, (gen->count + 1) * sizeof *fresh);
    for (uint32_t i = 0; i < gen->count; i++) {
        const struct sc_place *p = &gen->places[i];
        for (uint32_t k = 0; k < p->succ_count; k++) {
            uint32_t s = p->succs[k];
            if (s != stop && (s == gen->count || !in[s]))
                continue;
            uint32_t label = i == from ? s + 1 : in[i] ? labels[i] : 0;
            if (label)
                fresh[s] = join(fresh[s], label, s);
        }
    }
    bool changed = memcmp(fresh, labels, (gen->count + 1) * sizeof *fresh);
    memcpy(labels, fresh, (gen->count + 1) * sizeof *fresh);
    return changed;
}

void sc_gen_split(struct sc_gen *gen, uint32_t place)
{
    struct sc_place *p = &gen->places[place];
    uint32_t n = gen->count, stop = p->pdom;
    if (p->labels)
        return;
    bool *in = sc_load_alloc(&gen->load, n + 1, sizeof *in);
    uint32_t *scratch = sc_load_alloc(&gen->load, n + 2, sizeof *scratch);
    /* lanes meet only at a place behind all ways that lead to it */
    while (reach(gen, place, stop, in, scratch) >= stop)
        stop = gen->places[stop].pdom;
    p->labels = sc_load_alloc(&gen->load, n + 1, sizeof *p->labels);
    /* labels settle after a pass per nested loop; the bound is for odd graphs,
     * where every place then counts as a way of its own */
    uint32_t left = n + 8;
    while (label_once(gen, place, in, stop, p->labels, scratch) && --left) {
    }
    for (uint32_t i = 0; i < n; i++) {
        gen->places[i].diverged |= in[i];
        if (!left && in[i])
            p->labels[i] = i + 1;
    }
    if (stop < n)
        p->labels[stop] = stop + 1;
}

static bool parted(const uint32_t *labels, uint32_t a, uint32_t b)
{
    return labels && labels[a] && labels[b] && labels[a] != labels[b];
}

/* Places that a branch labels, in order: mostly few of a large kernel's. */
static uint32_t labelled(const struct sc_gen *gen, const uint32_t *labels,
                         uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gen->count; i++)
        if (labels[i])
            list[n++] = i;
    return n;
}

static void clash_of(struct sc_gen *gen, const uint32_t *labels,
                     const uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sc_place *p = &gen->places[list[i]];
        if (!p->diverged)
            continue;
        for (uint32_t j = i + 1; j < n; j++) {
            if (!parted(labels, list[i], list[j]))
                continue;
            gen->compared += gen->words;
            for (uint32_t w = 0; w < gen->words; w++)
                p->clash[w] |= gen->places[list[j]].live_in[w];
        }
        if (gen->compared > MOST_COMPARED)
            sc_gen_refuse(gen, "the kernel's branches are too many to compare");
    }
}

void sc_gen_clash(struct sc_gen *gen)
{
    uint32_t *list = sc_load_alloc(&gen->load, gen->count + 1, sizeof *list);
    for (uint32_t b = 0; b < gen->count; b++) {
        const uint32_t *labels = gen->places[b].labels;
        if (labels)
            clash_of(gen, labels, list, labelled(gen, labels, list));
    }
}

bool sc_gen_clashes(const struct sc_gen *gen, uint32_t place, uint32_t reg)
{
    const struct sc_place *p = &gen->places[place];
    return p->diverged && sc_bits_has(p->clash, reg) && !gen->same[reg] &&
           (gen->defs[reg] > 1 || p->loop_head != SC_NONE);
}

uint32_t sc_gen_next(const struct sc_gen *gen, uint32_t place)
{
    uint32_t next = gen->count;
    for (uint32_t b = 0; b < gen->count; b++) {
        const uint32_t *labels = gen->places[b].labels;
        if (!labels || !labels[place])
            continue;
        for (uint32_t j = place + 1; j < next; j++)
            if (labels[j])
                next = j;
    }
    return next;
}

bool sc_gen_waits(const struct sc_gen *gen, uint32_t place, uint32_t target)
{
    for (uint32_t b = 0; b < gen->count; b++) {
        const uint32_t *labels = gen->places[b].labels;
        for (uint32_t j = place + 1; labels && j < target; j++)
            if (parted(labels, place, j))
                return true;
    }
    return false;
}

/*
 * Writes places: labels, masks, branches; see native/emit.h.
 *
 * Place i has the labels T<i>, where it is asked whether lanes wait there, and
 * B<i>, where they go on; m<i>_<part> are the lanes that wait. The lanes at
 * the lowest place run, so a way back finds nobody at the places before it.
 * Where no lane of the group can be elsewhere there are no masks. Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

static bool is_diverged(const struct sc_gen *gen, uint32_t place)
{
    return place < gen->count && gen->places[place].diverged;
}

/* ---- edges ---- */

/* Lanes of the masks `name` leave `from` for `to`. */
static void put_join(struct sc_gen *gen, uint32_t from, uint32_t to, char name)
{
    if (!is_diverged(gen, to))
        return;
    for (uint32_t part = 0; part < gen->parts; part++) {
        char lanes[32];
        if (name)
            snprintf(lanes, sizeof lanes, "%c%u", name, part);
        else
            snprintf(lanes, sizeof lanes, "m_full()");
        if (is_diverged(gen, from) && to > from)
            sc_put(gen, "m%u_%u = m_or(m%u_%u, %s);\n", to, part, to, part,
                   lanes);
        else
            sc_put(gen, "m%u_%u = %s;\n", to, part, lanes);
    }
}

/* The lowest place with lanes of the group is behind `from`. */
static void put_next(struct sc_gen *gen, uint32_t from)
{
    uint32_t next =
        is_diverged(gen, from) ? sc_gen_next(gen, from) : gen->count;
    if (next == gen->count)
        sc_put(gen, "goto done;\n");
    else
        sc_put(gen, "goto T%u;\n", next);
}

/* Go on where lanes of `from` went, to `to` or with those that wait before
 * it. */
static void put_go(struct sc_gen *gen, uint32_t from, uint32_t to)
{
    if (to <= from) {
        sc_rt_need(gen, "poll", SC_ELEMENT_u32);
        sc_put(gen, "if (!--left) left = poll(cta);\ngoto B%u;\n", to);
    } else if (to == gen->count ||
               (is_diverged(gen, from) && sc_gen_waits(gen, from, to))) {
        put_next(gen, from);
    } else {
        sc_put(gen, "goto B%u;\n", to);
    }
}

/* All lanes of the place go to `to`. */
static void put_edge(struct sc_gen *gen, uint32_t to)
{
    put_join(gen, gen->place, to, gen->mask);
    put_go(gen, gen->place, to);
}

static void put_any(struct sc_gen *gen, char name)
{
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%sm_any(%c%u)", part ? " | " : "", name, part);
}

/* Masks X: lanes whose guard holds; Y: the others. */
static void put_ways(struct sc_gen *gen, const struct sc_inst *inst)
{
    for (uint32_t part = 0; part < gen->parts; part++) {
        const char *both[] = {"m_and", "m_andn"};
        struct sc_value all = sc_emit_mask(gen, part);
        bool flip = inst->guard_negate;
        sc_put(gen, "const vm X%u = %s(%s, v%u_%u), Y%u = %s(%s, v%u_%u);\n",
               part, both[flip], all.text, inst->guard, part, part, both[!flip],
               all.text, inst->guard, part);
    }
}

/* A branch, or a return, with a guard. */
static void put_fork(struct sc_gen *gen, const struct sc_inst *inst,
                     uint32_t taken, uint32_t rest)
{
    uint32_t at = gen->place;
    if (taken == rest) {
        put_edge(gen, taken);
        return;
    }
    if (!sc_gen_varies(gen, inst->guard)) {
        sc_put(gen, "if (%sr%u) {\n", inst->guard_negate ? "!" : "",
               inst->guard);
        put_edge(gen, taken);
        sc_put(gen, "}\n");
        put_edge(gen, rest);
        return;
    }
    bool first = taken < rest;
    uint32_t low = first ? taken : rest, high = first ? rest : taken;
    sc_put(gen, "{\n");
    put_ways(gen, inst);
    put_join(gen, at, high, first ? 'Y' : 'X');
    sc_put(gen, "if (");
    put_any(gen, first ? 'X' : 'Y');
    sc_put(gen, ") {\n");
    put_join(gen, at, low, first ? 'X' : 'Y');
    put_go(gen, at, low);
    sc_put(gen, "}\n");
    put_go(gen, at, high);
    sc_put(gen, "}\n");
}

/* ---- jump tables ---- */

static uint32_t target_at(const struct sc_gen *gen,
                          const struct sc_targets *targets, uint32_t i)
{
    uint32_t block = gen->cfg.block_of[targets->labels[i].target];
    return sc_gen_place(gen, block);
}

static void put_bad_index(struct sc_gen *gen, const struct sc_inst *inst)
{
    sc_put(gen, "cta->services->fail(cta, FAIL_INSTRUCTION, %u, 0);\n",
           inst->line);
}

static void put_table(struct sc_gen *gen, const struct sc_inst *inst,
                      const struct sc_targets *targets)
{
    struct sc_value index =
        sc_gen_scalar(gen, &inst->operands[0], SC_LANE_32, SC_T_u32);
    sc_put(gen, "switch (%s) {\n", index.text);
    for (uint32_t i = 0; i < targets->count; i++) {
        sc_put(gen, "case %u:\n", i);
        put_edge(gen, target_at(gen, targets, i));
    }
    sc_put(gen, "}\n");
    put_bad_index(gen, inst);
}

/* X: lanes whose index leads to place `to`. */
static void put_lanes_for(struct sc_gen *gen, const struct sc_inst *inst,
                          const struct sc_targets *targets, uint32_t to)
{
    for (uint32_t part = 0; part < gen->parts; part++) {
        struct sc_value index =
            sc_gen_vector(gen, &inst->operands[0], SC_LANE_32, SC_T_u32, part);
        sc_put(gen, "vm X%u = m_none();\n", part);
        for (uint32_t i = 0; i < targets->count; i++)
            if (target_at(gen, targets, i) == to)
                sc_put(gen, "X%u = m_or(X%u, v_eq32(%s, v_bc32(%u)));\n", part,
                       part, index.text, i);
        sc_put(gen, "X%u = m_and(X%u, %s);\n", part, part,
               sc_emit_mask(gen, part).text);
    }
}

static void put_varying_table(struct sc_gen *gen, const struct sc_inst *inst,
                              const struct sc_targets *targets)
{
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(
            gen, "if (m_any(m_andn(%s, v_ltu32(%s, v_bc32(%u)))))\n",
            sc_emit_mask(gen, part).text,
            sc_gen_vector(gen, &inst->operands[0], SC_LANE_32, SC_T_u32, part)
                .text,
            targets->count),
            put_bad_index(gen, inst);
    uint32_t low = gen->count;
    for (uint32_t i = 0; i < targets->count; i++) {
        uint32_t to = target_at(gen, targets, i);
        bool seen = false;
        for (uint32_t k = 0; k < i; k++)
            seen |= target_at(gen, targets, k) == to;
        low = to < low ? to : low;
        if (to <= gen->place)
            sc_gen_refuse(gen, "the generator lacks tables that lead back");
        if (seen || !is_diverged(gen, to))
            continue;
        sc_put(gen, "{\n");
        put_lanes_for(gen, inst, targets, to);
        put_join(gen, gen->place, to, 'X');
        sc_put(gen, "}\n");
    }
    if (is_diverged(gen, gen->place))
        put_next(gen, gen->place);
    else if (low == gen->count)
        sc_put(gen, "goto done;\n");
    else
        sc_put(gen, "goto T%u;\n", low);
}

/* ---- ends of places ---- */

static void put_trap(struct sc_gen *gen, const struct sc_inst *inst)
{
    const char *not = inst->guard_negate ? "!" : "";
    if (inst->guarded && sc_gen_varies(gen, inst->guard)) {
        sc_put(gen, "{\n");
        put_ways(gen, inst);
        sc_put(gen, "if (");
        put_any(gen, 'X');
        sc_put(gen, ")\n");
    } else if (inst->guarded) {
        sc_put(gen, "{ if (%sr%u)\n", not, inst->guard);
    } else {
        sc_put(gen, "{\n");
    }
    sc_put(gen, "cta->services->fail(cta, FAIL_TRAP, %u, 0);\n}\n", inst->line);
}

static void put_end(struct sc_gen *gen, const struct sc_inst *inst)
{
    const struct sc_place *p = &gen->places[gen->place];
    uint32_t falls = p->falls ? p->succs[0] : gen->count;
    switch (inst->opcode) {
    case SC_OP_bra: {
        uint32_t to = p->succs[p->falls ? 1 : 0];
        if (inst->guarded)
            put_fork(gen, inst, to, falls);
        else
            put_edge(gen, to);
        return;
    }
    case SC_OP_brx:
        if (inst->guarded)
            sc_gen_refuse(gen, "the generator lacks tables with a guard");
        if (sc_shape_is_uniform(sc_gen_shape(gen, &inst->operands[0])))
            put_table(gen, inst, inst->operands[1].targets);
        else
            put_varying_table(gen, inst, inst->operands[1].targets);
        return;
    case SC_OP_trap:
        put_trap(gen, inst);
        put_edge(gen, falls);
        return;
    default:
        if (inst->guarded)
            put_fork(gen, inst, gen->count, falls);
        else
            put_edge(gen, gen->count);
    }
}

/* ---- barriers ---- */

bool sc_emit_is_barrier(const struct sc_inst *inst)
{
    return (inst->opcode == SC_OP_bar || inst->opcode == SC_OP_barrier) &&
           !sc_inst_has(inst, SC_MOD_warp);
}

static void check_barrier(struct sc_gen *gen, const struct sc_inst *inst)
{
    const struct sc_operand *id =
        &inst->operands[sc_inst_has(inst, SC_MOD_red) ? 1 : 0];
    if (sc_inst_has(inst, SC_MOD_red))
        sc_gen_refuse(gen, "the generator lacks reductions at barriers");
    if (inst->operand_count > 0 &&
        (id->kind != SC_OPERAND_INT || id->bits != 0))
        sc_gen_refuse(gen, "the generator lacks barriers other than number 0");
    if (is_diverged(gen, gen->place) &&
        (inst->operand_count > 1 || sc_gen_waits(gen, gen->place, gen->count)))
        sc_gen_refuse(gen, "lanes may wait for each other at barriers");
}

static void note_saved(struct sc_gen *gen, const sc_bits *live)
{
    for (uint32_t r = 0; r < gen->reg_count; r++) {
        if (!sc_bits_has(live, r) || gen->steady[r])
            continue;
        sc_bits_add(gen->saved, r);
        if (gen->shapes[r].kind == SC_SHAPE_LINEAR &&
            gen->shapes[r].widen != SC_NONE)
            gen->saved_widens[gen->shapes[r].widen] = true;
    }
}

static uint64_t saved_bytes(const struct sc_gen *gen)
{
    uint64_t bytes = (uint64_t)gen->parts * 4 * gen->lanes; /* the masks */
    for (uint32_t r = 0; r < gen->reg_count; r++) {
        enum sc_lane_class class = sc_gen_class(gen, r);
        if (!sc_bits_has(gen->saved, r))
            continue;
        if (!sc_gen_varies(gen, r))
            bytes += 8;
        else
            bytes += (uint64_t)gen->parts * gen->lanes *
                     (class == SC_LANE_64 ? 8 : 4);
    }
    for (size_t i = 0; i < gen->func->inst_count; i++)
        bytes += gen->saved_widens[i] ? 16 : 0;
    return (bytes + 63) & ~(uint64_t)63;
}

void sc_emit_plan_barriers(struct sc_gen *gen)
{
    sc_bits *live = sc_load_alloc(&gen->load, gen->words, sizeof *live);
    gen->saved = sc_load_alloc(&gen->load, gen->words, sizeof *gen->saved);
    gen->saved_widens = sc_load_alloc(&gen->load, gen->func->inst_count + 1,
                                      sizeof *gen->saved_widens);
    for (gen->place = 0; gen->place < gen->count; gen->place++) {
        const struct sc_place *p = &gen->places[gen->place];
        for (uint32_t i = p->first; i < p->end; i++) {
            gen->inst = &gen->func->insts[i];
            if (!sc_emit_is_barrier(gen->inst))
                continue;
            check_barrier(gen, gen->inst);
            sc_gen_live_before(gen, gen->place, i + 1, live);
            note_saved(gen, live);
        }
    }
    gen->inst = NULL;
    gen->save_bytes =
        gen->has_barrier && gen->groups > 1 ? saved_bytes(gen) : 0;
}

void sc_emit_saved(struct sc_gen *gen, struct sc_text *text)
{
    sc_text_put(gen, text, "struct saved {\n");
    for (int scalars = 0; scalars < 2; scalars++)
        for (uint32_t r = 0; r < gen->reg_count; r++) {
            if (!sc_bits_has(gen->saved, r) ||
                sc_gen_varies(gen, r) == (scalars == 1))
                continue;
            const char *type = sc_emit_type(sc_gen_class(gen, r), !scalars);
            for (uint32_t part = 0; part < (scalars ? 1 : gen->parts); part++)
                sc_text_put(gen, text, scalars ? "%s r%u;\n" : "%s v%u_%u;\n",
                            type, r, part);
        }
    for (size_t i = 0; i < gen->func->inst_count; i++)
        if (gen->saved_widens[i])
            sc_text_put(gen, text, "uint64_t wb%zu; uint32_t wn%zu;\n", i, i);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_text_put(gen, text, "vm M%u;\n", part);
    sc_text_put(gen, text,
                "};\n_Static_assert(sizeof(struct saved) <= %llu, \"room\");\n",
                (unsigned long long)gen->save_bytes);
}

/* Move what is live to the room of the group, or back; what is `fresh` only
 * where that is not NULL. */
static void put_move(struct sc_gen *gen, const sc_bits *live,
                     const sc_bits *fresh, bool out)
{
    const char *vector =
        out ? "save->v%u_%u = v%u_%u;\n" : "v%u_%u = save->v%u_%u;\n";
    const char *scalar = out ? "save->r%u = r%u;\n" : "r%u = save->r%u;\n";
    for (uint32_t r = 0; r < gen->reg_count; r++) {
        if (!sc_bits_has(live, r) || gen->steady[r])
            continue;
        struct sc_shape s = gen->shapes[r];
        uint32_t w = s.kind == SC_SHAPE_LINEAR ? s.widen : SC_NONE;
        uint32_t vectors = s.kind == SC_SHAPE_VARYING ? gen->parts : 0;
        bool kept = fresh && !sc_bits_has(fresh, r);
        if (!vectors && !kept)
            sc_put(gen, scalar, r, r);
        for (uint32_t part = 0; !kept && part < vectors; part++)
            sc_put(gen, vector, r, part, r, part);
        if (w != SC_NONE)
            sc_put(gen,
                   out ? "save->wn%u = wn%u; save->wb%u = wb%u;\n"
                       : "wn%u = save->wn%u; wb%u = save->wb%u;\n",
                   w, w, w, w);
    }
    for (uint32_t part = 0; is_diverged(gen, gen->place) && part < gen->parts;
         part++)
        sc_put(gen, out ? "save->M%u = M%u;\n" : "M%u = save->M%u;\n", part,
               part);
}

static void put_barrier(struct sc_gen *gen, uint32_t inst)
{
    if (gen->groups == 1)
        return;
    sc_bits *live = sc_load_alloc(&gen->load, gen->words, sizeof *live);
    sc_bits *fresh = sc_load_alloc(&gen->load, gen->words, sizeof *fresh);
    sc_gen_live_before(gen, gen->place, inst + 1, live);
    sc_gen_fresh_before(gen, gen->place, inst, fresh);
    uint32_t number = ++gen->barriers;
    put_move(gen, live, fresh, true);
    sc_put(gen, "where[g] = %u; waiting = 1;\n", number);
    sc_emit_turn(gen, &gen->body, number);
    sc_put(gen, "goto stop;\nR%u:\n", number);
    put_move(gen, live, NULL, false);
    for (uint32_t part = 0;
         gen->partial && !is_diverged(gen, gen->place) && part < gen->parts;
         part++)
        sc_put(gen, "M%u = F%u;\n", part, part);
}

/* ---- places ---- */

static void put_head(struct sc_gen *gen)
{
    uint32_t i = gen->place;
    bool diverged = is_diverged(gen, i);
    sc_put(gen, "T%u:;\n", i);
    if (diverged) {
        sc_put(gen, "if (!(");
        for (uint32_t part = 0; part < gen->parts; part++)
            sc_put(gen, "%sm_any(m%u_%u)", part ? " | " : "", i, part);
        sc_put(gen, ")) ");
        put_next(gen, i);
    }
    sc_put(gen, "B%u:;\n", i);
    for (uint32_t part = 0; part < gen->parts; part++) {
        if (diverged)
            sc_put(gen, "M%u = m%u_%u; m%u_%u = m_none();\n", part, i, part, i,
                   part);
        else if (gen->partial)
            sc_put(gen, "M%u = F%u;\n", part, part);
    }
}

static void put_body(struct sc_gen *gen)
{
    const struct sc_place *p = &gen->places[gen->place];
    for (uint32_t i = p->first; i < p->end; i++) {
        gen->inst = &gen->func->insts[i];
        if (sc_cfg_ends_block(gen->inst)) {
            put_end(gen, gen->inst);
            gen->inst = NULL;
            return;
        }
        if (sc_emit_is_barrier(gen->inst)) {
            put_barrier(gen, i);
            continue;
        }
        sc_emit_range(gen);
        sc_emit_inst(gen);
    }
    gen->inst = NULL;
    put_edge(gen, p->falls ? p->succs[0] : gen->count);
}

static void put_place(struct sc_gen *gen)
{
    gen->mask = is_diverged(gen, gen->place) || gen->partial ? 'M' : 0;
    put_head(gen);
    sc_emit_whole(gen, put_body);
}

void sc_emit_places(struct sc_gen *gen)
{
    if (is_diverged(gen, 0))
        for (uint32_t part = 0; part < gen->parts; part++)
            sc_put(gen, gen->partial ? "m0_%u = F%u;\n" : "m0_%u = m_full();\n",
                   part, part);
    for (gen->place = 0; gen->place < gen->count; gen->place++)
        put_place(gen);
}

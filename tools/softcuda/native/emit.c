/*
 * Writes instructions: assignments, arithmetic, and who writes the rest; see
 * native/emit.h. Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

struct sc_value sc_emit_mask(const struct sc_gen *gen, uint32_t part)
{
    struct sc_value v;
    if (gen->mask)
        snprintf(v.text, sizeof v.text, "%c%u", gen->mask, part);
    else
        snprintf(v.text, sizeof v.text, "m_full()");
    return v;
}

const char *sc_emit_type(enum sc_lane_class class, bool vector)
{
    switch (class) {
    case SC_LANE_64:
        return vector ? "v64" : "uint64_t";
    case SC_LANE_PRED:
        return vector ? "vm" : "int";
    default:
        return vector ? "v32" : "uint32_t";
    }
}

bool sc_emit_keeps(const struct sc_gen *gen, uint32_t reg)
{
    return gen->mask == 'E' ||
           (gen->mask && sc_gen_clashes(gen, gen->place, reg));
}

void sc_emit_vector(struct sc_gen *gen, uint32_t reg, uint32_t part,
                    const char *vector)
{
    static const char *const select[] = {[SC_LANE_32] = "v_sel32",
                                         [SC_LANE_64] = "v_sel64",
                                         [SC_LANE_PRED] = "m_sel"};
    if (!sc_emit_keeps(gen, reg)) {
        sc_put(gen, "v%u_%u = %s;\n", reg, part, vector);
        return;
    }
    sc_put(gen, "v%u_%u = %s(%s, %s, v%u_%u);\n", reg, part,
           select[sc_gen_class(gen, reg)], sc_emit_mask(gen, part).text, vector,
           reg, part);
}

void sc_emit_scalar(struct sc_gen *gen, uint32_t reg, const char *scalar)
{
    if (!sc_gen_varies(gen, reg)) {
        sc_put(gen, "r%u = %s;\n", reg, scalar);
        return;
    }
    struct sc_value spread = sc_gen_spread(sc_gen_class(gen, reg), scalar);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_emit_vector(gen, reg, part, spread.text);
}

/* ---- arithmetic ---- */

static uint32_t result_reg(const struct sc_gen *gen,
                           const struct sc_alu_value *result)
{
    return result->operand ? result->operand->reg : gen->reg_count - 1;
}

static void put_argument(struct sc_gen *gen, const struct sc_alu_value *arg,
                         bool vector, uint32_t part)
{
    struct sc_operand carry = {.kind = SC_OPERAND_REG,
                               .reg = gen->reg_count - 1};
    const struct sc_operand *o = arg->operand ? arg->operand : &carry;
    struct sc_value v = vector
                            ? sc_gen_vector(gen, o, arg->class, arg->type, part)
                            : sc_gen_scalar(gen, o, arg->class, arg->type);
    sc_put(gen, "%s", v.text);
}

/* `type` tI[_part] = name(arguments); */
static void put_result(struct sc_gen *gen, const struct sc_alu_call *call,
                       uint32_t index, bool vector, uint32_t part)
{
    char name[SC_ALU_NAME];
    if (!sc_alu_add(&gen->alu, call, index, vector, name))
        sc_gen_refuse(gen, "arithmetic of it is not there");
    sc_put(gen, "%s q%u_%u = %s(",
           sc_emit_type(call->results[index].class, vector), index, part, name);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        sc_put(gen, "%s", i ? ", " : "");
        put_argument(gen, &call->args[i], vector, part);
    }
    sc_put(gen, ");\n");
}

static bool any_argument_differs(struct sc_gen *gen,
                                 const struct sc_alu_call *call)
{
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct sc_operand *o = call->args[i].operand;
        struct sc_shape s =
            o ? sc_gen_shape(gen, o) : gen->shapes[gen->reg_count - 1];
        if (!sc_shape_is_uniform(s))
            return true;
    }
    return false;
}

/* A result as its register takes it; `name` has room for `room`. */
static void finish_result(struct sc_gen *gen, const struct sc_alu_call *call,
                          uint32_t reg, bool vector, char *name, size_t room)
{
    char whole[24];
    const char *function =
        call->raw && !gen->raw[reg] && sc_gen_class(gen, reg) == SC_LANE_32
            ? (vector ? "v_flush" : "s_flush")
        : sc_gen_hides(gen, reg) ? "s_pin"
                                 : NULL;
    if (!function)
        return;
    if (!sc_alu_need(&gen->alu, function))
        sc_gen_refuse(gen, "arithmetic of it is not there");
    memcpy(whole, name, strlen(name) + 1);
    snprintf(name, room, "%s(%s)", function, whole);
}

static void emit_alu(struct sc_gen *gen, const struct sc_alu_call *call)
{
    bool differs = any_argument_differs(gen, call);
    sc_put(gen, "{ ");
    for (uint32_t i = 0; i < call->result_count; i++) {
        bool vector =
            differs && sc_gen_varies(gen, result_reg(gen, &call->results[i]));
        for (uint32_t part = 0; part < (vector ? gen->parts : 1); part++)
            put_result(gen, call, i, vector, part);
    }
    for (uint32_t i = 0; i < call->result_count; i++) {
        uint32_t reg = result_reg(gen, &call->results[i]);
        bool vector = differs && sc_gen_varies(gen, reg);
        for (uint32_t part = 0; part < (vector ? gen->parts : 1); part++) {
            char name[48];
            snprintf(name, sizeof name, "q%u_%u", i, part);
            finish_result(gen, call, reg, vector, name, sizeof name);
            if (vector)
                sc_emit_vector(gen, reg, part, name);
            else
                sc_emit_scalar(gen, reg, name);
        }
    }
    sc_put(gen, "}\n");
}

/* Remember what was widened, and whether it may have wrapped on the way. */
static void note_widening(struct sc_gen *gen)
{
    uint32_t at = (uint32_t)(gen->inst - gen->func->insts);
    if (!gen->widens[at])
        return;
    const struct sc_operand *narrow = sc_gen_widened(gen->inst);
    struct sc_shape s = sc_gen_shape(gen, narrow);
    sc_rt_need(gen, "wraps", SC_ELEMENT_u32);
    sc_put(gen, "wn%u = r%u; wb%u = wraps(wn%u, %lld, %d);\n", at, narrow->reg,
           at, at, (long long)(gen->group - 1) * (long long)s.stride,
           sc_gen_widens_signed(gen->inst));
}

/* ---- the rest ---- */

static bool meets_warp(const struct sc_gen *gen, uint32_t place)
{
    const struct sc_place *p = &gen->places[place];
    for (uint32_t i = p->first; i < p->end; i++) {
        const struct sc_inst *inst = &gen->func->insts[i];
        if ((inst->opcode == SC_OP_bar || inst->opcode == SC_OP_barrier) &&
            sc_inst_has(inst, SC_MOD_warp))
            return true;
    }
    return false;
}

/* A barrier of a warp where other lanes may be on another way, at another one:
 * they would be due to write first. */
static void check_meeting(struct sc_gen *gen)
{
    for (uint32_t b = 0; b < gen->count; b++) {
        const uint32_t *labels = gen->places[b].labels;
        for (uint32_t j = 0; labels && j < gen->count; j++)
            if (labels[gen->place] && labels[j] && j != gen->places[b].pdom &&
                labels[j] != labels[gen->place] && meets_warp(gen, j))
                sc_gen_refuse(gen, "lanes may wait for each other");
    }
}

static bool emit_other(struct sc_gen *gen)
{
    switch (gen->inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
        return sc_emit_load(gen), true;
    case SC_OP_st:
        return sc_emit_store(gen), true;
    case SC_OP_atom:
    case SC_OP_red:
        return sc_emit_atomic(gen), true;
    case SC_OP_cvta:
        return sc_emit_cvta(gen), true;
    case SC_OP_isspacep:
        return sc_emit_isspacep(gen), true;
    case SC_OP_shfl:
    case SC_OP_vote:
    case SC_OP_match:
    case SC_OP_redux:
    case SC_OP_elect:
    case SC_OP_activemask:
        return sc_emit_warp(gen), true;
    case SC_OP_membar:
    case SC_OP_fence:
        sc_put(gen, "__atomic_thread_fence(__ATOMIC_SEQ_CST);\n");
        return true;
    case SC_OP_bar: /* of a warp, whose lanes run in lockstep anyway */
    case SC_OP_barrier:
        check_meeting(gen);
        return true;
    case SC_OP_nanosleep:
    case SC_OP_prefetch:
    case SC_OP_prefetchu:
    case SC_OP_pmevent:
        return true;
    default:
        return false;
    }
}

static void emit_unguarded(struct sc_gen *gen)
{
    struct sc_alu_call call;
    if (emit_other(gen))
        return;
    if (!sc_gen_find(gen, &call))
        sc_gen_refuse(gen, "the generator lacks it");
    emit_alu(gen, &call);
    gen->reads_raw = false;
    note_widening(gen);
}

/* Opcodes that must not run when no lane is left. */
static bool needs_lanes(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
    case SC_OP_st:
    case SC_OP_atom:
    case SC_OP_red:
    case SC_OP_shfl:
    case SC_OP_vote:
    case SC_OP_match:
    case SC_OP_redux:
    case SC_OP_elect:
    case SC_OP_activemask:
        return true;
    default:
        return false;
    }
}

static void put_any(struct sc_gen *gen)
{
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%sm_any(E%u)", part ? " | " : "", part);
}

void sc_emit_inst(struct sc_gen *gen)
{
    const struct sc_inst *inst = gen->inst;
    if (!inst->guarded) {
        emit_unguarded(gen);
        return;
    }
    const char *not = inst->guard_negate ? "!" : "";
    if (!sc_gen_varies(gen, inst->guard)) {
        sc_put(gen, "if (%sr%u) {\n", not, inst->guard);
        emit_unguarded(gen);
        sc_put(gen, "}\n");
        return;
    }
    char outer = gen->mask;
    sc_put(gen, "{\n");
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "const vm E%u = %s(%s, v%u_%u);\n", part,
               inst->guard_negate ? "m_andn" : "m_and",
               sc_emit_mask(gen, part).text, inst->guard, part);
    gen->mask = 'E';
    bool needs = needs_lanes(inst);
    if (needs) {
        sc_put(gen, "if (");
        put_any(gen);
        sc_put(gen, ") {\n");
    }
    emit_unguarded(gen);
    sc_put(gen, needs ? "}}\n" : "}\n");
    gen->mask = outer;
}

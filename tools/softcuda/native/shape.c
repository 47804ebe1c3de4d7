/*
 * Which registers are the same, linear or different over the lanes of a group;
 * see native/gen.h.
 *
 * Shapes only ever fall, so the passes end. A branch whose lanes may part is
 * handed to flow.c; what it says about places then makes more registers vary:
 * those a waiting lane could still need the old value of. Lock: none.
 */
#include "native/gen.h"

static const struct sc_shape uniform = {SC_SHAPE_LINEAR, SC_NONE, 0, 0};
static const struct sc_shape varying = {SC_SHAPE_VARYING, SC_NONE, 0, 0};

static struct sc_shape linear(int64_t stride)
{
    return (struct sc_shape){SC_SHAPE_LINEAR, SC_NONE, stride, 0};
}

static struct sc_shape special_shape(const struct sc_gen *gen, uint32_t special)
{
    bool aligned = SC_WARP % gen->group == 0;
    switch (special) {
    case SC_SREG_tid_x:
        return gen->rows ? linear(gen->ntid[0] > 1) : varying;
    case SC_SREG_tid_y:
    case SC_SREG_tid_z:
        return gen->rows ? uniform : varying;
    case SC_SREG_laneid:
        return aligned ? linear(1) : varying;
    case SC_SREG_lanemask_eq:
    case SC_SREG_lanemask_ge:
    case SC_SREG_lanemask_gt:
    case SC_SREG_lanemask_le:
    case SC_SREG_lanemask_lt:
        return varying;
    default:
        return uniform;
    }
}

struct sc_shape sc_gen_shape(const struct sc_gen *gen,
                             const struct sc_operand *operand)
{
    switch (operand->kind) {
    case SC_OPERAND_REG:
        return gen->shapes[operand->reg];
    case SC_OPERAND_SPECIAL:
        return special_shape(gen, operand->reg);
    case SC_OPERAND_ADDRESS:
        return sc_gen_shape(gen, &operand->sub[0]);
    case SC_OPERAND_VECTOR:
    case SC_OPERAND_PAIR:
        for (uint32_t i = 0; i < operand->reg; i++) {
            struct sc_shape s = sc_gen_shape(gen, &operand->sub[i]);
            if (!sc_shape_is_uniform(s))
                return s.kind == SC_SHAPE_UNSEEN ? s : varying;
        }
        return uniform;
    default:
        return uniform;
    }
}

bool sc_gen_guard_varies(const struct sc_gen *gen, const struct sc_inst *inst)
{
    return inst->guarded && gen->shapes[inst->guard].kind == SC_SHAPE_VARYING;
}

/* ---- sums and products ---- */

static struct sc_shape add(struct sc_shape a, struct sc_shape b, int64_t sign)
{
    if (a.kind == SC_SHAPE_VARYING || b.kind == SC_SHAPE_VARYING)
        return varying;
    bool both = a.widen != SC_NONE && b.widen != SC_NONE;
    if (both && a.widen != b.widen)
        return varying;
    return (struct sc_shape){
        SC_SHAPE_LINEAR, a.widen != SC_NONE ? a.widen : b.widen,
        (int64_t)((uint64_t)a.stride + (uint64_t)sign * (uint64_t)b.stride),
        (int64_t)((uint64_t)a.factor + (uint64_t)sign * (uint64_t)b.factor)};
}

static struct sc_shape scale(struct sc_shape a, int64_t by)
{
    if (a.kind == SC_SHAPE_VARYING || sc_shape_is_uniform(a))
        return a;
    a.stride = (int64_t)((uint64_t)a.stride * (uint64_t)by);
    a.factor = (int64_t)((uint64_t)a.factor * (uint64_t)by);
    return a;
}

static bool is_constant(const struct sc_operand *operand)
{
    return operand->kind == SC_OPERAND_INT;
}

static int64_t constant(const struct sc_operand *operand, enum sc_type type)
{
    if (sc_type_bytes(type) == 8)
        return (int64_t)operand->bits;
    return sc_type_class(type) == SC_CLASS_SIGNED
               ? (int32_t)(uint32_t)operand->bits
               : (int64_t)(uint32_t)operand->bits;
}

static struct sc_shape product(const struct sc_gen *gen,
                               const struct sc_inst *inst)
{
    const struct sc_operand *a = &inst->operands[1], *b = &inst->operands[2];
    struct sc_shape x = sc_gen_shape(gen, a), y = sc_gen_shape(gen, b);
    if (sc_shape_is_uniform(x) && sc_shape_is_uniform(y))
        return uniform;
    if (is_constant(b))
        return scale(x, constant(b, inst->types[0]));
    if (is_constant(a))
        return scale(y, constant(a, inst->types[0]));
    return varying;
}

/* Values straight from %tid.x or %laneid are too small to wrap. */
static bool is_small(const struct sc_gen *gen, const struct sc_operand *operand)
{
    if (operand->kind == SC_OPERAND_SPECIAL)
        return operand->reg == SC_SREG_tid_x || operand->reg == SC_SREG_laneid;
    if (operand->kind != SC_OPERAND_REG || gen->defs[operand->reg] != 1)
        return false;
    const struct sc_inst *def = &gen->func->insts[gen->def_inst[operand->reg]];
    return def->opcode == SC_OP_mov && !def->guarded &&
           def->operands[1].kind == SC_OPERAND_SPECIAL &&
           is_small(gen, &def->operands[1]);
}

/* A 32-bit linear value becomes a 64-bit one. */
static struct sc_shape widen(struct sc_gen *gen, const struct sc_inst *inst,
                             const struct sc_operand *operand)
{
    struct sc_shape s = sc_gen_shape(gen, operand);
    uint32_t at = (uint32_t)(inst - gen->func->insts);
    if (s.kind != SC_SHAPE_LINEAR || s.stride == 0 || is_small(gen, operand))
        return s;
    if (operand->kind != SC_OPERAND_REG)
        return varying;
    gen->widens[at] = true;
    return (struct sc_shape){SC_SHAPE_LINEAR, at, s.stride, 1};
}

static struct sc_shape wide_product(struct sc_gen *gen,
                                    const struct sc_inst *inst)
{
    const struct sc_operand *a = &inst->operands[1], *b = &inst->operands[2];
    struct sc_shape x = sc_gen_shape(gen, a), y = sc_gen_shape(gen, b);
    if (sc_shape_is_uniform(x) && sc_shape_is_uniform(y))
        return uniform;
    if (sc_type_bytes(inst->types[0]) != 4)
        return varying;
    if (is_constant(b))
        return scale(widen(gen, inst, a), constant(b, inst->types[0]));
    if (is_constant(a))
        return scale(widen(gen, inst, b), constant(a, inst->types[0]));
    return varying;
}

/* Where lane 0 has a multiple of the group's size and the others count on
 * from it, shifting that size away leaves the same in all, and cutting off at
 * a power of two no less keeps them linear. */
static struct sc_shape cut(const struct sc_gen *gen, const struct sc_inst *inst)
{
    const struct sc_operand *o = inst->operands;
    if (sc_type_bytes(inst->types[0]) != 4 || !is_small(gen, &o[1]) ||
        o[2].kind != SC_OPERAND_INT || sc_gen_shape(gen, &o[1]).stride != 1)
        return varying;
    uint32_t by = (uint32_t)o[2].bits;
    if (inst->opcode == SC_OP_shr)
        return by < 32 && gen->group <= 1u << by ? uniform : varying;
    if ((by & (gen->group - 1)) == 0)
        return uniform;
    return (by & (by + 1)) == 0 && by >= gen->group - 1 ? linear(1) : varying;
}

/* How many lanes of all, counted from the first, a comparison with `c` tells
 * from the rest; 1 where it does something else. */
static uint32_t parted_at(const struct sc_inst *inst, uint32_t c)
{
    if (sc_inst_has(inst, SC_MOD_lt) || sc_inst_has(inst, SC_MOD_ge) ||
        sc_inst_has(inst, SC_MOD_lo) || sc_inst_has(inst, SC_MOD_hs))
        return c;
    if (sc_inst_has(inst, SC_MOD_le) || sc_inst_has(inst, SC_MOD_gt) ||
        sc_inst_has(inst, SC_MOD_ls))
        return c + 1;
    return 1;
}

/* Lanes of one group, of the same kind as above, lie all on one side of a
 * multiple of its size: what halves a block in each step of a sum asks so. */
static struct sc_shape compare(const struct sc_gen *gen,
                               const struct sc_inst *inst)
{
    const struct sc_operand *o = inst->operands;
    uint32_t c = 0;
    if (inst->operand_count != 3 || o[0].kind != SC_OPERAND_REG ||
        sc_type_bytes(inst->types[0]) != 4 || !is_small(gen, &o[1]) ||
        !sc_gen_is_constant(gen, &o[2], &c))
        return varying;
    return parted_at(inst, c) % gen->group ? varying : uniform;
}

/* ---- opcodes that keep lanes linear ---- */

static bool is_integer(enum sc_type type)
{
    enum sc_type_class class = sc_type_class(type);
    return (class == SC_CLASS_BITS || class == SC_CLASS_UNSIGNED ||
            class == SC_CLASS_SIGNED) &&
           sc_type_bytes(type) >= 4 && sc_type_bytes(type) <= 8;
}

static bool is_plain(const struct sc_inst *inst)
{
    return !sc_inst_has(inst, SC_MOD_cc) && !sc_inst_has(inst, SC_MOD_sat) &&
           !sc_inst_has(inst, SC_MOD_hi);
}

static uint32_t bytes_of(const struct sc_gen *gen,
                         const struct sc_operand *operand)
{
    return operand->kind == SC_OPERAND_REG
               ? sc_type_bytes(gen->func->regs[operand->reg].type)
               : 0;
}

static struct sc_shape convert(struct sc_gen *gen, const struct sc_inst *inst)
{
    const struct sc_operand *from = &inst->operands[1];
    uint32_t to_bytes = sc_type_bytes(inst->types[0]);
    uint32_t from_bytes = sc_type_bytes(inst->types[1]);
    if (bytes_of(gen, from) != from_bytes || !is_integer(inst->types[1]) ||
        bytes_of(gen, &inst->operands[0]) != to_bytes)
        return varying;
    if (to_bytes > from_bytes)
        return widen(gen, inst, from);
    struct sc_shape s = sc_gen_shape(gen, from);
    /* what a wrap adds is a multiple of 2^32 and goes with the upper half */
    return to_bytes < from_bytes ? linear((int32_t)s.stride) : s;
}

/* Shape where some source is linear and none varies. */
static struct sc_shape from_linear(struct sc_gen *gen,
                                   const struct sc_inst *inst)
{
    const struct sc_operand *o = inst->operands;
    if (inst->opcode == SC_OP_cvta)
        return sc_gen_shape(gen, &o[1]);
    if (!inst->type_count || !is_integer(inst->types[0]) || !is_plain(inst))
        return varying;
    bool wide = sc_inst_has(inst, SC_MOD_wide);
    switch (inst->opcode) {
    case SC_OP_mov:
        return o[0].kind == SC_OPERAND_REG && o[1].kind != SC_OPERAND_VECTOR
                   ? sc_gen_shape(gen, &o[1])
                   : varying;
    case SC_OP_add:
        return add(sc_gen_shape(gen, &o[1]), sc_gen_shape(gen, &o[2]), 1);
    case SC_OP_sub:
        return add(sc_gen_shape(gen, &o[1]), sc_gen_shape(gen, &o[2]), -1);
    case SC_OP_mul:
        return wide ? wide_product(gen, inst) : product(gen, inst);
    case SC_OP_mad:
        return add(wide ? wide_product(gen, inst) : product(gen, inst),
                   sc_gen_shape(gen, &o[3]), 1);
    case SC_OP_shl:
        return is_constant(&o[2]) &&
                       o[2].bits < 8 * sc_type_bytes(inst->types[0])
                   ? scale(sc_gen_shape(gen, &o[1]),
                           (int64_t)((uint64_t)1 << o[2].bits))
                   : varying;
    case SC_OP_cvt:
        return convert(gen, inst);
    case SC_OP_shr:
    case SC_OP_and:
        return cut(gen, inst);
    case SC_OP_setp:
        return compare(gen, inst);
    default:
        return varying;
    }
}

/* ---- other opcodes ---- */

static struct sc_shape load_shape(const struct sc_gen *gen,
                                  const struct sc_inst *inst,
                                  struct sc_shape sources)
{
    bool own = sc_inst_has(inst, SC_MOD_local) ||
               (gen->has_local && !sc_inst_has(inst, SC_MOD_global) &&
                !sc_inst_has(inst, SC_MOD_const) &&
                !sc_inst_has(inst, SC_MOD_shared) &&
                !sc_inst_has(inst, SC_MOD_shared__cta) &&
                !sc_inst_has(inst, SC_MOD_param) &&
                !sc_inst_has(inst, SC_MOD_param__entry));
    return sc_shape_is_uniform(sources) && !own ? uniform : varying;
}

/* Lanes with different member masks get different answers. */
static struct sc_shape member_shape(const struct sc_gen *gen,
                                    const struct sc_inst *inst)
{
    if (!sc_inst_has(inst, SC_MOD_sync))
        return uniform;
    return sc_shape_is_uniform(sc_gen_shape(gen, &inst->operands[2])) ? uniform
                                                                      : varying;
}

static struct sc_shape combined(struct sc_gen *gen, const struct sc_inst *inst,
                                struct sc_shape sources)
{
    switch (inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
        return load_shape(gen, inst, sources);
    case SC_OP_atom:
    case SC_OP_elect:
        return varying;
    case SC_OP_shfl:
        return sc_gen_broadcasts(gen, inst) ? uniform : varying;
    case SC_OP_match:
        return sc_inst_has(inst, SC_MOD_all) ? member_shape(gen, inst)
                                             : varying;
    case SC_OP_vote:
    case SC_OP_redux:
        return member_shape(gen, inst);
    case SC_OP_activemask:
    case SC_OP_bar:
    case SC_OP_barrier:
        return uniform;
    default:
        break;
    }
    if (sc_shape_is_uniform(sources))
        return uniform;
    return sources.kind == SC_SHAPE_LINEAR ? from_linear(gen, inst) : varying;
}

/* UNSEEN if any source is; LINEAR with a stride of 1 if one is linear. */
static struct sc_shape sources_of(const struct sc_gen *gen,
                                  const struct sc_inst *inst)
{
    struct sc_shape all = uniform;
    uint32_t regs[SC_MAX_USES], n = sc_gen_uses(gen, inst, regs);
    uint32_t guard = inst->guarded ? 1 : 0;
    for (uint32_t i = guard; i < n + inst->operand_count; i++) {
        struct sc_shape s = uniform;
        if (i < n)
            s = gen->shapes[regs[i]];
        else if (inst->operands[i - n].kind == SC_OPERAND_SPECIAL)
            s = sc_gen_shape(gen, &inst->operands[i - n]);
        if (s.kind == SC_SHAPE_UNSEEN)
            return s;
        if (s.kind == SC_SHAPE_VARYING)
            all = varying;
        else if (s.stride && all.kind == SC_SHAPE_LINEAR)
            all = linear(1);
    }
    return all;
}

/* ---- passes ---- */

/* A value that is carried around a loop in which the widening it stems from
 * is done anew must not rely on it. */
static bool outlives(const struct sc_gen *gen, uint32_t reg, uint32_t widening)
{
    uint32_t at = gen->place_of[gen->cfg.block_of[widening]];
    for (uint32_t t = at; t < gen->count; t++) {
        const struct sc_place *p = &gen->places[t];
        for (uint32_t k = 0; k < p->succ_count; k++)
            if (p->succs[k] <= at &&
                sc_bits_has(gen->places[p->succs[k]].live_in, reg))
                return true;
    }
    return false;
}

static bool fall(struct sc_gen *gen, uint32_t place, uint32_t reg,
                 struct sc_shape to)
{
    struct sc_shape *have = &gen->shapes[reg];
    enum sc_type type =
        reg + 1 < gen->reg_count ? gen->func->regs[reg].type : SC_T_pred;
    if (sc_type_bytes(type) <= 4)
        to.stride = (int32_t)to.stride;
    if (have->kind == SC_SHAPE_VARYING)
        return false;
    bool same = have->kind == SC_SHAPE_UNSEEN ||
                (have->kind == to.kind && have->stride == to.stride &&
                 have->widen == to.widen && have->factor == to.factor);
    if (!same || sc_gen_clashes(gen, place, reg) ||
        (to.widen != SC_NONE && outlives(gen, reg, to.widen)))
        to = varying;
    bool changed = have->kind != to.kind;
    *have = to;
    return changed;
}

static bool pass(struct sc_gen *gen)
{
    bool changed = false;
    for (uint32_t i = 0; i < gen->count; i++) {
        const struct sc_place *p = &gen->places[i];
        for (uint32_t k = p->first; k < p->end; k++) {
            const struct sc_inst *inst = &gen->func->insts[k];
            uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, inst, regs);
            struct sc_shape to = n ? sources_of(gen, inst) : uniform;
            if (!n || to.kind == SC_SHAPE_UNSEEN)
                continue;
            to = combined(gen, inst, to);
            if (sc_gen_guard_varies(gen, inst))
                to = varying;
            for (uint32_t r = 0; r < n; r++)
                changed |= fall(gen, i, regs[r], to);
        }
    }
    return changed;
}

static bool parts(const struct sc_gen *gen, const struct sc_inst *inst)
{
    if (inst->opcode == SC_OP_trap)
        return false;
    if (inst->opcode == SC_OP_brx &&
        !sc_shape_is_uniform(sc_gen_shape(gen, &inst->operands[0])))
        return true;
    return sc_cfg_ends_block(inst) && sc_gen_guard_varies(gen, inst);
}

static bool split(struct sc_gen *gen)
{
    bool found = false;
    for (uint32_t i = 0; i < gen->count; i++) {
        const struct sc_place *p = &gen->places[i];
        if (p->labels || p->end == p->first ||
            !parts(gen, &gen->func->insts[p->end - 1]))
            continue;
        sc_gen_split(gen, i);
        found = true;
    }
    if (found)
        sc_gen_clash(gen);
    return found;
}

/* What nobody writes, or only code that is never reached, is uniform. */
static bool settle_unseen(struct sc_gen *gen)
{
    bool found = false;
    for (uint32_t r = 0; r < gen->reg_count; r++) {
        if (gen->shapes[r].kind != SC_SHAPE_UNSEEN)
            continue;
        gen->shapes[r] = uniform;
        found = true;
    }
    return found;
}

void sc_gen_shapes(struct sc_gen *gen)
{
    for (uint32_t r = 0; r < gen->reg_count; r++)
        if (!gen->defs[r])
            gen->shapes[r] = uniform;
    bool again = true;
    while (again) {
        while (pass(gen)) {
        }
        again = settle_unseen(gen);
        again |= split(gen);
    }
    while (pass(gen)) {
    }
    for (uint32_t i = 0; i < gen->func->inst_count; i++)
        gen->widens[i] = false;
    /* the instructions that still widen: named by a shape in use */
    for (uint32_t r = 0; r < gen->reg_count; r++)
        if (gen->shapes[r].kind == SC_SHAPE_LINEAR &&
            gen->shapes[r].widen != SC_NONE)
            gen->widens[gen->shapes[r].widen] = true;
}

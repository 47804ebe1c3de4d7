/*
 * Writes shfl, vote, match, redux, elect and activemask; see native/emit.h and
 * native/rt_warp.def.
 *
 * The group is a warp whose lanes run in lockstep, so nobody is waited for:
 * each lane works with those of its members that execute with it.
 * Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

/* ---- operands ---- */

static bool is_uniform(const struct sc_gen *gen,
                       const struct sc_operand *operand)
{
    return sc_shape_is_uniform(sc_gen_shape(gen, operand));
}

/* `const TYPE NAME[]`, the vectors of an operand. */
static void put_vectors(struct sc_gen *gen, const char *name,
                        const struct sc_operand *operand,
                        enum sc_lane_class class, enum sc_type type)
{
    sc_put(gen, "const %s %s[] = {", sc_emit_type(class, true), name);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%s, ",
               sc_gen_vector(gen, operand, class, type, part).text);
    sc_put(gen, "};\n");
}

static void put_who(struct sc_gen *gen)
{
    sc_put(gen, "const uint32_t who = ");
    if (!gen->mask)
        sc_put(gen, "~0u");
    for (uint32_t part = 0; gen->mask && part < gen->parts; part++)
        sc_put(gen, "%sm_bits(%s) << %u", part ? " | " : "",
               sc_emit_mask(gen, part).text, part * gen->lanes);
    sc_put(gen, ";\n");
}

/* `uint32_t set`: lanes that take part, of the same members or of all. */
static void put_set(struct sc_gen *gen, const struct sc_operand *members)
{
    sc_put(gen, "const uint32_t set = who");
    if (members)
        sc_put(gen, " & %s",
               sc_gen_scalar(gen, members, SC_LANE_32, SC_T_b32).text);
    sc_put(gen, ";\n");
}

/* Destinations: the register and what follows `|`; NULL where nothing is. */
static void find_results(const struct sc_inst *inst,
                         const struct sc_operand **d,
                         const struct sc_operand **p)
{
    const struct sc_operand *o = &inst->operands[0];
    bool pair = o->kind == SC_OPERAND_PAIR;
    *d = pair ? &o->sub[0] : o;
    *p = pair ? &o->sub[1] : NULL;
    if ((*d)->kind != SC_OPERAND_REG)
        *d = NULL;
    if (*p && (*p)->kind != SC_OPERAND_REG)
        *p = NULL;
}

static void assign(struct sc_gen *gen, const struct sc_operand *to,
                   const char *array)
{
    for (uint32_t part = 0; to && part < gen->parts; part++) {
        char name[32];
        snprintf(name, sizeof name, "%s[%u]", array, part);
        sc_emit_vector(gen, to->reg, part, name);
    }
}

static void assign_same(struct sc_gen *gen, const struct sc_operand *to,
                        const char *scalar)
{
    if (to)
        sc_emit_scalar(gen, to->reg, scalar);
}

/* ---- shfl ---- */

static enum sc_modifier shuffle_mode(struct sc_gen *gen)
{
    static const enum sc_modifier modes[] = {SC_MOD_up, SC_MOD_down,
                                             SC_MOD_bfly, SC_MOD_idx};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (sc_inst_has(gen->inst, modes[i]))
            return modes[i];
    sc_gen_refuse(gen, "the generator lacks this shuffle");
}

/* As exec/warp.c: which lane each reads, one bit each for those inside. */
static uint32_t fixed_lanes(enum sc_modifier mode, uint32_t b, uint32_t c,
                            uint32_t *from)
{
    uint32_t clamp = c & 31, segment = c >> 8 & 31, in = 0;
    b &= 31;
    for (uint32_t lane = 0; lane < SC_WARP; lane++) {
        uint32_t most = (lane & segment) | (clamp & ~segment);
        uint32_t at = mode == SC_MOD_up     ? lane - b
                      : mode == SC_MOD_down ? lane + b
                      : mode == SC_MOD_bfly ? lane ^ b
                                            : (lane & segment) | (b & ~segment);
        bool inside =
            mode == SC_MOD_up ? (int32_t)at >= (int32_t)most : at <= most;
        from[lane] = (inside ? at : lane) & 31;
        in |= (uint32_t)inside << lane;
    }
    return in;
}

/* Lanes of one part from at most two others, which is one permutation. */
static bool put_fixed(struct sc_gen *gen, const uint32_t *from)
{
    uint32_t lanes = gen->lanes, x = from[0] / lanes, y = x;
    bool moves = false;
    for (uint32_t i = 0; i < lanes; i++) {
        if (from[i] / lanes != x && from[i] / lanes != y) {
            if (x != y)
                return false;
            y = from[i] / lanes;
        }
        moves |= from[i] % lanes != i;
    }
    if (!moves && x == y) {
        sc_put(gen, "a[%u], ", x);
        return true;
    }
    sc_put(gen, "__builtin_shufflevector(a[%u], a[%u]", x, y);
    for (uint32_t i = 0; i < lanes; i++)
        sc_put(gen, ", %u",
               from[i] % lanes + (from[i] / lanes != x ? lanes : 0));
    sc_put(gen, "), ");
    return true;
}

/* `v32 from[]`, known lanes. */
static void put_from(struct sc_gen *gen, const uint32_t *from)
{
    sc_put(gen, "const v32 from[] = {");
    for (uint32_t i = 0; i < SC_WARP; i++)
        sc_put(gen, "%s%u%s", i % gen->lanes ? "" : "(v32){", from[i],
               (i + 1) % gen->lanes ? ", " : "}, ");
    sc_put(gen, "};\n");
}

static void shuffle_fixed(struct sc_gen *gen, enum sc_modifier mode, uint32_t b,
                          uint32_t c)
{
    uint32_t from[SC_WARP], in = fixed_lanes(mode, b, c, from);
    sc_rt_need(gen, "take", SC_ELEMENT_u32);
    put_from(gen, from);
    sc_put(gen, "v32 d[] = {");
    for (uint32_t part = 0; part < gen->parts; part++)
        if (!put_fixed(gen, &from[part * gen->lanes]))
            sc_put(gen, "take(a, from[%u]), ", part);
    sc_put(gen, "};\nconst vm p[] = {");
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "m_from_bits(0x%xu), ",
               in >> part * gen->lanes & ((1u << gen->lanes) - 1));
    sc_put(gen, "};\n");
}

static void shuffle_any(struct sc_gen *gen, enum sc_modifier mode)
{
    const struct sc_operand *o = gen->inst->operands;
    char name[32];
    snprintf(name, sizeof name, "shfl_%s", sc_modifier_name(mode));
    sc_rt_need(gen, name, SC_ELEMENT_u32);
    sc_rt_need(gen, "take", SC_ELEMENT_u32);
    put_vectors(gen, "b", &o[2], SC_LANE_32, SC_T_b32);
    put_vectors(gen, "c", &o[3], SC_LANE_32, SC_T_b32);
    sc_put(gen, "v32 from[%u];\nconst vm p[] = {", gen->parts);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%s(%u, b[%u], c[%u], &from[%u]), ", name,
               part * gen->lanes, part, part, part);
    sc_put(gen, "};\nv32 d[] = {");
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "take(a, from[%u]), ", part);
    sc_put(gen, "};\n");
}

/* Members of a shuffle; NULL: all lanes that execute it. */
static const struct sc_operand *shuffle_members(const struct sc_gen *gen,
                                                const struct sc_inst *inst)
{
    const struct sc_operand *members = &inst->operands[4];
    uint32_t set = 0;
    if (!sc_inst_has(inst, SC_MOD_sync) ||
        (sc_gen_is_constant(gen, members, &set) && set == ~0u))
        return NULL;
    return members;
}

/* What lanes that take no part have is not seen. */
static void put_part(struct sc_gen *gen)
{
    const struct sc_operand *members = shuffle_members(gen, gen->inst);
    bool varies = members && !is_uniform(gen, members);
    if (!gen->mask && !members)
        return;
    sc_rt_need(gen, "shfl_part", SC_ELEMENT_u32);
    put_who(gen);
    if (varies)
        put_vectors(gen, "m", members, SC_LANE_32, SC_T_b32);
    else
        put_set(gen, members);
    if (!varies)
        sc_put(gen, "if (__builtin_expect(set != ~0u, 0)) {\n");
    for (uint32_t part = 0; part < gen->parts; part++) {
        sc_put(gen, "d[%u] = shfl_part(d[%u], from[%u], p[%u], ", part, part,
               part, part);
        if (varies)
            sc_put(gen, "m[%u] & who);\n", part);
        else
            sc_put(gen, "v_bc32(set));\n");
    }
    if (!varies)
        sc_put(gen, "}\n");
}

/* All lanes get what one of them has. */
static void shuffle_one(struct sc_gen *gen, const struct sc_operand *d,
                        const struct sc_operand *p)
{
    const struct sc_operand *o = gen->inst->operands;
    put_who(gen);
    put_set(gen, shuffle_members(gen, gen->inst));
    sc_put(gen,
           "const uint32_t from = %s & 31, one = set >> from & 1 ? ((const "
           "uint32_t *)a)[from] : 0;\n",
           sc_gen_scalar(gen, &o[2], SC_LANE_32, SC_T_b32).text);
    assign_same(gen, d, "one");
    assign_same(gen, p, "1");
}

static void emit_shfl(struct sc_gen *gen)
{
    const struct sc_operand *o = gen->inst->operands, *d, *p;
    enum sc_modifier mode = shuffle_mode(gen);
    uint32_t b = 0, c = 0;
    find_results(gen->inst, &d, &p);
    sc_put(gen, "{ ");
    put_vectors(gen, "a", &o[1], SC_LANE_32, SC_T_b32);
    if (sc_gen_broadcasts(gen, gen->inst)) {
        shuffle_one(gen, d, p);
        sc_put(gen, "}\n");
        return;
    }
    if (sc_gen_is_constant(gen, &o[2], &b) &&
        sc_gen_is_constant(gen, &o[3], &c))
        shuffle_fixed(gen, mode, b, c);
    else
        shuffle_any(gen, mode);
    put_part(gen);
    assign(gen, d, "d");
    assign(gen, p, "p");
    sc_put(gen, "}\n");
}

bool sc_gen_broadcasts(const struct sc_gen *gen, const struct sc_inst *inst)
{
    uint32_t c = 0;
    if (inst->opcode != SC_OP_shfl || !sc_inst_has(inst, SC_MOD_idx))
        return false;
    const struct sc_operand *members = shuffle_members(gen, inst);
    return is_uniform(gen, &inst->operands[2]) &&
           (!members || is_uniform(gen, members)) &&
           sc_gen_is_constant(gen, &inst->operands[3], &c) &&
           (c & 0x1f1f) == 0x1f;
}

/* ---- vote ---- */

/* `uint32_t yes`: lanes whose predicate holds, others may have bits, too. */
static void put_yes(struct sc_gen *gen, const struct sc_operand *pred)
{
    sc_put(gen, "const uint32_t yes = ");
    if (is_uniform(gen, pred))
        sc_put(gen, "%s ? ~0u : 0",
               sc_gen_scalar(gen, pred, SC_LANE_PRED, SC_T_pred).text);
    for (uint32_t part = 0; !is_uniform(gen, pred) && part < gen->parts; part++)
        sc_put(gen, "%sm_bits(%s) << %u", part ? " | " : "",
               sc_gen_vector(gen, pred, SC_LANE_PRED, SC_T_pred, part).text,
               part * gen->lanes);
    sc_put(gen, ";\n");
}

static enum sc_modifier vote_mode(struct sc_gen *gen)
{
    static const enum sc_modifier modes[] = {SC_MOD_all, SC_MOD_any, SC_MOD_uni,
                                             SC_MOD_ballot};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (sc_inst_has(gen->inst, modes[i]))
            return modes[i];
    sc_gen_refuse(gen, "the generator lacks this vote");
}

static const char *vote_text(enum sc_modifier mode)
{
    return mode == SC_MOD_all   ? "!(set & ~yes)"
           : mode == SC_MOD_any ? "(set & yes) != 0"
           : mode == SC_MOD_uni ? "!(set & ~yes) || !(set & yes)"
                                : "set & yes";
}

static void vote_together(struct sc_gen *gen, const struct sc_operand *members)
{
    put_set(gen, members);
    sc_put(gen, "const uint32_t one = %s;\n", vote_text(vote_mode(gen)));
    assign_same(gen, &gen->inst->operands[0], "one");
}

static void vote_in_groups(struct sc_gen *gen, const struct sc_operand *members)
{
    const char *mode = sc_modifier_name(vote_mode(gen));
    bool ballot = vote_mode(gen) == SC_MOD_ballot;
    char name[32];
    snprintf(name, sizeof name, "vote_%s", mode);
    sc_rt_need(gen, name, SC_ELEMENT_u32);
    put_vectors(gen, "m", members, SC_LANE_32, SC_T_b32);
    sc_put(gen, "const %s d[] = {", ballot ? "v32" : "vm");
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%s(m[%u] & who, yes), ", name, part);
    sc_put(gen, "};\n");
    assign(gen, &gen->inst->operands[0], "d");
}

static void emit_vote(struct sc_gen *gen)
{
    const struct sc_operand *o = gen->inst->operands;
    bool sync = sc_inst_has(gen->inst, SC_MOD_sync);
    const struct sc_operand *members = sync ? &o[2] : NULL;
    if (o[0].kind != SC_OPERAND_REG)
        return;
    sc_put(gen, "{ ");
    put_who(gen);
    put_yes(gen, &o[1]);
    if (!members || is_uniform(gen, members))
        vote_together(gen, members);
    else
        vote_in_groups(gen, members);
    sc_put(gen, "}\n");
}

/* ---- match ---- */

static void emit_match(struct sc_gen *gen)
{
    const struct sc_inst *inst = gen->inst;
    const struct sc_operand *o = inst->operands, *d, *p;
    enum sc_type type = inst->types[0];
    bool wide = sc_type_bytes(type) == 8, all = sc_inst_has(inst, SC_MOD_all);
    char name[32];
    find_results(inst, &d, &p);
    snprintf(name, sizeof name, "match_%s_%d", all ? "all" : "any",
             wide ? 64 : 32);
    sc_rt_need(gen, "same_32", SC_ELEMENT_u32);
    sc_rt_need(gen, name, SC_ELEMENT_u32);
    sc_put(gen, "{ ");
    put_who(gen);
    put_vectors(gen, "x", &o[1], wide ? SC_LANE_64 : SC_LANE_32, type);
    put_vectors(gen, "m", &o[2], SC_LANE_32, SC_T_b32);
    sc_put(gen, "v32 d[%u];\n", gen->parts);
    if (all)
        sc_put(gen, "vm p[%u];\n", gen->parts);
    sc_put(gen, "%s(x, m, who, d%s);\n", name, all ? ", p" : "");
    if (is_uniform(gen, &o[2]) && all) {
        sc_put(gen, "const uint32_t one = ((const uint32_t *)d)"
                    "[__builtin_ctz(who)], same = 0");
        for (uint32_t part = 0; part < gen->parts; part++)
            sc_put(gen, " | m_any(p[%u])", part);
        sc_put(gen, ";\n");
        assign_same(gen, d, "one");
        assign_same(gen, p, "same");
    } else {
        assign(gen, d, "d");
        if (all)
            assign(gen, p, "p");
    }
    sc_put(gen, "}\n");
}

/* ---- redux ---- */

struct redux {
    enum sc_modifier mod;
    const char *name, *alone; /* as in emit_atomic.c */
    bool is_signed;
};

static const struct redux *find_redux(struct sc_gen *gen)
{
    static const struct redux kinds[] = {
        {SC_MOD_add, "add_32", "0", false},
        {SC_MOD_add, "add_32", "0", true},
        {SC_MOD_and, "and_32", "~0u", false},
        {SC_MOD_or, "or_32", "0", false},
        {SC_MOD_xor, "xor_32", "0", false},
        {SC_MOD_min, "min_u32", "~0u", false},
        {SC_MOD_max, "max_u32", "0", false},
        {SC_MOD_min, "min_s32", "0x7fffffffu", true},
        {SC_MOD_max, "max_s32", "0x80000000u", true}};
    bool is_signed = gen->inst->types[0] == SC_T_s32;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sc_inst_has(gen->inst, kinds[i].mod) &&
            kinds[i].is_signed == is_signed)
            return &kinds[i];
    sc_gen_refuse(gen, "the generator lacks this reduction");
}

static void redux_together(struct sc_gen *gen, const struct redux *kind)
{
    const struct sc_operand *o = gen->inst->operands;
    sc_put(gen, "const uint32_t set = who & %s;\nconst uint32_t one = fold_%s(",
           sc_gen_scalar(gen, &o[2], SC_LANE_32, SC_T_b32).text, kind->name);
    for (uint32_t part = 1; part < gen->parts; part++)
        sc_put(gen, "pair_%s(", kind->name);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%sv_sel32(m_from_bits(set >> %u), x[%u], v_bc32(%s))%s",
               part ? ", " : "", part * gen->lanes, part, kind->alone,
               part ? ")" : "");
    sc_put(gen, ");\n");
    assign_same(gen, &o[0], "one");
}

static void emit_redux(struct sc_gen *gen)
{
    const struct sc_operand *o = gen->inst->operands;
    const struct redux *kind = find_redux(gen);
    char name[32];
    if (o[0].kind != SC_OPERAND_REG)
        return;
    snprintf(name, sizeof name, "fold_%s", kind->name);
    sc_rt_need(gen, name, SC_ELEMENT_u32);
    sc_put(gen, "{ ");
    put_who(gen);
    put_vectors(gen, "x", &o[1], SC_LANE_32, SC_T_b32);
    if (is_uniform(gen, &o[2])) {
        redux_together(gen, kind);
    } else {
        snprintf(name, sizeof name, "redux_%s", kind->name);
        sc_rt_need(gen, "same_32", SC_ELEMENT_u32);
        sc_rt_need(gen, name, SC_ELEMENT_u32);
        put_vectors(gen, "m", &o[2], SC_LANE_32, SC_T_b32);
        sc_put(gen, "v32 d[%u];\n%s(x, m, who, d);\n", gen->parts, name);
        assign(gen, &o[0], "d");
    }
    sc_put(gen, "}\n");
}

/* ---- elect ---- */

static void emit_elect(struct sc_gen *gen)
{
    const struct sc_operand *o = gen->inst->operands, *d, *p;
    find_results(gen->inst, &d, &p);
    sc_rt_need(gen, "elect", SC_ELEMENT_u32);
    sc_put(gen, "{ ");
    put_who(gen);
    put_vectors(gen, "m", &o[1], SC_LANE_32, SC_T_b32);
    sc_put(gen, "vm p[%u];\nconst v32 d[] = {", gen->parts);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "elect(%u, m[%u] & who, &p[%u]), ", part * gen->lanes, part,
               part);
    sc_put(gen, "};\n");
    assign(gen, d, "d");
    assign(gen, p, "p");
    sc_put(gen, "}\n");
}

void sc_emit_warp(struct sc_gen *gen)
{
    if (gen->group != SC_WARP)
        sc_gen_refuse(gen, "its group is not a warp");
    switch (gen->inst->opcode) {
    case SC_OP_shfl:
        emit_shfl(gen);
        return;
    case SC_OP_vote:
        emit_vote(gen);
        return;
    case SC_OP_match:
        emit_match(gen);
        return;
    case SC_OP_redux:
        emit_redux(gen);
        return;
    case SC_OP_elect:
        emit_elect(gen);
        return;
    default:
        sc_put(gen, "{ ");
        put_who(gen);
        assign_same(gen, &gen->inst->operands[0], "who");
        sc_put(gen, "}\n");
    }
}

/*
 * Writes atom and red; see native/emit.h and native/rt_atomic.def.
 *
 * Lanes go one after the other, as in the interpreter (exec/atomic.c). Where
 * all of them mean one address, what they do together is found out first and
 * done at once, which is one of the orders they could have come in. Shared
 * memory belongs to one thread and is written without the bus's lock.
 * Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

struct operation {
    enum sc_modifier mod;
    enum sc_type type;
    const char *name;  /* of the rows */
    const char *alone; /* what it does to lanes that bring nothing, or NULL */
};

#define BITS(w, cast)                                                          \
    {SC_MOD_add, SC_T_u##w, "add_" #w, "0"},                                   \
        {SC_MOD_add, SC_T_s##w, "add_" #w, "0"},                               \
        {SC_MOD_and, SC_T_b##w, "and_" #w, "~" cast "0"},                      \
        {SC_MOD_or, SC_T_b##w, "or_" #w, "0"},                                 \
        {SC_MOD_xor, SC_T_b##w, "xor_" #w, "0"},                               \
        {SC_MOD_exch, SC_T_b##w, "exch_" #w, NULL},                            \
        {SC_MOD_cas, SC_T_b##w, "cas_" #w, NULL},                              \
        {SC_MOD_min, SC_T_u##w, "min_u" #w, "~" cast "0"},                     \
        {SC_MOD_max, SC_T_u##w, "max_u" #w, "0"},                              \
        {SC_MOD_min, SC_T_s##w, "min_s" #w, "~" cast "0 >> 1"},                \
    {                                                                          \
        SC_MOD_max, SC_T_s##w, "max_s" #w, cast "1 << (" #w " - 1)"            \
    }

static const struct operation operations[] = {
    BITS(32, "(uint32_t)"),
    BITS(64, "(uint64_t)"),
    {SC_MOD_cas, SC_T_b16, "cas_16", NULL},
    {SC_MOD_inc, SC_T_u32, "inc_32", NULL},
    {SC_MOD_dec, SC_T_u32, "dec_32", NULL},
    {SC_MOD_add, SC_T_f32, "add_f32", NULL},
    {SC_MOD_add, SC_T_f64, "add_f64", NULL},
    {SC_MOD_add, SC_T_f16, "add_f16", NULL},
    {SC_MOD_add, SC_T_bf16, "add_bf16", NULL},
    {SC_MOD_add, SC_T_f16x2, "add_f16x2", NULL},
    {SC_MOD_add, SC_T_bf16x2, "add_bf16x2", NULL},
};

struct atomic {
    const struct operation *op;
    struct sc_address at;
    const struct sc_operand *to; /* NULL: nobody wants the old values */
    const struct sc_operand *b, *c;
    enum sc_type type;
    uint32_t bytes;
    enum sc_lane_class class;
    bool own; /* of this CTA alone */
};

/* ---- what it is ---- */

static const struct operation *find_operation(struct sc_gen *gen)
{
    const struct sc_inst *inst = gen->inst;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (inst->type_count == 1 && operations[i].type == inst->types[0] &&
            sc_inst_has(inst, operations[i].mod))
            return &operations[i];
    sc_gen_refuse(gen, "the generator lacks this atomic operation");
}

/* Compilers write atom where red would do. */
static bool is_wanted(struct sc_gen *gen, const struct sc_operand *to)
{
    if (to->kind != SC_OPERAND_REG)
        return false;
    sc_bits *live = sc_load_alloc(&gen->load, gen->words, sizeof *live);
    uint32_t next = (uint32_t)(gen->inst - gen->func->insts) + 1;
    sc_gen_live_before(gen, gen->place, next, live);
    return sc_bits_has(live, to->reg);
}

static struct atomic find_atomic(struct sc_gen *gen)
{
    const struct sc_inst *inst = gen->inst;
    const struct sc_operand *o = inst->operands;
    struct atomic x = {.op = find_operation(gen), .type = inst->types[0]};
    if (inst->opcode == SC_OP_atom) {
        x.to = is_wanted(gen, &o[0]) ? &o[0] : NULL;
        o++;
    }
    x.at = sc_emit_address(gen, &o[0]);
    x.b = &o[1];
    x.c = x.op->mod == SC_MOD_cas ? &o[2] : &o[1];
    x.bytes = sc_type_bytes(x.type);
    x.class = x.bytes == 8 ? SC_LANE_64 : SC_LANE_32;
    x.own = x.at.mode == SC_MODE_SHARED;
    return x;
}

/* ---- checks, as for loads and stores ---- */

static int low_shift(const struct atomic *x)
{
    return 64 - __builtin_ctz(x->bytes);
}

/* `uint64_t at`: where the one address of all lanes lies. */
static void put_place(struct sc_gen *gen, const struct atomic *x)
{
    sc_rt_need(gen, "lane_at", SC_ELEMENT_u32);
    sc_put(gen, "const uint64_t a = %s;\n", sc_emit_base(gen, &x->at).text);
    if (sc_gen_is_inside(gen, &x->at, x->bytes)) {
        sc_put(gen, "const uint64_t at = shared + a;\n");
        return;
    }
    if (x->own)
        sc_put(gen,
               "const uint64_t at = __builtin_expect(shared_bytes >= %u && (a "
               "| a << %d) <= shared_bytes - %u, 1) ? shared + a : ",
               x->bytes, low_shift(x), x->bytes);
    else
        sc_put(gen,
               "const uint64_t at = __builtin_expect(((a - window) | a << %d) "
               "<= window_end - %u, 1) ? a : ",
               low_shift(x), x->bytes);
    sc_put(gen, "(uint64_t)lane_at(cta, %u, a, %u, 0, %u);\n", x->at.mode,
           x->bytes, gen->inst->line);
}

/* `v64 al[]` and `int fast`: all lanes lie where they should. */
static void put_places(struct sc_gen *gen, const struct atomic *x)
{
    sc_rt_need(gen, "inside", SC_ELEMENT_u32);
    sc_put(gen, "const v64 al[] = {");
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%s, ", sc_emit_lanes(gen, &x->at, part).text);
    sc_put(gen, "};\nconst int fast = ");
    if (sc_gen_is_inside(gen, &x->at, x->bytes)) {
        sc_put(gen, "1;\n");
        return;
    }
    if (x->own)
        sc_put(gen, "shared_bytes >= %u", x->bytes);
    else
        sc_put(gen, "%d",
               x->at.mode == SC_MODE_GLOBAL || x->at.mode == SC_MODE_GENERIC);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, " && inside(al[%u], %s, %s - %u, %d)", part,
               sc_emit_mask(gen, part).text,
               x->own ? "0, shared_bytes" : "window, window_end", x->bytes,
               low_shift(x));
    sc_put(gen, ";\n");
}

/* ---- operands and results ---- */

static void put_operand(struct sc_gen *gen, const struct atomic *x, char name,
                        const struct sc_operand *operand)
{
    sc_put(gen, "const %s %c[] = {", sc_emit_type(x->class, true), name);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%s, ",
               sc_gen_vector(gen, operand, x->class, x->type, part).text);
    sc_put(gen, "};\n");
}

static void need(struct sc_gen *gen, const struct atomic *x, const char *prefix)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%s", prefix, x->op->name);
    sc_rt_need(gen, name, SC_ELEMENT_u32);
}

static void assign(struct sc_gen *gen, const struct atomic *x)
{
    for (uint32_t part = 0; x->to && part < gen->parts; part++) {
        char name[16];
        snprintf(name, sizeof name, "d[%u]", part);
        sc_emit_vector(gen, x->to->reg, part, name);
    }
}

/* ---- lane after lane ---- */

static void put_lanes(struct sc_gen *gen, const struct atomic *x,
                      const char *third)
{
    const char *name = x->op->name;
    for (uint32_t part = 0; part < gen->parts; part++) {
        struct sc_value m = sc_emit_mask(gen, part);
        if (x->to)
            sc_put(gen, "d[%u] = ", part);
        sc_put(gen, "__builtin_expect(fast, 1) ? ");
        if (x->own)
            sc_put(gen, "near_%s(shared, v_lo32(al[%u]), ", name, part);
        else
            sc_put(gen, "far_%s(al[%u], ", name, part);
        sc_put(gen, "%s, b[%u], %s[%u]) : ", m.text, part, third, part);
        sc_put(gen,
               "slow_%s(cta, %u, al[%u], %s, b[%u], %s[%u], t0 + %u, %u);\n",
               name, x->at.mode, part, m.text, part, third, part,
               part * gen->lanes, gen->inst->line);
    }
}

static void emit_lanes(struct sc_gen *gen, const struct atomic *x)
{
    bool third = x->c != x->b;
    sc_rt_need(gen, "lane_at", SC_ELEMENT_u32);
    need(gen, x, x->own ? "near" : "far");
    need(gen, x, "slow");
    sc_put(gen, "{ ");
    put_places(gen, x);
    put_operand(gen, x, 'b', x->b);
    if (third)
        put_operand(gen, x, 'c', x->c);
    if (x->to)
        sc_put(gen, "%s d[%u];\n", sc_emit_type(x->class, true), gen->parts);
    put_lanes(gen, x, third ? "c" : "b");
    assign(gen, x);
    sc_put(gen, "}\n");
}

/* ---- one address ---- */

/* `uint32_t who`, the lanes meant, one bit each. */
static void put_who(struct sc_gen *gen)
{
    sc_put(gen, "const uint32_t who = 0");
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, " | m_bits(%s) << %u", sc_emit_mask(gen, part).text,
               part * gen->lanes);
    sc_put(gen, ";\n");
}

/* What the lanes bring together, all of the same value. */
static void put_total_of_same(struct sc_gen *gen, const struct atomic *x)
{
    const char *type = sc_emit_type(x->class, false);
    sc_put(gen, "const %s one = %s;\nconst %s all = ", type,
           sc_gen_scalar(gen, x->b, x->class, x->type).text, type);
    switch (x->op->mod) {
    case SC_MOD_add:
        sc_put(gen, "one * __builtin_popcount(who);\n");
        break;
    case SC_MOD_xor:
        sc_put(gen, "__builtin_popcount(who) & 1 ? one : 0;\n");
        break;
    default:
        sc_put(gen, "one;\n");
    }
}

static void put_total(struct sc_gen *gen, const struct atomic *x)
{
    const char *name = x->op->name;
    bool wide = x->class == SC_LANE_64;
    need(gen, x, "fold");
    put_operand(gen, x, 'b', x->b);
    sc_put(gen, "const %s all = fold_%s(", sc_emit_type(x->class, false), name);
    for (uint32_t part = 1; part < gen->parts; part++)
        sc_put(gen, "pair_%s(", name);
    for (uint32_t part = 0; part < gen->parts; part++) {
        const char *end = part ? ")" : "";
        sc_put(gen, "%s", part ? ", " : "");
        if (gen->mask)
            sc_put(gen, "v_sel%d(%s, b[%u], v_bc%d(%s))%s", wide ? 64 : 32,
                   sc_emit_mask(gen, part).text, part, wide ? 64 : 32,
                   x->op->alone, end);
        else
            sc_put(gen, "b[%u]%s", part, end);
    }
    sc_put(gen, ");\n");
}

/* The lanes' own old values, from that of all of them and what each adds. */
static void put_ranks(struct sc_gen *gen, const struct atomic *x)
{
    bool wide = x->class == SC_LANE_64;
    sc_rt_need(gen, "ranks", SC_ELEMENT_u32);
    sc_put(gen, "const %s d[] = {", sc_emit_type(x->class, true));
    for (uint32_t part = 0; part < gen->parts; part++) {
        uint32_t first = part * gen->lanes;
        if (wide)
            sc_put(gen,
                   "v_add64(v_bc64(old), v_mul64(v_bc64(one), "
                   "v_zext64(ranks(who, %u)))), ",
                   first);
        else
            sc_put(gen, "old + one * ranks(who, %u), ", first);
    }
    sc_put(gen, "};\n");
}

static void emit_together(struct sc_gen *gen, const struct atomic *x, bool same)
{
    const char *prefix = x->own ? "own" : "all";
    const char *type = x->bytes == 8 ? "uint64_t" : "uint32_t";
    need(gen, x, prefix);
    sc_put(gen, "{ ");
    put_place(gen, x);
    put_who(gen);
    if (same)
        put_total_of_same(gen, x);
    else
        put_total(gen, x);
    if (x->to)
        sc_put(gen, "const %s old = ", type);
    sc_put(gen, "%s_%s((%s *)at, all, 0);\n", prefix, x->op->name, type);
    if (x->to)
        put_ranks(gen, x);
    assign(gen, x);
    sc_put(gen, "}\n");
}

static void emit_each(struct sc_gen *gen, const struct atomic *x)
{
    const char *prefix = x->own ? "eown" : "each";
    static const char *const types[] = {
        [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t"};
    need(gen, x, prefix);
    sc_put(gen, "{ ");
    put_place(gen, x);
    put_operand(gen, x, 'b', x->b);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "%s_%s((%s *)at, %s, b[%u]);\n", prefix, x->op->name,
               types[x->bytes], sc_emit_mask(gen, part).text, part);
    sc_put(gen, "}\n");
}

static void need_halves(struct sc_gen *gen, const struct atomic *x)
{
    static const char *const f16[] = {"sc_f16_f32", "sc_f64_f16"};
    static const char *const bf16[] = {"sc_bf16_f32", "sc_f64_bf16"};
    bool is_bf16 = x->type == SC_T_bf16 || x->type == SC_T_bf16x2;
    if (!is_bf16 && x->type != SC_T_f16 && x->type != SC_T_f16x2)
        return;
    for (int i = 0; i < 2; i++)
        if (!sc_alu_need(&gen->alu, is_bf16 ? bf16[i] : f16[i]))
            sc_gen_refuse(gen, "arithmetic of it is not there");
}

void sc_emit_atomic(struct sc_gen *gen)
{
    struct atomic x = find_atomic(gen);
    bool own = x.at.mode == SC_MODE_LOCAL || x.at.mode == SC_MODE_PARAM ||
               (x.at.mode == SC_MODE_GENERIC && gen->has_local);
    bool one_place = sc_shape_is_uniform(x.at.shape) && !own;
    bool same = sc_shape_is_uniform(sc_gen_shape(gen, x.b));
    need_halves(gen, &x);
    if (one_place && x.op->alone &&
        (!x.to || (same && x.op->mod == SC_MOD_add)))
        emit_together(gen, &x, same);
    else if (one_place && !x.to && x.op->mod != SC_MOD_cas)
        emit_each(gen, &x);
    else
        emit_lanes(gen, &x);
}

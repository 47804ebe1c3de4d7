/*
 * Whether lanes of a warp may see in memory what others of it did since the
 * last barrier; see native/gen.h.
 *
 * On hardware a warp runs in step and is together again behind an `if`, and
 * programs rely on that without a word. So where one access may meet another
 * of the same warp, and one of them writes, a group must be a whole warp.
 *
 * Two accesses with no barrier on some way between them are taken to meet
 * unless their addresses are made of different variables or parameters, or are
 * linear from one register with every lane at its own. Two parameters that
 * point into one array are taken for two. Lock: none.
 */
#include "native/emit.h"

#include <string.h>

/* What an address is made of: a bit for each name, and these. */
#define MOST_NAMES 62u
#define OTHERS     ((sc_bits)1 << 62) /* names beyond */
#define ANYTHING   ((sc_bits)1 << 63) /* a pointer that was loaded */
/* Words of sets, and pairs, looked at, some tenths of a second: beyond, lanes
 * are taken to exchange. */
#define MOST_WORK ((uint64_t)1 << 26)

struct name {
    const struct sc_var *var;
    uint64_t offset;
};

struct access {
    uint32_t inst, place, base; /* its register, or SC_NONE */
    int64_t offset, bytes;
    enum sc_mode mode;
    sc_bits of;
    bool reads, writes;
};

/* Accesses a place begins with: done since a barrier; of these, those whose
 * base register was set since. */
struct state {
    sc_bits *done, *stale;
};

struct search {
    struct sc_gen *gen;
    struct name names[MOST_NAMES];
    uint32_t name_count;
    sc_bits *of; /* by register */
    struct access *list;
    uint32_t count, words;
    uint32_t *at; /* access by instruction, or SC_NONE */
    struct state *states;
    uint64_t work;
};

/* ---- names ---- */

static sc_bits name_of(struct search *s, const struct sc_var *var,
                       uint64_t offset)
{
    uint32_t i = 0;
    bool dynamic = var->space == SC_SPACE_SHARED && !var->bytes;
    for (; i < s->name_count; i++) {
        const struct sc_var *v = s->names[i].var;
        bool both = dynamic && v->space == SC_SPACE_SHARED && !v->bytes;
        if (both || (v == var && s->names[i].offset == offset))
            return (sc_bits)1 << i;
    }
    if (i == MOST_NAMES)
        return OTHERS;
    s->names[s->name_count++] = (struct name){var, offset};
    return (sc_bits)1 << i;
}

static sc_bits names_in(struct search *s, const struct sc_operand *o)
{
    sc_bits all = 0;
    if (o->kind == SC_OPERAND_REG)
        return s->of[o->reg];
    if (o->kind == SC_OPERAND_SYMBOL)
        return name_of(s, o->var, 0);
    for (uint32_t i = 0; i < sc_operand_parts(o); i++)
        all |= names_in(s, &o->sub[i]);
    return all;
}

static sc_bits parameter(struct search *s, const struct sc_inst *inst)
{
    const struct sc_operand *o = &inst->operands[1];
    const struct sc_operand *from = o->kind == SC_OPERAND_ADDRESS ? o->sub : o;
    if (from->kind != SC_OPERAND_SYMBOL)
        return ANYTHING;
    return name_of(s, from->var, o->bits + (from == o ? 0 : from->bits));
}

/* What the results of an instruction may point to. */
static sc_bits result(struct search *s, const struct sc_inst *inst)
{
    sc_bits all = 0;
    uint32_t wide = inst->type_count ? sc_type_bytes(inst->types[0]) : 0;
    switch (inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
        if (wide < 8)
            return 0;
        return sc_emit_mode(inst) == SC_MODE_PARAM ? parameter(s, inst)
                                                   : ANYTHING;
    case SC_OP_atom:
        return wide < 8 ? 0 : ANYTHING;
    case SC_OP_mul: /* an index, in bytes */
    case SC_OP_shl:
    case SC_OP_shr:
    case SC_OP_setp:
        return 0;
    case SC_OP_mad:
        return names_in(s, &inst->operands[3]);
    default:
        for (uint32_t i = 1; i < inst->operand_count; i++)
            all |= names_in(s, &inst->operands[i]);
        return all;
    }
}

static void find_names(struct search *s)
{
    const struct sc_func *func = s->gen->func;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < func->inst_count; i++) {
            uint32_t regs[SC_MAX_DEFS];
            uint32_t n = sc_gen_defs(s->gen, &func->insts[i], regs);
            sc_bits of = n ? result(s, &func->insts[i]) : 0;
            for (uint32_t k = 0; k < n; k++) {
                changed |= (of & ~s->of[regs[k]]) != 0;
                s->of[regs[k]] |= of;
            }
        }
    }
}

/* ---- accesses ---- */

static const struct sc_operand *address_of(const struct sc_inst *inst)
{
    switch (inst->opcode) {
    case SC_OP_ld:
    case SC_OP_ldu:
    case SC_OP_atom:
        return &inst->operands[1];
    case SC_OP_st:
    case SC_OP_red:
        return &inst->operands[0];
    default:
        return NULL;
    }
}

/* Memory that lanes share and that somebody may write. */
static bool is_shared(const struct sc_inst *inst)
{
    enum sc_mode mode = sc_emit_mode(inst);
    return mode != SC_MODE_LOCAL && mode != SC_MODE_PARAM &&
           !sc_inst_has(inst, SC_MOD_const) && !sc_inst_has(inst, SC_MOD_nc) &&
           inst->opcode != SC_OP_ldu;
}

static struct access describe(struct search *s, uint32_t inst, uint32_t place,
                              const struct sc_operand *address)
{
    const struct sc_inst *i = &s->gen->func->insts[inst];
    const struct sc_operand *o =
        address->kind == SC_OPERAND_ADDRESS ? address->sub : address;
    bool is_store = i->opcode == SC_OP_st || i->opcode == SC_OP_red;
    uint32_t parts = sc_operand_parts(&i->operands[is_store]);
    uint32_t bytes = i->type_count ? sc_type_bytes(i->types[0]) : 16;
    return (struct access){.inst = inst,
                           .place = place,
                           .base = o->kind == SC_OPERAND_REG ? o->reg : SC_NONE,
                           .offset = address == o ? 0 : (int64_t)address->bits,
                           .bytes = (int64_t)bytes * (parts ? parts : 1),
                           .mode = sc_emit_mode(i),
                           .of = names_in(s, address),
                           .reads = i->opcode == SC_OP_ld ||
                                    i->opcode == SC_OP_atom ||
                                    i->opcode == SC_OP_red,
                           .writes = i->opcode != SC_OP_ld};
}

static void find_accesses(struct search *s)
{
    const struct sc_gen *gen = s->gen;
    uint32_t n = (uint32_t)gen->func->inst_count;
    s->list = sc_load_alloc(&s->gen->load, n + 1, sizeof *s->list);
    s->at = sc_load_alloc(&s->gen->load, n + 1, sizeof *s->at);
    memset(s->at, 0xff, (n + 1) * sizeof *s->at);
    for (uint32_t p = 0; p < gen->count; p++)
        for (uint32_t i = gen->places[p].first; i < gen->places[p].end; i++) {
            const struct sc_operand *o = address_of(&gen->func->insts[i]);
            if (!o || !is_shared(&gen->func->insts[i]))
                continue;
            s->at[i] = s->count;
            s->list[s->count++] = describe(s, i, p, o);
        }
    s->words = (s->count + 63) / 64;
}

/* ---- two accesses ---- */

static bool are_apart(const struct access *a, const struct access *b)
{
    bool known = a->of && b->of && !((a->of | b->of) & ANYTHING);
    bool spaces = a->mode != b->mode && a->mode != SC_MODE_GENERIC &&
                  b->mode != SC_MODE_GENERIC;
    return spaces || (known && !(a->of & b->of));
}

/* Whether the lanes of a warp are threads in a row. */
static bool has_rows(const struct sc_gen *gen)
{
    return gen->ntid[1] * gen->ntid[2] == 1 || gen->ntid[0] % SC_WARP == 0;
}

/* Bytes from lane to lane; 0: not known, or the same for all. */
static int64_t step_of(const struct search *s, uint32_t base)
{
    return base != SC_NONE && s->gen->shapes[base].kind == SC_SHAPE_LINEAR
               ? s->gen->shapes[base].stride
               : 0;
}

static bool is_atomic(const struct access *a)
{
    return a->reads && a->writes;
}

/* What was read there, or written, is now written: by a lane that is taken to
 * be alone with its own, where they do not all have the same address. */
static bool writes_back(const struct search *s, const struct access *a,
                        const struct access *b)
{
    return a->offset == b->offset && a->bytes == b->bytes && !is_atomic(a) &&
           !is_atomic(b) && b->writes &&
           s->gen->shapes[a->base].kind == SC_SHAPE_VARYING;
}

/* From one register, which held the same: does a lane meet another one's? */
static bool strays(const struct search *s, const struct access *a,
                   const struct access *b)
{
    int64_t step = step_of(s, a->base), gap = b->offset - a->offset;
    if (s->gen->shapes[a->base].kind != SC_SHAPE_LINEAR)
        return !writes_back(s, a, b);
    for (int64_t lanes = 1; lanes < SC_WARP; lanes++)
        for (int sign = -1; sign <= 1; sign += 2) {
            int64_t at = gap + sign * lanes * step;
            if (at < a->bytes && at > -b->bytes)
                return true;
        }
    return false;
}

/* Two stores, as tiles are filled: of two matrices, by rows beside each other;
 * or with a rim, by a block of which this cannot be told, and whose groups
 * would be slow as whole warps. */
static bool fill_side_by_side(const struct search *s, const struct access *a,
                              const struct access *b)
{
    int64_t step = step_of(s, a->base);
    return !a->reads && !b->reads &&
           (!has_rows(s->gen) ||
            (a->place == b->place && step && step == step_of(s, b->base)));
}

/* `a` was done since the last barrier, and now comes `b`; `stale`: the base
 * register of `a` was set since. */
static bool may_meet(const struct search *s, const struct access *a,
                     const struct access *b, bool stale)
{
    if ((!a->writes && !b->writes) || are_apart(a, b))
        return false;
    if (is_atomic(a) && is_atomic(b)) /* in any order */
        return false;
    if (a == b) /* a store in several rounds */
        return false;
    bool same = !stale && a->base == b->base && a->base != SC_NONE;
    return !fill_side_by_side(s, a, b) && (!same || strays(s, a, b));
}

/* ---- ways without a barrier ---- */

static bool meets_any(struct search *s, const struct state *now, uint32_t b)
{
    for (uint32_t w = 0; w < s->words; w++)
        for (sc_bits left = now->done[w]; left; left &= left - 1) {
            uint32_t a = w * 64 + (uint32_t)__builtin_ctzll(left);
            s->work++;
            if (may_meet(s, &s->list[a], &s->list[b],
                         sc_bits_has(now->stale, a)))
                return true;
        }
    return false;
}

static void set_register(struct search *s, struct state *now, uint32_t reg)
{
    for (uint32_t w = 0; w < s->words; w++)
        for (sc_bits left = now->done[w]; left; left &= left - 1) {
            uint32_t a = w * 64 + (uint32_t)__builtin_ctzll(left);
            s->work++;
            if (s->list[a].base == reg)
                sc_bits_add(now->stale, a);
        }
}

static void clear(const struct search *s, const struct state *now)
{
    memset(now->done, 0, s->words * sizeof *now->done);
    memset(now->stale, 0, s->words * sizeof *now->stale);
}

/* Return: whether an access met another one. */
static bool pass(struct search *s, uint32_t place, struct state *now)
{
    const struct sc_gen *gen = s->gen;
    const struct sc_place *p = &gen->places[place];
    memcpy(now->done, s->states[place].done, s->words * sizeof *now->done);
    memcpy(now->stale, s->states[place].stale, s->words * sizeof *now->stale);
    for (uint32_t i = p->first; i < p->end; i++) {
        uint32_t regs[SC_MAX_DEFS], a = s->at[i];
        uint32_t n = sc_gen_defs(gen, &gen->func->insts[i], regs);
        s->work += (n + 1) * s->words;
        if (sc_emit_is_barrier(&gen->func->insts[i]))
            clear(s, now);
        if (a != SC_NONE && meets_any(s, now, a))
            return true;
        if (a != SC_NONE)
            sc_bits_add(now->done, a);
        for (uint32_t k = 0; k < n; k++)
            set_register(s, now, regs[k]);
    }
    return false;
}

static bool hand_on(const struct search *s, const struct state *now,
                    struct state *to)
{
    bool changed = false;
    for (uint32_t w = 0; w < s->words; w++) {
        changed |=
            (now->done[w] & ~to->done[w]) | (now->stale[w] & ~to->stale[w]);
        to->done[w] |= now->done[w];
        to->stale[w] |= now->stale[w];
    }
    return changed;
}

static struct state new_state(struct search *s)
{
    struct sc_load *load = &s->gen->load;
    return (struct state){sc_load_alloc(load, s->words + 1, sizeof(sc_bits)),
                          sc_load_alloc(load, s->words + 1, sizeof(sc_bits))};
}

static bool walk(struct search *s)
{
    const struct sc_gen *gen = s->gen;
    struct state now = new_state(s);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < gen->count; i++) {
            const struct sc_place *p = &gen->places[i];
            if (pass(s, i, &now) || s->work > MOST_WORK)
                return true;
            for (uint32_t k = 0; k < p->succ_count; k++)
                if (p->succs[k] < gen->count)
                    changed |= hand_on(s, &now, &s->states[p->succs[k]]);
        }
    }
    return false;
}

bool sc_gen_exchanges(struct sc_gen *gen)
{
    struct search *s = sc_load_alloc(&gen->load, 1, sizeof *s);
    s->gen = gen;
    s->of = sc_load_alloc(&gen->load, gen->reg_count, sizeof *s->of);
    find_names(s);
    find_accesses(s);
    if ((uint64_t)s->words * gen->count > MOST_WORK / 64)
        return true;
    s->states = sc_load_alloc(&gen->load, gen->count + 1, sizeof *s->states);
    for (uint32_t i = 0; i < gen->count; i++)
        s->states[i] = new_state(s);
    return walk(s);
}

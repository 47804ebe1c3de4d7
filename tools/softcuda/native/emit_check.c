/*
 * Writes the checks of loads and stores; see native/emit.h.
 *
 * Where accesses of one place have the same base register, the range they
 * span is checked once, ahead of the first. Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

/* No quick check for a group that spans more. */
#define MOST_SPAN (1u << 20)

enum sc_mode sc_emit_mode(const struct sc_inst *inst)
{
    if (sc_inst_has(inst, SC_MOD_global) || sc_inst_has(inst, SC_MOD_const))
        return SC_MODE_GLOBAL;
    if (sc_inst_has(inst, SC_MOD_shared) ||
        sc_inst_has(inst, SC_MOD_shared__cta) ||
        sc_inst_has(inst, SC_MOD_shared__cluster))
        return SC_MODE_SHARED;
    if (sc_inst_has(inst, SC_MOD_local))
        return SC_MODE_LOCAL;
    if (sc_inst_has(inst, SC_MOD_param) ||
        sc_inst_has(inst, SC_MOD_param__entry))
        return SC_MODE_PARAM;
    return SC_MODE_GENERIC;
}

/* ---- what is accessed ---- */

static enum sc_element element_of(struct sc_gen *gen, enum sc_type type)
{
    bool is_signed = sc_type_class(type) == SC_CLASS_SIGNED;
    switch (sc_type_bytes(type)) {
    case 1:
        return is_signed ? SC_ELEMENT_s8 : SC_ELEMENT_u8;
    case 2:
        return is_signed ? SC_ELEMENT_s16 : SC_ELEMENT_u16;
    case 4:
        return SC_ELEMENT_u32;
    case 8:
        return SC_ELEMENT_u64;
    default:
        sc_gen_refuse(gen, "it accesses a type the generator lacks");
    }
}

struct sc_access sc_emit_access(struct sc_gen *gen,
                                const struct sc_operand *address,
                                const struct sc_operand *value)
{
    const struct sc_inst *inst = gen->inst;
    if (inst->type_count != 1)
        sc_gen_refuse(gen, "it has a form the generator lacks");
    enum sc_type type = inst->types[0];
    struct sc_access x = {.at = sc_emit_address(gen, address),
                          .element = element_of(gen, type),
                          .count =
                              value->kind == SC_OPERAND_VECTOR ? value->reg : 1,
                          .is_signed = sc_type_class(type) == SC_CLASS_SIGNED};
    x.bytes = sc_element_bytes(x.element) * x.count;
    return x;
}

static int low_shift(uint32_t bytes, int width)
{
    return bytes == 1 ? 0 : width - __builtin_ctz(bytes);
}

/* Bytes from the first to behind the last lane of the group, and how far lane
 * 0 lies behind the first byte. */
static uint64_t span_of(const struct sc_gen *gen, const struct sc_access *x,
                        uint64_t *behind)
{
    int64_t stride = x->at.shape.stride;
    uint64_t most = gen->group - 1;
    *behind = stride < 0 ? most * (uint64_t)-stride : 0;
    return most * (uint64_t)(stride < 0 ? -stride : stride) + x->bytes;
}

/* Whether every lane is aligned when the first is. */
static bool is_even(const struct sc_access *x)
{
    return x->at.shape.kind == SC_SHAPE_VARYING ||
           x->at.shape.stride % (int64_t)x->bytes == 0;
}

/* ---- ranges of several accesses ---- */

/* Accesses with a register of the range's as their base. */
static bool is_member(struct sc_gen *gen, const struct sc_access *x,
                      uint32_t reg, enum sc_mode mode)
{
    int64_t offset = (int64_t)x->at.offset;
    uint64_t behind, span = span_of(gen, x, &behind);
    return !x->at.is_fixed && x->at.base.reg == reg && x->at.mode == mode &&
           offset % (int64_t)x->bytes == 0 && is_even(x) && span <= MOST_SPAN &&
           offset > -(int64_t)MOST_SPAN && offset < (int64_t)MOST_SPAN &&
           !sc_gen_is_inside(gen, &x->at, x->bytes);
}

static const struct sc_range *range_for(struct sc_gen *gen,
                                        const struct sc_access *x)
{
    uint32_t at = (uint32_t)(gen->inst - gen->func->insts);
    uint64_t behind, span = span_of(gen, x, &behind);
    int64_t low = (int64_t)(x->at.offset - behind);
    for (uint32_t i = gen->range_count; i-- > 0;) {
        const struct sc_range *r = &gen->ranges[i];
        if (at >= r->first && at < r->end &&
            is_member(gen, x, r->reg, (enum sc_mode)r->mode) &&
            x->bytes <= r->align && low >= r->low &&
            low + (int64_t)span <= r->high)
            return r;
    }
    return NULL;
}

/* Whether it is a load or store with a register as its base. */
static bool take_apart(struct sc_gen *gen, struct sc_access *x)
{
    const struct sc_operand *o = gen->inst->operands;
    bool stores = gen->inst->opcode == SC_OP_st;
    if ((!stores && gen->inst->opcode != SC_OP_ld) ||
        gen->inst->operand_count < 2 || gen->inst->type_count != 1 ||
        sc_type_bytes(gen->inst->types[0]) > 8 ||
        o[!stores].kind != SC_OPERAND_ADDRESS ||
        o[!stores].sub->kind != SC_OPERAND_REG)
        return false;
    *x = sc_emit_access(gen, &o[!stores], &o[stores]);
    return x->at.mode == SC_MODE_GLOBAL || x->at.mode == SC_MODE_SHARED ||
           (x->at.mode == SC_MODE_GENERIC && !gen->has_local &&
            x->at.shape.kind == SC_SHAPE_VARYING);
}

static bool redefines(const struct sc_gen *gen, uint32_t reg)
{
    uint32_t regs[SC_MAX_DEFS], n = sc_gen_defs(gen, gen->inst, regs);
    for (uint32_t i = 0; i < n; i++)
        if (regs[i] == reg)
            return true;
    return sc_emit_is_barrier(gen->inst);
}

static void widen_range(const struct sc_gen *gen, struct sc_range *r,
                        const struct sc_access *x)
{
    uint64_t behind, span = span_of(gen, x, &behind);
    int64_t low = (int64_t)(x->at.offset - behind);
    int64_t high = low + (int64_t)span;
    r->low = low < r->low ? low : r->low;
    r->high = high > r->high ? high : r->high;
    r->align = x->bytes > r->align ? x->bytes : r->align;
}

/* What accesses from gen->inst on span together. Return: how many. */
static uint32_t collect(struct sc_gen *gen, const struct sc_access *x,
                        struct sc_range *r)
{
    const struct sc_inst *start = gen->inst;
    uint32_t count = 0, end = gen->places[gen->place].end;
    *r = (struct sc_range){.reg = x->at.base.reg,
                           .mode = x->at.mode,
                           .first = (uint32_t)(start - gen->func->insts),
                           .low = INT64_MAX,
                           .high = INT64_MIN};
    for (r->end = r->first; r->end < end;) {
        struct sc_access y;
        gen->inst = &gen->func->insts[r->end++];
        if (take_apart(gen, &y) &&
            is_member(gen, &y, r->reg, (enum sc_mode)r->mode)) {
            widen_range(gen, r, &y);
            count++;
        }
        if (redefines(gen, r->reg))
            break;
    }
    gen->inst = start;
    r->low &= -(int64_t)(r->align ? r->align : 1);
    return count;
}

/* Where the range starts. */
static struct sc_value start_of(struct sc_gen *gen, const struct sc_range *r)
{
    struct sc_address at = {.mode = (enum sc_mode)r->mode,
                            .base = {.kind = SC_OPERAND_REG, .reg = r->reg},
                            .class = sc_gen_class(gen, r->reg),
                            .offset = (uint64_t)r->low};
    return sc_emit_base(gen, &at);
}

static void put_range(struct sc_gen *gen, const struct sc_range *r)
{
    unsigned long long span = (unsigned long long)(r->high - r->low);
    char bad[48] = "", low[48] = "";
    if (gen->shapes[r->reg].widen != SC_NONE)
        snprintf(bad, sizeof bad, " | wb%u", gen->shapes[r->reg].widen);
    if (r->align > 1)
        snprintf(low, sizeof low, " | (uint64_t)r%u << %d", r->reg,
                 low_shift(r->align, 64));
    sc_put(gen, "const uint64_t a%u = %s;\n", r->number, start_of(gen, r).text);
    if (r->mode == SC_MODE_GLOBAL)
        sc_put(gen,
               "const int in%u = ((a%u - window)%s%s) <= window_end - %llu;\n",
               r->number, r->number, low, bad, span);
    else if (span <= gen->shared_bytes)
        sc_put(gen, "const int in%u = (a%u%s%s) <= shared_bytes - %llu;\n",
               r->number, r->number, low, bad, span);
    else
        sc_put(gen,
               "const int in%u = (a%u%s%s) + %llu <= shared_bytes && a%u <= "
               "shared_bytes;\n",
               r->number, r->number, low, bad, span, r->number);
}

static struct sc_range *add_range(struct sc_gen *gen, struct sc_range r)
{
    r.number = gen->range_count;
    gen->ranges = sc_load_grow(&gen->load, gen->ranges, gen->range_count,
                               &gen->range_capacity, sizeof *gen->ranges);
    gen->ranges[gen->range_count] = r;
    return &gen->ranges[gen->range_count++];
}

static void put_lanes_range(struct sc_gen *gen, const struct sc_access *x,
                            const struct sc_range *r)
{
    struct sc_address at = x->at;
    unsigned long long span = (unsigned long long)(r->high - r->low);
    bool shared = r->mode == SC_MODE_SHARED;
    at.offset = (uint64_t)r->low;
    sc_rt_need(gen, "inside", SC_ELEMENT_u32);
    sc_put(gen, "const int in%u = %s >= %llu", r->number,
           shared ? "shared_bytes" : "window_end", span);
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, " && inside(%s, %s, %s - %llu, %d)",
               sc_emit_lanes(gen, &at, part).text, sc_emit_mask(gen, part).text,
               shared ? "0, shared_bytes" : "window, window_end", span,
               low_shift(r->align, 64));
    sc_put(gen, ";\n");
}

void sc_emit_range(struct sc_gen *gen)
{
    struct sc_access x;
    struct sc_range r;
    if (!take_apart(gen, &x) || !is_member(gen, &x, x.at.base.reg, x.at.mode) ||
        range_for(gen, &x) || collect(gen, &x, &r) < 2 ||
        r.high - r.low > MOST_SPAN)
        return;
    r = *add_range(gen, r);
    if (x.at.shape.kind == SC_SHAPE_VARYING)
        put_lanes_range(gen, &x, &r);
    else
        put_range(gen, &r);
}

/* ---- ranges of a place ---- */

static bool take_linear(struct sc_gen *gen, const struct sc_inst *inst,
                        struct sc_access *x)
{
    const struct sc_inst *outer = gen->inst;
    gen->inst = inst;
    bool is = !inst->guarded && take_apart(gen, x) &&
              x->at.shape.kind == SC_SHAPE_LINEAR &&
              is_member(gen, x, x->at.base.reg, x->at.mode);
    gen->inst = outer;
    return is;
}

uint32_t sc_emit_base_of(struct sc_gen *gen, const struct sc_inst *inst)
{
    struct sc_access x;
    return take_linear(gen, inst, &x) ? x.at.base.reg : SC_NONE;
}

static struct sc_range *range_of(struct sc_gen *gen, uint32_t first,
                                 const struct sc_access *x)
{
    const struct sc_place *p = &gen->places[gen->place];
    for (uint32_t i = first; i < gen->range_count; i++)
        if (gen->ranges[i].reg == x->at.base.reg &&
            gen->ranges[i].mode == x->at.mode)
            return &gen->ranges[i];
    return add_range(gen, (struct sc_range){.reg = x->at.base.reg,
                                            .mode = x->at.mode,
                                            .first = p->first,
                                            .end = p->end,
                                            .asked = true,
                                            .low = INT64_MAX,
                                            .high = INT64_MIN});
}

uint32_t sc_emit_find_ranges(struct sc_gen *gen, const bool *wanted)
{
    const struct sc_place *p = &gen->places[gen->place];
    uint32_t count = 0, first = gen->range_count;
    for (uint32_t i = p->first; i < p->end; i++) {
        struct sc_access x;
        if (!take_linear(gen, &gen->func->insts[i], &x) ||
            !wanted[x.at.base.reg])
            continue;
        widen_range(gen, range_of(gen, first, &x), &x);
        count++;
    }
    for (uint32_t i = first; i < gen->range_count; i++) {
        struct sc_range *r = &gen->ranges[i];
        r->low &= -(int64_t)r->align;
        if (r->high - r->low > MOST_SPAN)
            return 0;
    }
    return count;
}

static void put_shared_range(struct sc_gen *gen, const struct sc_range *r)
{
    unsigned long long span = (unsigned long long)(r->high - r->low);
    sc_put(gen, "{ const uint64_t d = %s; sure &= shared_bytes >= %llu & (d",
           start_of(gen, r).text, span);
    if (r->align > 1)
        sc_put(gen, " | d << %d", low_shift(r->align, 64));
    sc_put(gen, ") <= shared_bytes - %llu; }\n", span);
}

/* `wide` gets a bit above the 31st where lanes of a widened value wrap, the
 * top bit of `far` where its span leaves no room for that. */
static void put_widened(struct sc_gen *gen, uint32_t widen)
{
    const struct sc_inst *inst = &gen->func->insts[widen];
    struct sc_shape narrow = sc_gen_shape(gen, sc_gen_widened(inst));
    int64_t span = (int64_t)(gen->group - 1) * narrow.stride;
    if (span < 0 || span >= INT32_MAX)
        sc_put(gen, "far |= wb%u;\n", widen);
    else
        sc_put(gen, "wide |= (uint64_t)(wn%u ^ %uu) + %llu;\n", widen,
               sc_gen_widens_signed(inst) ? 0x80000000u : 0,
               (unsigned long long)span);
}

static void put_window_range(struct sc_gen *gen, const struct sc_range *r,
                             uint32_t align)
{
    sc_put(gen, "{ const uint64_t d = %s - window; far |= d",
           start_of(gen, r).text);
    if (r->align < align)
        sc_put(gen, " & ~%uull", align - 1);
    if (r->align > 1 && r->align < align)
        sc_put(gen, " | d << %d", low_shift(r->align, 64));
    sc_put(gen, "; }\n");
}

/* All of `far`, where ranges of the window start, together is no less than any
 * of it, and has the low bits of each. */
void sc_emit_put_ranges(struct sc_gen *gen, uint32_t first)
{
    uint64_t most = 0;
    uint32_t align = 1;
    sc_put(gen, "uint64_t far = 0, wide = 0; int sure = 1;\n");
    for (uint32_t i = first; i < gen->range_count; i++) {
        const struct sc_range *r = &gen->ranges[i];
        uint64_t span = (uint64_t)(r->high - r->low);
        if (gen->shapes[r->reg].widen != SC_NONE)
            put_widened(gen, gen->shapes[r->reg].widen);
        if (r->mode != SC_MODE_GLOBAL) {
            put_shared_range(gen, r);
            continue;
        }
        most = span > most ? span : most;
        align = r->align > align ? r->align : align;
    }
    for (uint32_t i = first; i < gen->range_count; i++)
        if (gen->ranges[i].mode == SC_MODE_GLOBAL)
            put_window_range(gen, &gen->ranges[i], align);
    sc_put(gen, "far |= wide >> 32 << 63;\n");
    if (align > 1)
        sc_put(gen, "far |= far << %d;\n", low_shift(align, 64));
    sc_put(gen, "sure &= far <= window_end - %llu;\n",
           (unsigned long long)(most + align));
}

/* `int fast` where a range covers the access, or nothing need be asked: should
 * a range reach too far, all of its accesses take the slow way. */
static bool put_in_range(struct sc_gen *gen, const struct sc_access *x)
{
    bool inside = sc_gen_is_inside(gen, &x->at, x->bytes);
    const struct sc_range *r = inside ? NULL : range_for(gen, x);
    if (inside || (r && r->asked))
        sc_put(gen, "const int fast = 1;\n");
    else if (r)
        sc_put(gen, "const int fast = in%u;\n", r->number);
    return inside || r;
}

/* ---- single accesses ---- */

/* `int fast` and `uint64_t p`, where lane 0 of the group lies. */
void sc_emit_check(struct sc_gen *gen, const struct sc_access *x)
{
    uint64_t behind = 0, span = span_of(gen, x, &behind);
    const struct sc_address *at = &x->at;
    char bad[32] = "", low[32] = "";
    if (span > MOST_SPAN || !is_even(x)) {
        sc_put(gen, "const uint64_t p = 0; const int fast = 0;\n");
        return;
    }
    if (at->shape.widen != SC_NONE && !at->is_fixed)
        snprintf(bad, sizeof bad, " | wb%u", at->shape.widen);
    if (x->bytes > 1)
        snprintf(low, sizeof low, " | a << %d", low_shift(x->bytes, 64));
    sc_put(gen, "const uint64_t a = %s - %llu;\n", sc_emit_base(gen, at).text,
           (unsigned long long)behind);
    unsigned long long n = span, back = behind;
    switch (at->mode) {
    case SC_MODE_GLOBAL:
        if (!put_in_range(gen, x))
            sc_put(gen,
                   "const int fast = ((a - window)%s%s) <= window_end - "
                   "%llu;\n",
                   low, bad, n);
        sc_put(gen, "const uint64_t p = a + %llu;\n", back);
        break;
    case SC_MODE_SHARED:
        if (put_in_range(gen, x))
            ;
        else if (n <= gen->shared_bytes)
            sc_put(gen, "const int fast = (a%s%s) <= shared_bytes - %llu;\n",
                   low, bad, n);
        else
            sc_put(gen,
                   "const int fast = (a%s%s) + %llu <= shared_bytes && a <= "
                   "shared_bytes;\n",
                   low, bad, n);
        sc_put(gen, "const uint64_t p = shared + a + %llu;\n", back);
        break;
    case SC_MODE_PARAM:
        sc_put(gen,
               "const int fast = (a%s%s) <= PARAM_BYTES && a + %llu <= "
               "PARAM_BYTES;\nconst uint64_t p = params + a + %llu;\n",
               low, bad, n, back);
        break;
    default:
        sc_rt_need(gen, "run_at", SC_ELEMENT_u32);
        sc_put(gen,
               "const uint64_t run = run_at(cta, a, %llu);\nconst int fast = "
               "run != 0 && ((uint64_t)0%s%s) == 0;\nconst uint64_t p = run + "
               "%llu;\n",
               n, low, bad, back);
    }
}

/* `al_part` and whether all of the group's lanes are where they should. */
void sc_emit_check_lanes(struct sc_gen *gen, const struct sc_access *x)
{
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "const v64 al_%u = %s;\n", part,
               sc_emit_lanes(gen, &x->at, part).text);
    if (put_in_range(gen, x))
        return;
    sc_put(gen, "const int fast = (");
    for (uint32_t part = 0; part < gen->parts; part++) {
        struct sc_value m = sc_emit_mask(gen, part);
        int low = low_shift(x->bytes, 64);
        sc_put(gen, "%s", part ? " & " : "");
        if (x->at.mode == SC_MODE_GLOBAL || x->at.mode == SC_MODE_GENERIC)
            sc_put(gen, "inside(al_%u, %s, window, window_end - %u, %d)", part,
                   m.text, x->bytes, low);
        else if (x->at.mode == SC_MODE_SHARED)
            sc_put(gen,
                   "(shared_bytes >= %u && inside(al_%u, %s, 0, shared_bytes "
                   "- %u, %d))",
                   x->bytes, part, m.text, x->bytes, low);
        else
            sc_put(gen, "0");
    }
    sc_rt_need(gen, "inside", SC_ELEMENT_u32);
    sc_put(gen, ");\n");
}

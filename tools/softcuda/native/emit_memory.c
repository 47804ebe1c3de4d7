/*
 * Writes loads, stores, cvta and isspacep; see native/emit.h.
 *
 * Every access is checked as the interpreter does (exec/ops_mem.c): a quick
 * check covers the whole group; where it fails, each lane is looked at by
 * itself, which finds the lane that is wrong or that none is. Lock: none.
 */
#include "native/emit.h"

#include <stdio.h>
#include <string.h>

/* ---- addresses ---- */

static uint32_t mode_of_var(const struct sc_var *var)
{
    return var->space == SC_SPACE_SHARED  ? SC_MODE_SHARED
           : var->space == SC_SPACE_LOCAL ? SC_MODE_LOCAL
           : var->space == SC_SPACE_PARAM ? SC_MODE_PARAM
                                          : SC_MODE_GLOBAL;
}

struct sc_address sc_emit_address(struct sc_gen *gen,
                                  const struct sc_operand *operand)
{
    struct sc_address at = {.mode = sc_emit_mode(gen->inst),
                            .offset = operand->bits,
                            .class = SC_LANE_64};
    const struct sc_operand *base = operand->sub;
    if (operand->kind != SC_OPERAND_ADDRESS)
        sc_gen_refuse(gen, "its address is of a kind the generator lacks");
    at.shape = sc_gen_shape(gen, base);
    at.base = *base;
    if (base->kind == SC_OPERAND_REG) {
        at.class = sc_gen_class(gen, base->reg);
        return at;
    }
    at.is_fixed = true;
    at.offset += base->bits;
    if (base->kind == SC_OPERAND_SYMBOL) {
        at.offset += sc_gen_offset(gen, base->var);
        at.in_window = sc_gen_in_window(base->var);
        /* a generic access of a variable goes straight to its space */
        if (at.mode == SC_MODE_GENERIC)
            at.mode = mode_of_var(base->var);
    } else if (base->kind != SC_OPERAND_INT) {
        sc_gen_refuse(gen, "its address is of a kind the generator lacks");
    }
    return at;
}

/* Addresses in a register of 32 bits go round at 2^32. A constant's is the low
 * half of where it lies, in the first 4 GiB of the window. */
static bool is_narrow_const(const struct sc_address *at)
{
    return at->class != SC_LANE_64 && at->mode == SC_MODE_GLOBAL;
}

struct sc_value sc_emit_base(struct sc_gen *gen, const struct sc_address *at)
{
    struct sc_value v;
    unsigned long long offset = at->offset;
    (void)gen;
    if (at->is_fixed)
        snprintf(v.text, sizeof v.text, "(%s0x%llxull)",
                 at->in_window ? "window + " : "(uint64_t)", offset);
    else if (is_narrow_const(at))
        snprintf(v.text, sizeof v.text,
                 "(window + (uint32_t)(r%u + 0x%xu - (uint32_t)window))",
                 at->base.reg, (uint32_t)offset);
    else if (at->class != SC_LANE_64)
        snprintf(v.text, sizeof v.text, "(uint64_t)(uint32_t)(r%u + 0x%xu)",
                 at->base.reg, (uint32_t)offset);
    else if (!offset)
        snprintf(v.text, sizeof v.text, "(uint64_t)r%u", at->base.reg);
    else
        snprintf(v.text, sizeof v.text, "(uint64_t)r%u + 0x%llxull",
                 at->base.reg, offset);
    return v;
}

struct sc_value sc_emit_lanes(struct sc_gen *gen, const struct sc_address *at,
                              uint32_t part)
{
    struct sc_value v;
    if (at->is_fixed)
        return sc_gen_spread(SC_LANE_64, sc_emit_base(gen, at).text);
    struct sc_value base =
        sc_gen_vector(gen, &at->base, at->class, SC_T_u64, part);
    const char *format = is_narrow_const(at)
                             ? "v_add64(v_zext64(%s + (0x%xu - "
                               "(uint32_t)window)), v_bc64(window))"
                             : "v_zext64(%s + 0x%xu)";
    int n =
        at->class == SC_LANE_64
            ? snprintf(v.text, sizeof v.text, "v_add64(%s, v_bc64(0x%llxull))",
                       base.text, (unsigned long long)at->offset)
            : snprintf(v.text, sizeof v.text, format, base.text,
                       (uint32_t)at->offset);
    if (n >= (int)sizeof v.text)
        sc_gen_refuse(gen, "its address is too long");
    return v;
}

static const struct sc_operand *component(const struct sc_operand *operand,
                                          uint32_t i)
{
    return operand->kind == SC_OPERAND_VECTOR ? &operand->sub[i] : operand;
}

static bool is_linear(const struct sc_access *x)
{
    return x->at.shape.kind == SC_SHAPE_LINEAR && x->at.mode != SC_MODE_LOCAL;
}

/* ---- loads ---- */

/* What a register makes of the element: wider or down to 16 bits. */
static struct sc_value to_register(const struct sc_access *x, bool vector,
                                   enum sc_lane_class class, uint32_t bytes,
                                   const char *text)
{
    struct sc_value v;
    const char *format = "%s";
    if (class == SC_LANE_64 && x->element != SC_ELEMENT_u64)
        format =
            vector ? (x->is_signed ? "v_sext64(%s)" : "v_zext64(%s)")
                   : (x->is_signed ? "(uint64_t)(int32_t)%s" : "(uint64_t)%s");
    else if (bytes <= 2 && x->is_signed)
        format = "(%s & 0xffff)";
    snprintf(v.text, sizeof v.text, format, text);
    return v;
}

static void assign_loaded(struct sc_gen *gen, const struct sc_access *x,
                          const struct sc_operand *to, uint32_t i, bool vector)
{
    const struct sc_operand *d = component(to, i);
    if (d->kind != SC_OPERAND_REG)
        return;
    enum sc_lane_class class = sc_gen_class(gen, d->reg);
    uint32_t bytes = sc_type_bytes(gen->func->regs[d->reg].type);
    for (uint32_t part = 0; part < (vector ? gen->parts : 1); part++) {
        char name[32];
        snprintf(name, sizeof name, vector ? "q%u_%u" : "q%u", i, part);
        struct sc_value v = to_register(x, vector, class, bytes, name);
        if (vector)
            sc_emit_vector(gen, d->reg, part, v.text);
        else
            sc_emit_scalar(gen, d->reg, v.text);
    }
}

static const char *lane_type(const struct sc_access *x)
{
    return x->element == SC_ELEMENT_u64 ? "uint64_t" : "uint32_t";
}

static const char *vector_type(const struct sc_access *x)
{
    return x->element == SC_ELEMENT_u64 ? "v64" : "v32";
}

static const char *element_type(const struct sc_access *x)
{
    static const char *const types[] = {"uint8_t", "int8_t",   "uint16_t",
                                        "int16_t", "uint32_t", "uint64_t"};
    return types[x->element];
}

static void put_elements(struct sc_gen *gen, const struct sc_access *x,
                         const char *from)
{
    for (uint32_t i = 0; i < x->count; i++)
        sc_put(gen, "q%u = (%s)*(const %s *)(%s + %u);\n", i, lane_type(x),
               element_type(x), from, i * sc_element_bytes(x->element));
}

static void load_uniform(struct sc_gen *gen, const struct sc_access *x,
                         const struct sc_operand *to)
{
    sc_rt_need(gen, "lane_at", SC_ELEMENT_u32);
    sc_put(gen, "{ ");
    sc_emit_check(gen, x);
    for (uint32_t i = 0; i < x->count; i++)
        sc_put(gen, "%s q%u; ", lane_type(x), i);
    sc_put(gen, "if (__builtin_expect(fast, 1)) {\n");
    put_elements(gen, x, "p");
    sc_put(gen,
           "} else { const uint64_t at = (uint64_t)lane_at(cta, %u, %s, %u, 0, "
           "%u);\n",
           x->at.mode, sc_emit_base(gen, &x->at).text, x->bytes,
           gen->inst->line);
    put_elements(gen, x, "at");
    sc_put(gen, "}\n");
    for (uint32_t i = 0; i < x->count; i++)
        assign_loaded(gen, x, to, i, false);
    sc_put(gen, "}\n");
}

/* The fast way of a linear access of one part and component. */
static void put_linear_load(struct sc_gen *gen, const struct sc_access *x,
                            uint32_t i, uint32_t part)
{
    const char *t = sc_element_name(x->element);
    long long stride = x->at.shape.stride;
    long long off = (long long)part * gen->lanes * stride +
                    (long long)i * sc_element_bytes(x->element);
    if (stride == (long long)sc_element_bytes(x->element)) {
        sc_rt_need(gen, gen->mask ? "ldm" : "ldc", x->element);
        if (gen->mask)
            sc_put(gen, "ldm_%s(p + %lld, %s, (%s){})", t, off,
                   sc_emit_mask(gen, part).text, vector_type(x));
        else
            sc_put(gen, "ldc_%s(p + %lld)", t, off);
        return;
    }
    sc_rt_need(gen, "ldo", x->element);
    if (stride < 0) /* offsets must not be negative */
        sc_put(gen, "ldo_%s(p + %lld, (%u - v_iota32()) * %uu, %s, (%s){})", t,
               off + (gen->lanes - 1) * stride, gen->lanes - 1,
               (uint32_t)-stride, sc_emit_mask(gen, part).text, vector_type(x));
    else
        sc_put(gen, "ldo_%s(p + %lld, v_iota32() * %uu, %s, (%s){})", t, off,
               (uint32_t)stride, sc_emit_mask(gen, part).text, vector_type(x));
}

/* Words are first asked whether they lie side by side: a gather costs many
 * times as much. */
static const char *near_way(struct sc_gen *gen, const struct sc_access *x,
                            const char *contiguous, const char *masked)
{
    bool fetched =
        x->at.base.kind == SC_OPERAND_REG && gen->fetched[x->at.base.reg];
    if (x->count > 1 || sc_element_bytes(x->element) < 4 || fetched)
        return "";
    sc_rt_need(gen, contiguous, x->element);
    sc_rt_need(gen, masked, x->element);
    sc_rt_need(gen, "lin64", SC_ELEMENT_u64);
    sc_rt_need(gen, x->at.mode == SC_MODE_SHARED ? "row_of32" : "row_of64",
               SC_ELEMENT_u32);
    return "_near";
}

/* The fast way of lanes anywhere: addresses are in al_part. */
static void put_varying_load(struct sc_gen *gen, const struct sc_access *x,
                             uint32_t i, uint32_t part)
{
    const char *t = sc_element_name(x->element);
    uint32_t off = i * sc_element_bytes(x->element);
    struct sc_value m = sc_emit_mask(gen, part);
    const char *near = near_way(gen, x, "ldc", "ldm");
    if (x->at.mode == SC_MODE_SHARED) {
        sc_rt_need(gen, *near ? "ldo_near" : "ldo", x->element);
        sc_put(gen, "ldo%s_%s(shared + %u, v_lo32(al_%u), %s, (%s){})", near, t,
               off, part, m.text, vector_type(x));
    } else {
        sc_rt_need(gen, *near ? "ldv_near" : "ldv", x->element);
        sc_put(gen, "ldv%s_%s(v_add64(al_%u, v_bc64(%u)), %s, (%s){})", near, t,
               part, off, m.text, vector_type(x));
    }
}

static void check_length(struct sc_gen *gen, int length)
{
    if (length >= (int)sizeof(struct sc_value))
        sc_gen_refuse(gen, "its address is too long");
}

/* Addresses of a linear access, for its slow way: as little code as can be. */
static struct sc_value far_lanes(struct sc_gen *gen, const struct sc_access *x,
                                 uint32_t part)
{
    struct sc_value v, base = sc_emit_base(gen, &x->at);
    struct sc_shape s = x->at.shape;
    unsigned long long stride = (unsigned long long)s.stride;
    unsigned long long first = part * gen->lanes;
    int n;
    if (x->at.class != SC_LANE_64 || x->at.is_fixed)
        return sc_emit_lanes(gen, &x->at, part);
    if (s.widen == SC_NONE) {
        sc_rt_need(gen, "lin64", SC_ELEMENT_u64);
        sc_rt_need(gen, "far64", SC_ELEMENT_u64);
        n = snprintf(v.text, sizeof v.text, "far64(%s + 0x%llxull, 0x%llxull)",
                     base.text, first * stride, stride);
        check_length(gen, n);
        return v;
    }
    const struct sc_inst *at = &gen->func->insts[s.widen];
    struct sc_shape narrow = sc_gen_shape(gen, sc_gen_widened(at));
    sc_rt_need(gen, "lin64", SC_ELEMENT_u64);
    sc_rt_need(gen, "far64w", SC_ELEMENT_u64);
    n = snprintf(v.text, sizeof v.text,
                 "far64w(wb%u, %s, 0x%llxull, wn%u, %uu, 0x%llxull, %d, %llu)",
                 s.widen, base.text, stride, s.widen, (uint32_t)narrow.stride,
                 (unsigned long long)s.factor, sc_gen_widens_signed(at), first);
    check_length(gen, n);
    return v;
}

/* What a slow way is called with, after its name. */
static void put_slow(struct sc_gen *gen, const struct sc_access *x, uint32_t i,
                     uint32_t part, const char *vector)
{
    char lanes[32];
    bool named = !is_linear(x);
    snprintf(lanes, sizeof lanes, "al_%u", part);
    sc_put(gen, "(cta, %u, %s, %s, %s, %u, %u, t0 + %u, %u)", x->at.mode,
           named ? lanes : far_lanes(gen, x, part).text,
           sc_emit_mask(gen, part).text, vector, x->bytes,
           i * sc_element_bytes(x->element), part * gen->lanes,
           gen->inst->line);
}

static void put_checks(struct sc_gen *gen, const struct sc_access *x)
{
    if (is_linear(x))
        sc_emit_check(gen, x);
    else
        sc_emit_check_lanes(gen, x);
}

/* The slow way `name`, and the way `quick` it takes where lanes that are off
 * were what went too far. */
static void need_slow(struct sc_gen *gen, const struct sc_access *x,
                      const char *name, const char *quick)
{
    sc_rt_need(gen, quick, x->element);
    sc_rt_need(gen, "lanes_at", x->element);
    sc_rt_need(gen, name, x->element);
}

static void load_lanes(struct sc_gen *gen, const struct sc_access *x,
                       const struct sc_operand *to)
{
    char none[16];
    snprintf(none, sizeof none, "(%s){}", vector_type(x));
    need_slow(gen, x, "slow_ld", "ldv");
    sc_put(gen, "{ ");
    if (is_linear(x) && x->at.mode == SC_MODE_GLOBAL)
        sc_emit_ahead(gen, &x->at, x->bytes);
    put_checks(gen, x);
    for (uint32_t i = 0; i < x->count; i++) {
        for (uint32_t part = 0; part < gen->parts; part++) {
            sc_put(gen, "const %s q%u_%u = __builtin_expect(fast, 1) ? ",
                   vector_type(x), i, part);
            if (is_linear(x))
                put_linear_load(gen, x, i, part);
            else
                put_varying_load(gen, x, i, part);
            sc_put(gen, " : slow_ld_%s", sc_element_name(x->element));
            put_slow(gen, x, i, part, none);
            sc_put(gen, ";\n");
        }
    }
    for (uint32_t i = 0; i < x->count; i++)
        assign_loaded(gen, x, to, i, true);
    sc_put(gen, "}\n");
}

/* Name of a parameter, which is loaded once per call. */
static struct sc_value parameter(struct sc_gen *gen, const struct sc_access *x,
                                 uint64_t offset)
{
    struct sc_value v;
    uint64_t key = offset * SC_ELEMENT_COUNT + x->element;
    snprintf(v.text, sizeof v.text, "param_%s_%llu",
             sc_element_name(x->element), (unsigned long long)offset);
    for (size_t i = 0; i < gen->hoisted_count; i++)
        if (gen->hoisted[i] == key)
            return v;
    gen->hoisted = sc_load_grow(&gen->load, gen->hoisted, gen->hoisted_count,
                                &gen->hoisted_capacity, sizeof *gen->hoisted);
    gen->hoisted[gen->hoisted_count++] = key;
    sc_text_put(gen, &gen->hoist,
                "const %s %s = (%s)*(const %s *)(params + %llu);\n",
                lane_type(x), v.text, lane_type(x), element_type(x),
                (unsigned long long)offset);
    return v;
}

static bool load_param(struct sc_gen *gen, const struct sc_access *x,
                       const struct sc_operand *to)
{
    uint32_t size = sc_element_bytes(x->element);
    if (x->at.mode != SC_MODE_PARAM || !x->at.is_fixed ||
        x->at.offset % x->bytes ||
        x->at.offset + x->bytes > gen->func->param_bytes)
        return false;
    sc_put(gen, "{ ");
    for (uint32_t i = 0; i < x->count; i++)
        sc_put(gen, "const %s q%u = %s;\n", lane_type(x), i,
               parameter(gen, x, x->at.offset + i * size).text);
    for (uint32_t i = 0; i < x->count; i++)
        assign_loaded(gen, x, to, i, false);
    sc_put(gen, "}\n");
    return true;
}

/* Other workers may look: the compiler must not keep or move the access. */
static void put_ordering(struct sc_gen *gen)
{
    const struct sc_inst *inst = gen->inst;
    if (sc_inst_has(inst, SC_MOD_release) || sc_inst_has(inst, SC_MOD_acq_rel))
        sc_put(gen, "__atomic_thread_fence(__ATOMIC_SEQ_CST);\n");
    else if (sc_inst_has(inst, SC_MOD_volatile) ||
             sc_inst_has(inst, SC_MOD_relaxed) ||
             sc_inst_has(inst, SC_MOD_acquire) ||
             sc_inst_has(inst, SC_MOD_mmio))
        sc_put(gen, "__asm__ volatile(\"\" ::: \"memory\");\n");
}

void sc_emit_load(struct sc_gen *gen)
{
    const struct sc_operand *to = &gen->inst->operands[0];
    struct sc_access x = sc_emit_access(gen, &gen->inst->operands[1], to);
    bool own = x.at.mode == SC_MODE_LOCAL ||
               (x.at.mode == SC_MODE_GENERIC && gen->has_local);
    if (load_param(gen, &x, to))
        return;
    put_ordering(gen);
    if (sc_shape_is_uniform(x.at.shape) && !own)
        load_uniform(gen, &x, to);
    else
        load_lanes(gen, &x, to);
    if (sc_inst_has(gen->inst, SC_MOD_acquire))
        sc_put(gen, "__atomic_thread_fence(__ATOMIC_SEQ_CST);\n");
}

/* ---- stores ---- */

static struct sc_value stored(struct sc_gen *gen, const struct sc_access *x,
                              const struct sc_operand *from, bool vector,
                              uint32_t part)
{
    bool is_reg = from->kind == SC_OPERAND_REG;
    enum sc_lane_class class = is_reg ? sc_gen_class(gen, from->reg)
                               : x->element == SC_ELEMENT_u64 ? SC_LANE_64
                                                              : SC_LANE_32;
    enum sc_type type = gen->inst->types[0];
    bool narrows = class == SC_LANE_64 && x->element != SC_ELEMENT_u64;
    struct sc_value v, whole = vector
                                   ? sc_gen_vector(gen, from, class, type, part)
                                   : sc_gen_scalar(gen, from, class, type);
    snprintf(v.text, sizeof v.text, vector && narrows ? "v_lo32(%s)" : "%s",
             whole.text);
    return v;
}

static void put_stored(struct sc_gen *gen, const struct sc_access *x,
                       const struct sc_operand *from, uint32_t i)
{
    for (uint32_t part = 0; part < gen->parts; part++)
        sc_put(gen, "const %s s%u_%u = %s;\n", vector_type(x), i, part,
               stored(gen, x, component(from, i), true, part).text);
}

/* All lanes store at one place: the last one's value stays. */
static void put_last(struct sc_gen *gen, const struct sc_access *x,
                     const struct sc_operand *from, uint32_t i)
{
    const char *last = x->element == SC_ELEMENT_u64 ? "last64" : "last32";
    const struct sc_operand *value = component(from, i);
    bool varies = !sc_shape_is_uniform(sc_gen_shape(gen, value));
    if (varies) {
        sc_rt_need(gen, last, SC_ELEMENT_u32);
        put_stored(gen, x, from, i);
    }
    sc_put(gen, "*(%s *)(at + %u) = (%s)(", element_type(x),
           i * sc_element_bytes(x->element), element_type(x));
    if (!varies)
        sc_put(gen, "%s", stored(gen, x, value, false, 0).text);
    for (uint32_t part = gen->parts; varies && part-- > 0;) {
        struct sc_value m = sc_emit_mask(gen, part);
        if (part)
            sc_put(gen, "m_any(%s) ? ", m.text);
        sc_put(gen, "%s(s%u_%u, %s)%s", last, i, part, m.text,
               part ? " : " : "");
    }
    sc_put(gen, ");\n");
}

static void store_uniform(struct sc_gen *gen, const struct sc_access *x,
                          const struct sc_operand *from)
{
    sc_rt_need(gen, "lane_at", SC_ELEMENT_u32);
    sc_put(gen, "{ ");
    sc_emit_check(gen, x);
    sc_put(gen,
           "const uint64_t at = __builtin_expect(fast, 1) ? p : "
           "(uint64_t)lane_at(cta, %u, %s, %u, 0, %u);\n",
           x->at.mode, sc_emit_base(gen, &x->at).text, x->bytes,
           gen->inst->line);
    for (uint32_t i = 0; i < x->count; i++)
        put_last(gen, x, from, i);
    sc_put(gen, "}\n");
}

static void put_linear_store(struct sc_gen *gen, const struct sc_access *x,
                             uint32_t i, uint32_t part)
{
    const char *t = sc_element_name(x->element);
    long long stride = x->at.shape.stride;
    long long off = (long long)part * gen->lanes * stride +
                    (long long)i * sc_element_bytes(x->element);
    struct sc_value m = sc_emit_mask(gen, part);
    if (stride != (long long)sc_element_bytes(x->element)) {
        sc_rt_need(gen, "stv", x->element);
        sc_rt_need(gen, "lin64", x->element);
        sc_put(gen, "stv_%s(lin64(p + %lld, %lldull), %s, s%u_%u);\n", t, off,
               stride, m.text, i, part);
    } else if (gen->mask) {
        sc_rt_need(gen, "stm", x->element);
        sc_put(gen, "stm_%s(p + %lld, %s, s%u_%u);\n", t, off, m.text, i, part);
    } else {
        sc_rt_need(gen, "stc", x->element);
        sc_put(gen, "stc_%s(p + %lld, s%u_%u);\n", t, off, i, part);
    }
}

static void put_varying_store(struct sc_gen *gen, const struct sc_access *x,
                              uint32_t i, uint32_t part)
{
    const char *t = sc_element_name(x->element);
    uint32_t off = i * sc_element_bytes(x->element);
    struct sc_value m = sc_emit_mask(gen, part);
    const char *near = near_way(gen, x, "stc", "stm");
    if (x->at.mode == SC_MODE_SHARED) {
        sc_rt_need(gen, *near ? "sto_near" : "sto", x->element);
        sc_put(gen, "sto%s_%s(shared + %u, v_lo32(al_%u), %s, s%u_%u);\n", near,
               t, off, part, m.text, i, part);
    } else {
        sc_rt_need(gen, *near ? "stv_near" : "stv", x->element);
        sc_put(gen, "stv%s_%s(v_add64(al_%u, v_bc64(%u)), %s, s%u_%u);\n", near,
               t, part, off, m.text, i, part);
    }
}

static void store_lanes(struct sc_gen *gen, const struct sc_access *x,
                        const struct sc_operand *from)
{
    char name[32];
    need_slow(gen, x, "slow_st", "stv");
    sc_put(gen, "{ ");
    put_checks(gen, x);
    for (uint32_t i = 0; i < x->count; i++)
        put_stored(gen, x, from, i);
    sc_put(gen, "if (__builtin_expect(fast, 1)) {\n");
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t part = 0; part < gen->parts; part++)
            if (is_linear(x))
                put_linear_store(gen, x, i, part);
            else
                put_varying_store(gen, x, i, part);
    sc_put(gen, "} else {\n");
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t part = 0; part < gen->parts; part++) {
            snprintf(name, sizeof name, "s%u_%u", i, part);
            sc_put(gen, "slow_st_%s", sc_element_name(x->element));
            put_slow(gen, x, i, part, name);
            sc_put(gen, ";\n");
        }
    sc_put(gen, "}}\n");
}

void sc_emit_store(struct sc_gen *gen)
{
    const struct sc_operand *from = &gen->inst->operands[1];
    struct sc_access x = sc_emit_access(gen, &gen->inst->operands[0], from);
    bool own = x.at.mode == SC_MODE_LOCAL ||
               (x.at.mode == SC_MODE_GENERIC && gen->has_local);
    if (x.at.mode == SC_MODE_PARAM)
        sc_gen_refuse(gen, "the generator lacks it");
    put_ordering(gen);
    if (sc_shape_is_uniform(x.at.shape) && !own)
        store_uniform(gen, &x, from);
    else
        store_lanes(gen, &x, from);
    if (sc_inst_has(gen->inst, SC_MOD_acq_rel) ||
        sc_inst_has(gen->inst, SC_MOD_mmio))
        sc_put(gen, "__atomic_thread_fence(__ATOMIC_SEQ_CST);\n");
}

/* ---- cvta, isspacep ---- */

void sc_emit_cvta(struct sc_gen *gen)
{
    static const char *const bases[] = {[SC_MODE_GLOBAL] = "0",
                                        [SC_MODE_SHARED] = "cta->shared_base",
                                        [SC_MODE_LOCAL] = "cta->local_base",
                                        [SC_MODE_PARAM] =
                                            "(cta->local_base + LOCAL_USABLE)",
                                        [SC_MODE_GENERIC] = "0"};
    const struct sc_operand *o = gen->inst->operands;
    const char *base = bases[sc_emit_mode(gen->inst)];
    bool to = sc_inst_has(gen->inst, SC_MOD_to);
    char text[256];
    uint32_t reg = o[0].reg;
    if (o[0].kind != SC_OPERAND_REG || gen->inst->type_count != 1 ||
        sc_type_bytes(gen->inst->types[0]) != 8)
        sc_gen_refuse(gen, "the generator lacks it");
    if (!sc_gen_varies(gen, reg)) {
        struct sc_value v = sc_gen_scalar(gen, &o[1], SC_LANE_64, SC_T_u64);
        sc_put(gen, "r%u = %s %c %s;\n", reg, v.text, to ? '-' : '+', base);
        return;
    }
    for (uint32_t part = 0; part < gen->parts; part++) {
        struct sc_value v =
            sc_gen_vector(gen, &o[1], SC_LANE_64, SC_T_u64, part);
        snprintf(text, sizeof text, "v_%s64(%s, v_bc64(%s))",
                 to ? "sub" : "add", v.text, base);
        sc_emit_vector(gen, reg, part, text);
    }
}

void sc_emit_isspacep(struct sc_gen *gen)
{
    const struct sc_operand *o = gen->inst->operands;
    uint32_t reg = o[0].reg;
    char text[256];
    if (o[0].kind != SC_OPERAND_REG)
        sc_gen_refuse(gen, "the generator lacks it");
    sc_rt_need(gen, "space_lane", SC_ELEMENT_u32);
    if (sc_shape_is_uniform(sc_gen_shape(gen, &o[1]))) {
        snprintf(text, sizeof text, "space_lane(cta, %u, %s)",
                 sc_emit_mode(gen->inst),
                 sc_gen_scalar(gen, &o[1], SC_LANE_64, SC_T_u64).text);
        sc_emit_scalar(gen, reg, text);
        return;
    }
    sc_rt_need(gen, "space", SC_ELEMENT_u32);
    for (uint32_t part = 0; part < gen->parts; part++) {
        snprintf(text, sizeof text, "space(cta, %u, %s)",
                 sc_emit_mode(gen->inst),
                 sc_gen_vector(gen, &o[1], SC_LANE_64, SC_T_u64, part).text);
        sc_emit_vector(gen, reg, part, text);
    }
}

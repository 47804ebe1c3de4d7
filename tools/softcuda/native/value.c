/*
 * Operands as C text; see native/gen.h.
 *
 * A register that is uniform or linear is the scalar rN (of lane 0), one that
 * varies the vectors vN_0 … of its parts. Lock: none.
 */
#include "native/emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct sc_value value(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static struct sc_value value(const char *format, ...)
{
    struct sc_value v;
    va_list list;
    va_start(list, format);
    vsnprintf(v.text, sizeof v.text, format, list);
    va_end(list);
    return v;
}

enum sc_lane_class sc_gen_class(const struct sc_gen *gen, uint32_t reg)
{
    if (reg + 1 == gen->reg_count)
        return SC_LANE_PRED;
    enum sc_type type = gen->func->regs[reg].type;
    if (type == SC_T_pred)
        return SC_LANE_PRED;
    return sc_type_bytes(type) == 8 ? SC_LANE_64 : SC_LANE_32;
}

bool sc_gen_varies(const struct sc_gen *gen, uint32_t reg)
{
    return gen->shapes[reg].kind == SC_SHAPE_VARYING;
}

/* ---- constants ---- */

static uint64_t real_bits(const struct sc_operand *operand, uint32_t bytes)
{
    float narrow;
    double wide;
    uint32_t low = (uint32_t)operand->bits;
    if (operand->kind == SC_OPERAND_SINGLE && bytes == 4)
        return low;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &operand->bits, sizeof wide);
    if (operand->kind == SC_OPERAND_SINGLE)
        wide = narrow;
    if (bytes == 8) {
        uint64_t bits;
        memcpy(&bits, &wide, sizeof bits);
        return bits;
    }
    narrow = (float)wide;
    memcpy(&low, &narrow, sizeof low);
    return low;
}

bool sc_gen_in_window(const struct sc_var *var)
{
    return var->space == SC_SPACE_GLOBAL || var->space == SC_SPACE_CONST;
}

uint64_t sc_gen_offset(struct sc_gen *gen, const struct sc_var *var)
{
    if (sc_gen_in_window(var))
        return var->address - gen->ir->window_base;
    if (var->space == SC_SPACE_PARAM)
        return var->address;
    for (uint32_t i = 0; i < gen->offset_count; i++)
        if (gen->offsets[i].var == var)
            return gen->offsets[i].at;
    sc_gen_refuse(gen, "it names a variable that has no place");
}

static struct sc_value number(enum sc_lane_class class, uint64_t bits,
                              uint32_t bytes)
{
    if (class == SC_LANE_PRED)
        return value("%d", bits != 0);
    if (class == SC_LANE_64)
        return value("0x%llxull", (unsigned long long)bits);
    uint32_t mask = bytes == 1 ? 0xff : bytes == 2 ? 0xffff : 0xffffffff;
    return value("0x%xu", (uint32_t)bits & mask);
}

bool sc_gen_is_constant(const struct sc_gen *gen,
                        const struct sc_operand *operand, uint32_t *value)
{
    const struct sc_operand *o = operand;
    if (o->kind == SC_OPERAND_REG && gen->defs[o->reg] == 1) {
        const struct sc_inst *def = &gen->func->insts[gen->def_inst[o->reg]];
        if (def->opcode == SC_OP_mov && !def->guarded)
            o = &def->operands[1];
    }
    *value = (uint32_t)o->bits;
    return o->kind == SC_OPERAND_INT;
}

/* ---- special registers ---- */

static struct sc_value special_scalar(struct sc_gen *gen, uint32_t special,
                                      enum sc_lane_class class)
{
    static const char *const texts[SC_SREG_COUNT] = {
        [SC_SREG_tid_x] = "tx",
        [SC_SREG_tid_y] = "ty",
        [SC_SREG_tid_z] = "tz",
        [SC_SREG_ctaid_x] = "cx",
        [SC_SREG_ctaid_y] = "cy",
        [SC_SREG_ctaid_z] = "cz",
        [SC_SREG_nctaid_x] = "gx",
        [SC_SREG_nctaid_y] = "gy",
        [SC_SREG_nctaid_z] = "gz",
        [SC_SREG_laneid] = "(t0 & 31)",
        [SC_SREG_warpid] = "(t0 / 32)",
        [SC_SREG_smid] = "cta->worker_number",
        [SC_SREG_nsmid] = "cta->worker_count",
        [SC_SREG_total_smem_size] = "cta->shared_bytes",
        [SC_SREG_dynamic_smem_size] = "cta->dynamic_shared_bytes",
        [SC_SREG_clock] = "cta->services->clock_ns()",
        [SC_SREG_clock64] = "cta->services->clock_ns()",
        [SC_SREG_clock_hi] = "(cta->services->clock_ns() >> 32)",
        [SC_SREG_globaltimer] = "cta->services->clock_ns()",
        [SC_SREG_globaltimer_lo] = "cta->services->clock_ns()",
        [SC_SREG_globaltimer_hi] = "(cta->services->clock_ns() >> 32)",
    };
    const char *type = class == SC_LANE_64 ? "uint64_t" : "uint32_t";
    if (special >= SC_SREG_ntid_x && special <= SC_SREG_ntid_z)
        return value("%u", gen->ntid[special - SC_SREG_ntid_x]);
    if (special == SC_SREG_nwarpid)
        return value("%u", (gen->threads + SC_WARP - 1) / SC_WARP);
    if (special == SC_SREG_gridid)
        return value("0");
    if (!texts[special])
        sc_gen_refuse(gen, "it reads a special register the generator lacks");
    return value("(%s)%s", type, texts[special]);
}

static struct sc_value special_vector(struct sc_gen *gen, uint32_t special,
                                      uint32_t part)
{
    static const char axes[] = "xyz";
    if (special >= SC_SREG_tid_x && special <= SC_SREG_tid_z) {
        gen->tid_used = true;
        return value("t%c_%u", axes[special - SC_SREG_tid_x], part);
    }
    if (special == SC_SREG_laneid)
        return value("(v_iota32() + (t0 + %u & 31))", part * gen->lanes);
    int kind = special == SC_SREG_lanemask_eq   ? 0
               : special == SC_SREG_lanemask_lt ? 1
               : special == SC_SREG_lanemask_le ? 2
               : special == SC_SREG_lanemask_gt ? 3
                                                : 4;
    sc_rt_need(gen, "lanemask", SC_ELEMENT_u32);
    return value("lanemask(t0 + %u, %d)", part * gen->lanes, kind);
}

/* ---- operands ---- */

/* A subnormal number that stands for a zero becomes one. */
static struct sc_value settled(struct sc_gen *gen, uint32_t reg,
                               const char *function, struct sc_value v)
{
    if (!gen->raw[reg] || gen->reads_raw)
        return v;
    if (!sc_alu_need(&gen->alu, function))
        sc_gen_refuse(gen, "arithmetic of it is not there");
    return value("%s(%s)", function, v.text);
}

static struct sc_value symbol(struct sc_gen *gen,
                              const struct sc_operand *operand,
                              enum sc_lane_class class, uint32_t bytes)
{
    uint64_t offset = sc_gen_offset(gen, operand->var) + operand->bits;
    if (!sc_gen_in_window(operand->var))
        return number(class, offset, bytes);
    return value("(%s)(window + 0x%llxull)",
                 class == SC_LANE_64 ? "uint64_t" : "uint32_t",
                 (unsigned long long)offset);
}

struct sc_value sc_gen_scalar(struct sc_gen *gen,
                              const struct sc_operand *operand,
                              enum sc_lane_class class, enum sc_type type)
{
    uint32_t bytes = sc_type_bytes(type);
    switch (operand->kind) {
    case SC_OPERAND_REG:
        return settled(gen, operand->reg, "s_flush",
                       value(operand->negate ? "!r%u" : "r%u", operand->reg));
    case SC_OPERAND_INT:
        if (class == SC_LANE_PRED)
            return value("%d", (operand->bits != 0) != operand->negate);
        return number(class, operand->bits, bytes);
    case SC_OPERAND_SINGLE:
    case SC_OPERAND_DOUBLE:
        return number(class, real_bits(operand, bytes), bytes);
    case SC_OPERAND_SPECIAL:
        return special_scalar(gen, operand->reg, class);
    case SC_OPERAND_SYMBOL:
        return symbol(gen, operand, class, bytes);
    default:
        sc_gen_refuse(gen, "it has an operand the generator lacks");
    }
}

struct sc_value sc_gen_spread(enum sc_lane_class class, const char *scalar)
{
    return value(class == SC_LANE_64     ? "v_bc64(%s)"
                 : class == SC_LANE_PRED ? "m_bc(%s)"
                                         : "v_bc32(%s)",
                 scalar);
}

/* Stride of the 32-bit value an instruction widens, and which operand it is. */
const struct sc_operand *sc_gen_widened(const struct sc_inst *inst)
{
    const struct sc_operand *o = inst->operands;
    return inst->opcode != SC_OP_cvt && o[1].kind == SC_OPERAND_INT ? &o[2]
                                                                    : &o[1];
}

bool sc_gen_widens_signed(const struct sc_inst *inst)
{
    enum sc_type from =
        inst->opcode == SC_OP_cvt ? inst->types[1] : inst->types[0];
    return sc_type_class(from) == SC_CLASS_SIGNED;
}

/* `base` is lane 0 of the group. */
static struct sc_value spread_linear(struct sc_gen *gen, const char *base,
                                     enum sc_lane_class class,
                                     struct sc_shape s, uint32_t part)
{
    long long first = part * gen->lanes;
    if (s.stride == 0)
        return sc_gen_spread(class, base);
    if (class == SC_LANE_32) {
        sc_rt_need(gen, "lin32", SC_ELEMENT_u32);
        return value("lin32(%s + %uu, %uu)", base,
                     (uint32_t)first * (uint32_t)s.stride, (uint32_t)s.stride);
    }
    sc_rt_need(gen, "lin64", SC_ELEMENT_u64);
    unsigned long long far =
        (unsigned long long)first * (unsigned long long)s.stride;
    if (s.widen == SC_NONE)
        return value("lin64(%s + 0x%llxull, 0x%llxull)", base, far,
                     (unsigned long long)s.stride);
    const struct sc_inst *at = &gen->func->insts[s.widen];
    struct sc_shape narrow = sc_gen_shape(gen, sc_gen_widened(at));
    sc_rt_need(gen, "lin64w", SC_ELEMENT_u64);
    return value("(wb%u ? lin64w(%s, 0x%llxull, wn%u, %uu, 0x%llxull, %d, "
                 "%lld) : lin64(%s + 0x%llxull, 0x%llxull))",
                 s.widen, base, (unsigned long long)s.stride, s.widen,
                 (uint32_t)narrow.stride, (unsigned long long)s.factor,
                 sc_gen_widens_signed(at), first, base, far,
                 (unsigned long long)s.stride);
}

struct sc_value sc_gen_vector(struct sc_gen *gen,
                              const struct sc_operand *operand,
                              enum sc_lane_class class, enum sc_type type,
                              uint32_t part)
{
    struct sc_shape s = sc_gen_shape(gen, operand);
    bool varies = s.kind == SC_SHAPE_VARYING;
    if (varies && operand->kind == SC_OPERAND_REG)
        return settled(gen, operand->reg, "v_flush",
                       value(operand->negate ? "m_not(v%u_%u)" : "v%u_%u",
                             operand->reg, part));
    if (varies && operand->kind == SC_OPERAND_SPECIAL) {
        struct sc_value v = special_vector(gen, operand->reg, part);
        return class == SC_LANE_64 ? value("v_zext64(%s)", v.text) : v;
    }
    struct sc_value base = sc_gen_scalar(gen, operand, class, type);
    return spread_linear(gen, base.text, class, s, part);
}

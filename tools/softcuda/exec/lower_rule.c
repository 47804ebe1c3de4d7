/*
 * Which modifiers floating-point instructions take, as the PTX ISA 9.0 has it;
 * see exec/lower.h.
 *
 * Handlers ignore flags they have no use for, so what the ISA does not have is
 * refused before one is chosen. cvt, set and setp have rules of their own where
 * they are decoded. Lock: none.
 */
#include "exec/lower.h"

#define RND    (1u << 0 | 1u << 1 | 1u << 2 | 1u << 3)
#define RN     (1u << 0)
#define APPROX (1u << 4)
#define FULL   (1u << 5)
#define FTZ    (1u << 6)
#define SAT    (1u << 7)
#define RELU   (1u << 8)
#define NANS   (1u << 9)

/* In the order of the bits above. */
static const enum sc_modifier modifiers[] = {
    SC_MOD_rn,  SC_MOD_rz,  SC_MOD_rm,   SC_MOD_rp,  SC_MOD_approx, SC_MOD_full,
    SC_MOD_ftz, SC_MOD_sat, SC_MOD_relu, SC_MOD_NaN, SC_MOD_rna};

#define F32   (1u << SC_T_f32)
#define F64   (1u << SC_T_f64)
#define F16S  (1u << SC_T_f16 | 1u << SC_T_f16x2)
#define BF16S (1u << SC_T_bf16 | 1u << SC_T_bf16x2)

/* A form is one that some rule allows. */
static const struct rule {
    enum sc_opcode opcode;
    uint32_t types;
    unsigned allowed, needed;
} rules[] = {
#define SUMS(op)                                                               \
    {SC_OP_##op, F32, RND | FTZ | SAT, 0}, {SC_OP_##op, F64, RND, 0},          \
        {SC_OP_##op, F16S, RN | FTZ | SAT, 0},                                 \
    {                                                                          \
        SC_OP_##op, BF16S, RN, 0                                               \
    }
    SUMS(add),
    SUMS(sub),
    SUMS(mul),
    {SC_OP_mad, F32, RND | FTZ | SAT, 0},
    {SC_OP_mad, F64, RND, 0},
    {SC_OP_fma, F32, RND | FTZ | SAT, 0},
    {SC_OP_fma, F64, RND, 0},
    {SC_OP_fma, F16S, RN | FTZ | SAT, RN},
    {SC_OP_fma, F16S, RN | FTZ | RELU, RN},
    {SC_OP_fma, BF16S, RN | RELU, RN},
    {SC_OP_div, F32, RND | APPROX | FULL | FTZ, 0},
    {SC_OP_div, F64, RND, 0},
    {SC_OP_rcp, F32, RND | APPROX | FTZ, 0},
    {SC_OP_rcp, F64, RND, 0},
    {SC_OP_rcp, F64, APPROX | FTZ, APPROX | FTZ},
    {SC_OP_sqrt, F32, RND | APPROX | FTZ, 0},
    {SC_OP_sqrt, F64, RND, 0},
    {SC_OP_rsqrt, F32 | F64, APPROX | FTZ, APPROX},
    {SC_OP_sin, F32, APPROX | FTZ, APPROX},
    {SC_OP_cos, F32, APPROX | FTZ, APPROX},
    {SC_OP_lg2, F32, APPROX | FTZ, APPROX},
    {SC_OP_ex2, F32, APPROX | FTZ, APPROX},
    {SC_OP_ex2, F16S, APPROX, APPROX},
    {SC_OP_ex2, BF16S, APPROX | FTZ, APPROX | FTZ},
    {SC_OP_tanh, F32 | F16S | BF16S, APPROX, APPROX},
#define EXTREMES(op)                                                           \
    {SC_OP_##op, F32 | F16S, FTZ | NANS, 0}, {SC_OP_##op, F64, 0, 0},          \
    {                                                                          \
        SC_OP_##op, BF16S, NANS, 0                                             \
    }
    EXTREMES(min),
    EXTREMES(max),
    {SC_OP_abs, F32 | F16S, FTZ, 0},
    {SC_OP_abs, F64 | BF16S, 0, 0},
    {SC_OP_neg, F32 | F16S, FTZ, 0},
    {SC_OP_neg, F64 | BF16S, 0, 0},
};

void sc_lower_check_real(struct sc_lower *lower)
{
    const struct sc_inst *inst = lower->inst;
    bool known = false;
    unsigned have = 0;
    if (inst->type_count != 1 || !sc_lower_is_real(inst->types[0]))
        return;
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        have |= sc_inst_has(inst, modifiers[i]) ? 1u << i : 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        if (r->opcode != inst->opcode)
            continue;
        known = true;
        if (r->types >> inst->types[0] & 1 && !(have & ~r->allowed) &&
            !(r->needed & ~have))
            return;
    }
    if (known)
        sc_lower_refuse(lower, "no such form");
}

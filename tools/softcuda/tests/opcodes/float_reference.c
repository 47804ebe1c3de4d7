/*
 * What f16, bf16, f32 and f64 arithmetic computes, exact and rounded once.
 *
 * Type, rounding, .ftz, .sat, .relu come from the case's arg. No state.
 */
#include "float_reference.h"

struct sfp float_load(const struct op_case *c, const uint64_t *in, int k)
{
    return sfp_unpack(op_type_format(ARG_TYPE(c)), in[k], c->arg & FTZ);
}

#define A float_load(c, in, 0)
#define B float_load(c, in, 1)
#define C float_load(c, in, 2)

uint64_t float_store(const struct op_case *c, struct sfp v)
{
    const struct sfp_format *format = op_type_format(ARG_TYPE(c));
    if (c->arg & RELU && v.kind != SFP_NAN && v.negative) {
        if (v.kind == SFP_ZERO)
            sfp_open_bits |= (uint64_t)1 << (op_type_bits(ARG_TYPE(c)) - 1);
        v = (struct sfp){.kind = SFP_ZERO};
    }
    return sfp_pack(format, v, ARG_ROUND(c), op_pack_flags(c));
}

uint64_t float_add(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_add(A, B, ARG_ROUND(c)));
}

uint64_t float_sub(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_add(A, sfp_neg(B), ARG_ROUND(c)));
}

uint64_t float_mul(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_mul(A, B));
}

uint64_t float_fma(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_add(sfp_mul(A, B), C, ARG_ROUND(c)));
}

uint64_t float_div(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_div(A, B));
}

uint64_t float_rcp(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_div(sfp_from_int(1), A));
}

uint64_t float_sqrt(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_sqrt(A));
}

uint64_t float_abs(const struct op_case *c, const uint64_t *in)
{
    struct sfp a = A;
    a.negative = false;
    return float_store(c, a);
}

uint64_t float_neg(const struct op_case *c, const uint64_t *in)
{
    return float_store(c, sfp_neg(A));
}

/* HI marks max. One NaN gives the other operand, unless .NaN; -0 < +0. */
uint64_t float_minmax(const struct op_case *c, const uint64_t *in)
{
    struct sfp a = A, b = B, d;
    bool negative = a.negative != b.negative;
    if (c->arg & XORSIGN)
        a.negative = b.negative = false;
    int order = sfp_compare(a, b);
    if (order == 2) {
        bool both = a.kind == SFP_NAN && b.kind == SFP_NAN;
        d = both || c->arg & NANS ? (struct sfp){.kind = SFP_NAN}
                                  : (a.kind == SFP_NAN ? b : a);
    } else if (order == 0) {
        d = a.negative ? a : b;
        if (c->arg & HI)
            d = a.negative ? b : a;
    } else {
        d = (order < 0) == !(c->arg & HI) ? a : b;
    }
    if (c->arg & XORSIGN)
        d.negative = negative;
    return float_store(c, d);
}

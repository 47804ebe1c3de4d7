/*
 * Approximate functions, compared within the bounds the PTX ISA documents.
 *
 * A reference returns the bits of a double that holds the exact value; the
 * case's bound is relative, or absolute when negative. Inputs for which the
 * ISA gives no bound are left open.
 */
#include "opcase.h"

#include <math.h>
#include <string.h>

/* The approximations with .ftz.f64 read the upper word of their source. */
static double number(const struct op_case *c, const uint64_t *in, int k)
{
    bool half = ARG_TYPE(c) == F64 && c->arg & FTZ;
    struct sfp v = sfp_unpack(op_type_format(ARG_TYPE(c)),
                              half ? in[k] >> 32 << 32 : in[k], c->arg & FTZ);
    uint64_t bits = sfp_pack(&sfp_f64, v, SFP_RN, 0);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t exact(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* No bound is documented here. */
static uint64_t open(void)
{
    sfp_open_bits = UINT64_MAX;
    return 0;
}

#define A number(c, in, 0)
#define B number(c, in, 1)

/* EXTRA(1): only divisors within the range .approx is specified for. */
static uint64_t r_div(const struct op_case *c, const uint64_t *in)
{
    double b = fabs(B);
    bool plain =
        b == 0 || isinf(b) || isnan(b) || (b >= 0x1p-126 && b <= 0x1p126);
    return ARG_EXTRA(c) && !plain ? open() : exact(A / B);
}

static uint64_t r_rcp(const struct op_case *c, const uint64_t *in)
{
    return exact(1 / A);
}

static uint64_t r_sqrt(const struct op_case *c, const uint64_t *in)
{
    return exact(sqrt(A));
}

static uint64_t r_rsqrt(const struct op_case *c, const uint64_t *in)
{
    return exact(1 / sqrt(A));
}

/* EXTRA(1): the tight bound holds from -2 pi to 2 pi. */
static uint64_t r_sin(const struct op_case *c, const uint64_t *in)
{
    double a = A;
    return ARG_EXTRA(c) && fabs(a) > 6.2831 ? open() : exact(sin(a));
}

static uint64_t r_cos(const struct op_case *c, const uint64_t *in)
{
    double a = A;
    return ARG_EXTRA(c) && fabs(a) > 6.2831 ? open() : exact(cos(a));
}

/* EXTRA(1): absolute bound between 1/2 and 2; EXTRA(2): relative outside. */
static uint64_t r_lg2(const struct op_case *c, const uint64_t *in)
{
    double a = A;
    bool middle = a > 0.5 && a < 2;
    return middle == (ARG_EXTRA(c) == 1) ? exact(log2(a)) : open();
}

/* Hardware drops what a subnormal f16 does not hold. */
static uint64_t r_ex2(const struct op_case *c, const uint64_t *in)
{
    double r = exp2(A);
    if (ARG_TYPE(c) == F16 && r < 0x1p-14)
        r = trunc(r * 0x1p24) / 0x1p24;
    return exact(r);
}

static uint64_t r_tanh(const struct op_case *c, const uint64_t *in)
{
    return exact(tanh(A));
}

/* The halves of a pair, each alone. */
#define HALVES(r)                                                              \
    static uint64_t r##_low(const struct op_case *c, const uint64_t *in)       \
    {                                                                          \
        return r(c, (uint64_t[]){in[0] & 0xffff});                             \
    }                                                                          \
    static uint64_t r##_high(const struct op_case *c, const uint64_t *in)      \
    {                                                                          \
        return r(c, (uint64_t[]){in[0] >> 16});                                \
    }
HALVES(r_tanh)
HALVES(r_ex2)

/* clang-format off */
#define PAIR(op, signature, r, arg, bound) \
    {op " %s0,%a; mov.b32 {%d,_},%s0", signature, r##_low, arg, CMP_CLOSE, \
     bound}, \
    {op " %s0,%a; mov.b32 {_,%d},%s0", signature, r##_high, arg, CMP_CLOSE, \
     bound}
#define F(text, signature, r, arg, bound) \
    {text, signature, r, arg, CMP_CLOSE, bound}
#define BOTH(op, signature, r, flags, bound) \
    F(op ".approx.f32 %d,%a", signature, r, F32 | (flags), bound), \
    F(op ".approx.ftz.f32 %d,%a", signature, r, F32 | FTZ | (flags), bound)

static const struct op_case cases[] = {
    F("div.approx.f32 %d,%a,%b", "W WfWf", r_div, F32 | EXTRA(1), 0x1p-22),
    F("div.approx.ftz.f32 %d,%a,%b", "W WfWf", r_div, F32 | FTZ | EXTRA(1),
      0x1p-22),
    F("div.full.f32 %d,%a,%b", "W WfWf", r_div, F32, 0x1p-22),
    F("div.full.ftz.f32 %d,%a,%b", "W WfWf", r_div, F32 | FTZ, 0x1p-22),
    BOTH("rcp", "W Wf", r_rcp, 0, 0x1p-23),
    BOTH("sqrt", "W Wf", r_sqrt, 0, 0x1p-23),
    BOTH("rsqrt", "W Wf", r_rsqrt, 0, 0x1.12p-23 /* 2^-22.9 */),
    BOTH("sin", "W Wt", r_sin, EXTRA(1), -0x1.6ap-21 /* 2^-20.5 */),
    BOTH("cos", "W Wt", r_cos, EXTRA(1), -0x1.6ap-21),
    BOTH("sin", "W Wt", r_sin, 0, -0x1.3bp-15 /* 2^-14.7 */),
    BOTH("cos", "W Wt", r_cos, 0, -0x1.3bp-15),
    BOTH("lg2", "W Wf", r_lg2, EXTRA(1), -0x1p-22),
    BOTH("lg2", "W Wf", r_lg2, EXTRA(2), 0x1p-22),
    BOTH("ex2", "W Wf", r_ex2, 0, 0x1p-22),
    BOTH("ex2", "W Wt", r_ex2, 0, 0x1p-22),
    F("tanh.approx.f32 %d,%a", "W Wf", r_tanh, F32, 0x1p-11),
    F("tanh.approx.f32 %d,%a", "W Wt", r_tanh, F32, 0x1p-11),
    F("tanh.approx.f16 %d,%a", "H Hf", r_tanh, F16, -0x1.02p-11),
    F("tanh.approx.bf16 %d,%a", "H Hb", r_tanh, BF16, -0x1p-8),
    F("ex2.approx.f16 %d,%a", "H Hf", r_ex2, F16, 0x1.12p-10 /* 2^-9.9 */),
    F("ex2.approx.ftz.bf16 %d,%a", "H Hb", r_ex2, BF16 | FTZ, 0x1p-7),
    PAIR("tanh.approx.f16x2", "H WF", r_tanh, F16, -0x1.02p-11),
    PAIR("tanh.approx.bf16x2", "H WB", r_tanh, BF16, -0x1p-8),
    PAIR("ex2.approx.f16x2", "H WF", r_ex2, F16, 0x1.12p-10),
    PAIR("ex2.approx.ftz.bf16x2", "H WB", r_ex2, BF16 | FTZ, 0x1p-7),
    F("rcp.approx.ftz.f64 %d,%a", "D Df", r_rcp, F64 | FTZ, 0x1p-19),
    F("rsqrt.approx.ftz.f64 %d,%a", "D Df", r_rsqrt, F64 | FTZ, 0x1p-19),
    F("rsqrt.approx.f64 %d,%a", "D Df", r_rsqrt, F64, 0x1p-50),
};
/* clang-format on */

void table_approx(struct op_table *table)
{
    table->name = "approximate functions";
    op_append(table, cases, sizeof cases / sizeof *cases);
}

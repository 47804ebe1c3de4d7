/*
 * Integer arithmetic: one line per opcode and type, and what it computes.
 *
 * References work on 128-bit integers and wrap once. Division by zero is
 * unspecified: it must not crash, any result counts.
 */
#include "opcase.h"

#define A op_int(ARG_TYPE(c), in[0])
#define B op_int(ARG_TYPE(c), in[1])
#define C op_int(ARG_TYPE(c), in[2])

/* Result wrapped, or clamped where the case says .sat. */
static uint64_t finish(const struct op_case *c, sfp_i128 value)
{
    enum op_type type = ARG_TYPE(c);
    return op_wrap(type, c->arg & SAT ? op_clamp(type, value) : value);
}

static uint64_t r_add(const struct op_case *c, const uint64_t *in)
{
    return finish(c, A + B);
}

static uint64_t r_sub(const struct op_case *c, const uint64_t *in)
{
    return finish(c, A - B);
}

/* High half of the product, exact: 128 bits hold 64 x 64 of one sign. */
static sfp_i128 high_half(const struct op_case *c, const uint64_t *in)
{
    int bits = op_type_bits(ARG_TYPE(c));
    if (op_type_is_signed(ARG_TYPE(c)))
        return A * B >> bits;
    return (sfp_i128)((sfp_u128)A * (sfp_u128)B >> bits);
}

static uint64_t r_mul(const struct op_case *c, const uint64_t *in)
{
    if (c->arg & WIDE)
        return (uint64_t)(A * B) &
               (op_type_bits(ARG_TYPE(c)) == 16 ? 0xffffffff : UINT64_MAX);
    if (c->arg & HI)
        return op_wrap(ARG_TYPE(c), high_half(c, in));
    return (uint64_t)((sfp_u128)A * (sfp_u128)B) & op_wrap(ARG_TYPE(c), -1);
}

static uint64_t r_mad(const struct op_case *c, const uint64_t *in)
{
    if (c->arg & WIDE) {
        bool short_result = op_type_bits(ARG_TYPE(c)) == 16;
        uint64_t sum = (uint64_t)(A * B) + in[2];
        return short_result ? sum & 0xffffffff : sum;
    }
    if (c->arg & HI)
        return finish(c, high_half(c, in) + C);
    return op_wrap(ARG_TYPE(c), (sfp_i128)(r_mul(c, in) + in[2]));
}

/* 24-bit products: the operands' low 24 bits, sign- or zero-extended. */
static sfp_i128 product24(const struct op_case *c, const uint64_t *in)
{
    int64_t a = (int64_t)(in[0] << 40), b = (int64_t)(in[1] << 40);
    if (op_type_is_signed(ARG_TYPE(c)))
        return (sfp_i128)(a >> 40) * (b >> 40);
    return (sfp_i128)((uint64_t)a >> 40) * ((uint64_t)b >> 40);
}

static uint64_t r_mul24(const struct op_case *c, const uint64_t *in)
{
    sfp_i128 p = product24(c, in);
    return op_wrap(ARG_TYPE(c), c->arg & HI ? p >> 16 : p);
}

static uint64_t r_mad24(const struct op_case *c, const uint64_t *in)
{
    sfp_i128 p = product24(c, in);
    sfp_i128 part = op_int(ARG_TYPE(c), (uint64_t)(c->arg & HI ? p >> 16 : p));
    return finish(c, part + C);
}

static uint64_t r_sad(const struct op_case *c, const uint64_t *in)
{
    return op_wrap(ARG_TYPE(c), C + (A < B ? B - A : A - B));
}

static uint64_t r_div(const struct op_case *c, const uint64_t *in)
{
    if (B == 0) {
        sfp_open_bits = UINT64_MAX;
        return 0;
    }
    return op_wrap(ARG_TYPE(c), A / B);
}

static uint64_t r_rem(const struct op_case *c, const uint64_t *in)
{
    if (B == 0) {
        sfp_open_bits = UINT64_MAX;
        return 0;
    }
    return op_wrap(ARG_TYPE(c), A % B);
}

static uint64_t r_abs(const struct op_case *c, const uint64_t *in)
{
    return op_wrap(ARG_TYPE(c), A < 0 ? -A : A);
}

static uint64_t r_neg(const struct op_case *c, const uint64_t *in)
{
    return op_wrap(ARG_TYPE(c), -A);
}

static uint64_t r_min(const struct op_case *c, const uint64_t *in)
{
    sfp_i128 least = A < B ? A : B;
    return op_wrap(ARG_TYPE(c), c->arg & RELU && least < 0 ? 0 : least);
}

static uint64_t r_max(const struct op_case *c, const uint64_t *in)
{
    sfp_i128 most = A > B ? A : B;
    return op_wrap(ARG_TYPE(c), c->arg & RELU && most < 0 ? 0 : most);
}

/* The two 16-bit halves, each by the 16-bit reference. */
static uint64_t halves(const struct op_case *c, const uint64_t *in,
                       op_reference *one)
{
    uint64_t low[2] = {in[0] & 0xffff, in[1] & 0xffff};
    uint64_t high[2] = {in[0] >> 16, in[1] >> 16};
    return one(c, low) | one(c, high) << 16;
}

static uint64_t r_add2(const struct op_case *c, const uint64_t *in)
{
    return halves(c, in, r_add);
}

static uint64_t r_min2(const struct op_case *c, const uint64_t *in)
{
    return halves(c, in, r_min);
}

static uint64_t r_max2(const struct op_case *c, const uint64_t *in)
{
    return halves(c, in, r_max);
}

/* Byte or half-word `i` of `bits`, signed as the type says. */
static int64_t part(enum op_type type, uint64_t bits, int i)
{
    return (int64_t)op_int(type, bits >> (i * op_type_bits(type)));
}

/* ARG_TYPE is the type of a's bytes, ARG_FROM of b's. */
static uint64_t r_dp4a(const struct op_case *c, const uint64_t *in)
{
    int64_t sum = (int64_t)in[2];
    for (int i = 0; i < 4; i++)
        sum += part(ARG_TYPE(c), in[0], i) * part(ARG_FROM(c), in[1], i);
    return (uint32_t)sum;
}

static uint64_t r_dp2a(const struct op_case *c, const uint64_t *in)
{
    int64_t sum = (int64_t)in[2];
    for (int i = 0; i < 2; i++)
        sum += part(ARG_TYPE(c), in[0], i) *
               part(ARG_FROM(c), in[1], i + (c->arg & HI ? 2 : 0));
    return (uint32_t)sum;
}

/* clang-format off */
#define OP(text, signature, ...) {text, signature, __VA_ARGS__, CMP_BITS, 0}
#define SIX2(op, r, flags) \
    OP(op ".u16 %d,%a,%b", "H HiHi", r, U16 | (flags)), \
    OP(op ".s16 %d,%a,%b", "H HiHi", r, S16 | (flags)), \
    OP(op ".u32 %d,%a,%b", "W WiWi", r, U32 | (flags)), \
    OP(op ".s32 %d,%a,%b", "W WiWi", r, S32 | (flags)), \
    OP(op ".u64 %d,%a,%b", "D DiDi", r, U64 | (flags)), \
    OP(op ".s64 %d,%a,%b", "D DiDi", r, S64 | (flags))
#define SIX3(op, r, flags) \
    OP(op ".u16 %d,%a,%b,%c", "H HiHiHi", r, U16 | (flags)), \
    OP(op ".s16 %d,%a,%b,%c", "H HiHiHi", r, S16 | (flags)), \
    OP(op ".u32 %d,%a,%b,%c", "W WiWiWi", r, U32 | (flags)), \
    OP(op ".s32 %d,%a,%b,%c", "W WiWiWi", r, S32 | (flags)), \
    OP(op ".u64 %d,%a,%b,%c", "D DiDiDi", r, U64 | (flags)), \
    OP(op ".s64 %d,%a,%b,%c", "D DiDiDi", r, S64 | (flags))

static const struct op_case cases[] = {
    SIX2("add", r_add, 0),
    OP("add.sat.s32 %d,%a,%b", "W WiWi", r_add, S32 | SAT),
    OP("add.u16x2 %d,%a,%b", "W WiWi", r_add2, U16),
    OP("add.s16x2 %d,%a,%b", "W WiWi", r_add2, S16),
    SIX2("sub", r_sub, 0),
    OP("sub.sat.s32 %d,%a,%b", "W WiWi", r_sub, S32 | SAT),
    SIX2("mul.lo", r_mul, 0),
    SIX2("mul.hi", r_mul, HI),
    OP("mul.wide.u16 %d,%a,%b", "W HiHi", r_mul, U16 | WIDE),
    OP("mul.wide.s16 %d,%a,%b", "W HiHi", r_mul, S16 | WIDE),
    OP("mul.wide.u32 %d,%a,%b", "D WiWi", r_mul, U32 | WIDE),
    OP("mul.wide.s32 %d,%a,%b", "D WiWi", r_mul, S32 | WIDE),
    SIX3("mad.lo", r_mad, 0),
    SIX3("mad.hi", r_mad, HI),
    OP("mad.hi.sat.s32 %d,%a,%b,%c", "W WiWiWi", r_mad, S32 | HI | SAT),
    OP("mad.wide.u16 %d,%a,%b,%c", "W HiHiWi", r_mad, U16 | WIDE),
    OP("mad.wide.s16 %d,%a,%b,%c", "W HiHiWi", r_mad, S16 | WIDE),
    OP("mad.wide.u32 %d,%a,%b,%c", "D WiWiDi", r_mad, U32 | WIDE),
    OP("mad.wide.s32 %d,%a,%b,%c", "D WiWiDi", r_mad, S32 | WIDE),
    OP("mul24.lo.u32 %d,%a,%b", "W WiWi", r_mul24, U32),
    OP("mul24.lo.s32 %d,%a,%b", "W WiWi", r_mul24, S32),
    OP("mul24.hi.u32 %d,%a,%b", "W WiWi", r_mul24, U32 | HI),
    OP("mul24.hi.s32 %d,%a,%b", "W WiWi", r_mul24, S32 | HI),
    OP("mad24.lo.u32 %d,%a,%b,%c", "W WiWiWi", r_mad24, U32),
    OP("mad24.lo.s32 %d,%a,%b,%c", "W WiWiWi", r_mad24, S32),
    OP("mad24.hi.u32 %d,%a,%b,%c", "W WiWiWi", r_mad24, U32 | HI),
    OP("mad24.hi.s32 %d,%a,%b,%c", "W WiWiWi", r_mad24, S32 | HI),
    OP("mad24.hi.sat.s32 %d,%a,%b,%c", "W WiWiWi", r_mad24, S32 | HI | SAT),
    SIX3("sad", r_sad, 0),
    SIX2("div", r_div, 0),
    SIX2("rem", r_rem, 0),
    OP("abs.s16 %d,%a", "H Hi", r_abs, S16),
    OP("abs.s32 %d,%a", "W Wi", r_abs, S32),
    OP("abs.s64 %d,%a", "D Di", r_abs, S64),
    OP("neg.s16 %d,%a", "H Hi", r_neg, S16),
    OP("neg.s32 %d,%a", "W Wi", r_neg, S32),
    OP("neg.s64 %d,%a", "D Di", r_neg, S64),
    SIX2("min", r_min, 0),
    SIX2("max", r_max, 0),
    OP("min.relu.s32 %d,%a,%b", "W WiWi", r_min, S32 | RELU),
    OP("max.relu.s32 %d,%a,%b", "W WiWi", r_max, S32 | RELU),
    OP("min.u16x2 %d,%a,%b", "W WiWi", r_min2, U16),
    OP("min.s16x2 %d,%a,%b", "W WiWi", r_min2, S16),
    OP("max.u16x2 %d,%a,%b", "W WiWi", r_max2, U16),
    OP("max.s16x2 %d,%a,%b", "W WiWi", r_max2, S16),
    OP("min.relu.s16x2 %d,%a,%b", "W WiWi", r_min2, S16 | RELU),
    OP("max.relu.s16x2 %d,%a,%b", "W WiWi", r_max2, S16 | RELU),
    OP("dp4a.u32.u32 %d,%a,%b,%c", "W WiWiWi", r_dp4a, U8 | FROM(U8)),
    OP("dp4a.u32.s32 %d,%a,%b,%c", "W WiWiWi", r_dp4a, U8 | FROM(S8)),
    OP("dp4a.s32.u32 %d,%a,%b,%c", "W WiWiWi", r_dp4a, S8 | FROM(U8)),
    OP("dp4a.s32.s32 %d,%a,%b,%c", "W WiWiWi", r_dp4a, S8 | FROM(S8)),
    OP("dp2a.lo.u32.u32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, U16 | FROM(U8)),
    OP("dp2a.lo.u32.s32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, U16 | FROM(S8)),
    OP("dp2a.lo.s32.u32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, S16 | FROM(U8)),
    OP("dp2a.lo.s32.s32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, S16 | FROM(S8)),
    OP("dp2a.hi.u32.u32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, U16 | FROM(U8) | HI),
    OP("dp2a.hi.u32.s32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, U16 | FROM(S8) | HI),
    OP("dp2a.hi.s32.u32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, S16 | FROM(U8) | HI),
    OP("dp2a.hi.s32.s32 %d,%a,%b,%c", "W WiWiWi", r_dp2a, S16 | FROM(S8) | HI),
};
/* clang-format on */

void table_integer(struct op_table *table)
{
    table->name = "integer arithmetic";
    op_append(table, cases, sizeof cases / sizeof *cases);
}

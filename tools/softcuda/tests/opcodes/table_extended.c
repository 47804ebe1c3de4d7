/*
 * Extended-precision chains: add.cc, addc, sub.cc, subc, mad.cc, madc.
 *
 * A case is a whole chain, because the carry lives between instructions; its
 * result holds the sums and the carry that the last link reads. The carry of
 * one lane must not reach another, so all of them run masked, too.
 */
#include "opcase.h"

#include <stdio.h>

/* Operands a, b start the chain; c, e continue it. */
struct link {
    uint64_t sum;
    bool carry;
};

static struct link plus(enum op_type type, uint64_t a, uint64_t b, bool carry)
{
    sfp_u128 sum = (sfp_u128)a + b + carry;
    return (struct link){op_wrap(type, (sfp_i128)sum),
                         sum >> op_type_bits(type) & 1};
}

/* Borrow: what subc takes away on top. */
static struct link minus(enum op_type type, uint64_t a, uint64_t b, bool borrow)
{
    sfp_u128 taken = (sfp_u128)b + borrow;
    return (struct link){op_wrap(type, (sfp_i128)(a - taken)), a < taken};
}

/* add.cc; addc.cc; addc: two sums and the carry, folded into one number. */
static uint64_t r_add_chain(const struct op_case *c, const uint64_t *in)
{
    struct link one = plus(ARG_TYPE(c), in[0], in[1], false);
    struct link two = plus(ARG_TYPE(c), in[2], in[3], one.carry);
    struct link three = plus(ARG_TYPE(c), 5, 0, two.carry);
    return op_wrap(ARG_TYPE(c), one.sum ^ two.sum * 3 ^ three.sum * 5);
}

static uint64_t r_sub_chain(const struct op_case *c, const uint64_t *in)
{
    struct link one = minus(ARG_TYPE(c), in[0], in[1], false);
    struct link two = minus(ARG_TYPE(c), in[2], in[3], one.carry);
    struct link three = minus(ARG_TYPE(c), 5, 0, two.carry);
    return op_wrap(ARG_TYPE(c), one.sum ^ two.sum * 3 ^ three.sum * 5);
}

static uint64_t product(const struct op_case *c, const uint64_t *in, bool high)
{
    enum op_type type = ARG_TYPE(c);
    int bits = op_type_bits(type);
    sfp_i128 a = op_int(type, in[0]), b = op_int(type, in[1]);
    sfp_u128 p = (sfp_u128)a * (sfp_u128)b;
    if (op_type_is_signed(type))
        return op_wrap(type, high ? (sfp_i128)p >> bits : (sfp_i128)p);
    return op_wrap(type, (sfp_i128)(high ? p >> bits : p));
}

/* mad.lo.cc; madc.hi.cc; addc: a * b + c * 2^n + e, and the carry. */
static uint64_t r_mad_chain(const struct op_case *c, const uint64_t *in)
{
    struct link one = plus(ARG_TYPE(c), product(c, in, false), in[2], false);
    struct link two = plus(ARG_TYPE(c), product(c, in, true), in[3], one.carry);
    struct link three = plus(ARG_TYPE(c), 5, 0, two.carry);
    return op_wrap(ARG_TYPE(c), one.sum ^ two.sum * 3 ^ three.sum * 5);
}

/* mad.hi.cc; madc.lo.cc; addc. */
static uint64_t r_mad_swapped(const struct op_case *c, const uint64_t *in)
{
    struct link one = plus(ARG_TYPE(c), product(c, in, true), in[2], false);
    struct link two =
        plus(ARG_TYPE(c), product(c, in, false), in[3], one.carry);
    struct link three = plus(ARG_TYPE(c), 5, 0, two.carry);
    return op_wrap(ARG_TYPE(c), one.sum ^ two.sum * 3 ^ three.sum * 5);
}

/* add.cc; madc.lo; madc.hi: both read the carry and leave it. */
static uint64_t r_mad_last(const struct op_case *c, const uint64_t *in)
{
    struct link one = plus(ARG_TYPE(c), in[0], in[1], false);
    struct link two =
        plus(ARG_TYPE(c), product(c, in, false), in[3], one.carry);
    struct link three =
        plus(ARG_TYPE(c), product(c, in, true), in[2], one.carry);
    return op_wrap(ARG_TYPE(c), one.sum ^ two.sum * 3 ^ three.sum * 5);
}

/* 128-bit addition the way compilers write it; the high half. */
static uint64_t r_wide_add(const struct op_case *c, const uint64_t *in)
{
    sfp_u128 a = (sfp_u128)in[2] << 64 | in[0];
    sfp_u128 b = (sfp_u128)in[3] << 64 | in[1];
    return (uint64_t)((a + b) >> 64);
}

static uint64_t r_wide_sub(const struct op_case *c, const uint64_t *in)
{
    sfp_u128 a = (sfp_u128)in[2] << 64 | in[0];
    sfp_u128 b = (sfp_u128)in[3] << 64 | in[1];
    return (uint64_t)((a - b) >> 64);
}

/* A plain add between the links leaves the carry alone. */
static uint64_t r_kept_carry(const struct op_case *c, const uint64_t *in)
{
    struct link one = plus(ARG_TYPE(c), in[0], in[1], false);
    return plus(ARG_TYPE(c), in[2], in[3], one.carry).sum;
}

static void emit_chains(struct op_table *table, enum op_type type)
{
    const char *t = op_type_name(type), *b = "b32", *r = "s";
    struct op_case c = {.signature = "W WiWiWiWi", .arg = type};
    if (op_type_bits(type) == 64) {
        c.signature = "D DiDiDiDi";
        b = "b64";
        r = "l";
    }
    /* sum1 ^ sum2 * 3 ^ sum3 * 5 */
    char fold[160];
    snprintf(fold, sizeof fold,
             "mul.lo.u%s %%%s1,%%%s1,3; mul.lo.u%s %%%s2,%%%s2,5; "
             "xor.%s %%d,%%%s0,%%%s1; xor.%s %%d,%%d,%%%s2",
             b + 1, r, r, b + 1, r, r, b, r, r, b, r);
    c.reference = r_add_chain;
    op_emit(table, c,
            "add.cc.%s %%%s0,%%a,%%b; addc.cc.%s %%%s1,%%c,%%e; "
            "addc.%s %%%s2,5,0; %s",
            t, r, t, r, t, r, fold);
    c.reference = r_sub_chain;
    op_emit(table, c,
            "sub.cc.%s %%%s0,%%a,%%b; subc.cc.%s %%%s1,%%c,%%e; "
            "subc.%s %%%s2,5,0; %s",
            t, r, t, r, t, r, fold);
    c.reference = r_mad_chain;
    op_emit(table, c,
            "mad.lo.cc.%s %%%s0,%%a,%%b,%%c; madc.hi.cc.%s %%%s1,%%a,%%b,%%e; "
            "addc.%s %%%s2,5,0; %s",
            t, r, t, r, t, r, fold);
    c.reference = r_mad_swapped;
    op_emit(table, c,
            "mad.hi.cc.%s %%%s0,%%a,%%b,%%c; madc.lo.cc.%s %%%s1,%%a,%%b,%%e; "
            "addc.%s %%%s2,5,0; %s",
            t, r, t, r, t, r, fold);
    c.reference = r_mad_last;
    op_emit(table, c,
            "add.cc.%s %%%s0,%%a,%%b; madc.lo.%s %%%s1,%%a,%%b,%%e; "
            "madc.hi.%s %%%s2,%%a,%%b,%%c; %s",
            t, r, t, r, t, r, fold);
}

/* clang-format off */
static const struct op_case cases[] = {
    {"add.cc.u64 %l0,%a,%b; addc.u64 %d,%c,%e",
     "D DiDiDiDi", r_wide_add, U64, CMP_BITS, 0},
    {"sub.cc.u64 %l0,%a,%b; subc.u64 %d,%c,%e",
     "D DiDiDiDi", r_wide_sub, U64, CMP_BITS, 0},
    {"add.cc.u32 %s0,%a,%b; add.u32 %s1,%s0,%c; addc.u32 %d,%c,%e",
     "W WiWiWiWi", r_kept_carry, U32, CMP_BITS, 0},
    {"add.cc.u32 %s0,%a,%b; mad.lo.u32 %s1,%s0,%c,%e; addc.u32 %d,%c,%e",
     "W WiWiWiWi", r_kept_carry, U32, CMP_BITS, 0},
};
/* clang-format on */

void table_extended(struct op_table *table)
{
    static const enum op_type types[] = {U32, S32, U64, S64};
    table->name = "extended precision";
    op_append(table, cases, sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        emit_chains(table, types[i]);
}

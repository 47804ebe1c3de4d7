/*
 * mov: every type, packing and unpacking, and the forms of constants.
 *
 * Loads, stores and address moves are in test_memory.c.
 */
#include "opcase.h"

static uint64_t r_same(const struct op_case *c, const uint64_t *in)
{
    return in[0];
}

static uint64_t r_swap16(const struct op_case *c, const uint64_t *in)
{
    return (in[0] << 16 | in[0] >> 16) & 0xffffffff;
}

static uint64_t r_swap32(const struct op_case *c, const uint64_t *in)
{
    return in[0] << 32 | in[0] >> 32;
}

static uint64_t r_reverse16(const struct op_case *c, const uint64_t *in)
{
    uint64_t d = 0;
    for (int i = 0; i < 4; i++)
        d = d << 16 | (in[0] >> 16 * i & 0xffff);
    return d;
}

static uint64_t r_join16(const struct op_case *c, const uint64_t *in)
{
    return in[1] << 16 | in[0];
}

static uint64_t r_join32(const struct op_case *c, const uint64_t *in)
{
    return in[1] << 32 | in[0];
}

static uint64_t r_join4(const struct op_case *c, const uint64_t *in)
{
    return in[3] << 48 | in[2] << 32 | in[1] << 16 | in[0];
}

static uint64_t r_low32(const struct op_case *c, const uint64_t *in)
{
    return in[0] & 0xffffffff;
}

static uint64_t r_high32(const struct op_case *c, const uint64_t *in)
{
    return in[0] >> 32;
}

static uint64_t r_low16(const struct op_case *c, const uint64_t *in)
{
    return in[0] & 0xffff;
}

static uint64_t r_high16(const struct op_case *c, const uint64_t *in)
{
    return in[0] >> 16 & 0xffff;
}

/* A constant, by number; spelled out here as C understands it. */
static const uint64_t constants[] = {
    42,
    0xffffffff,
    0xdeadbeef,
    0755,
    5,
    0x3fc00000,
    0xff800000,
    0x3fd5555555555555,
    (uint64_t)-2147483649,
    UINT64_MAX,
    0x8000,
    68,
    0xfffffff9,
    1,
    0x40490fdb,
    32,
    0xffffffff,
    0x7fff,
    7,
};

static uint64_t r_constant(const struct op_case *c, const uint64_t *in)
{
    return constants[ARG_EXTRA(c)];
}

/* clang-format off */
#define OP(text, signature, r) {text, signature, r, 0, CMP_BITS, 0}
#define CONSTANT(text, kind, i) {text, kind, r_constant, EXTRA(i), CMP_BITS, 0}

static const struct op_case cases[] = {
    OP("mov.b16 %d,%a", "H Hi", r_same),
    OP("mov.u16 %d,%a", "H Hi", r_same),
    OP("mov.s16 %d,%a", "H Hi", r_same),
    OP("mov.b32 %d,%a", "W Wi", r_same),
    OP("mov.u32 %d,%a", "W Wi", r_same),
    OP("mov.s32 %d,%a", "W Wi", r_same),
    OP("mov.f32 %d,%a", "W Wf", r_same),
    OP("mov.b64 %d,%a", "D Di", r_same),
    OP("mov.u64 %d,%a", "D Di", r_same),
    OP("mov.s64 %d,%a", "D Di", r_same),
    OP("mov.f64 %d,%a", "D Df", r_same),
    OP("mov.pred %d,%a", "P Pq", r_same),
    OP("mov.b32 {%h0,%h1},%a; mov.b32 %d,{%h1,%h0}", "W Wi", r_swap16),
    OP("mov.b64 {%s0,%s1},%a; mov.b64 %d,{%s1,%s0}", "D Di", r_swap32),
    OP("mov.b64 {%h0,%h1,%h2,%h3},%a; mov.b64 %d,{%h3,%h2,%h1,%h0}",
       "D Di", r_reverse16),
    OP("mov.b32 %d,{%a,%b}", "W HiHi", r_join16),
    OP("mov.b64 %d,{%a,%b}", "D WiWi", r_join32),
    OP("mov.b64 %d,{%a,%b,%c,%e}", "D HiHiHiHi", r_join4),
    OP("mov.b64 {%d,%s0},%a", "W Di", r_low32),
    OP("mov.b64 {%s0,%d},%a", "W Di", r_high32),
    OP("mov.b64 {_,%d},%a", "W Di", r_high32),
    OP("mov.b64 {%d,_},%a", "W Di", r_low32),
    OP("mov.b32 {%d,%h0},%a", "H Wi", r_low16),
    OP("mov.b32 {%h0,%d},%a", "H Wi", r_high16),
    CONSTANT("mov.u32 %d,42", "W ", 0),
    CONSTANT("mov.s32 %d,-1", "W ", 1),
    CONSTANT("mov.b32 %d,0xDEADBEEF", "W ", 2),
    CONSTANT("mov.b32 %d,0xdeadbeefU", "W ", 2),
    CONSTANT("mov.u32 %d,0755", "W ", 3),
    CONSTANT("mov.u32 %d,0b101", "W ", 4),
    CONSTANT("mov.f32 %d,0f3FC00000", "W ", 5),
    CONSTANT("mov.b32 %d,0fFF800000", "W ", 6),
    CONSTANT("mov.f64 %d,0d3FD5555555555555", "D ", 7),
    CONSTANT("mov.s64 %d,-2147483649", "D ", 8),
    CONSTANT("mov.b64 %d,-1", "D ", 9),
    CONSTANT("mov.u64 %d,0xffffffffffffffff", "D ", 9),
    CONSTANT("mov.u16 %d,32768", "H ", 10),
    CONSTANT("mov.u32 %d,((3*4+5)<<2)", "W ", 11),
    CONSTANT("mov.s32 %d,(-7)", "W ", 12),
    CONSTANT("mov.u32 %d,(5>3?1:2)", "W ", 13),
    CONSTANT("mov.f32 %d,0f40490fdb", "W ", 14),
    CONSTANT("mov.u32 %d,WARP_SZ", "W ", 15),
    CONSTANT("mov.u32 %d,(~0)", "W ", 16),
    CONSTANT("mov.b16 %d,0x7fff", "H ", 17),
    CONSTANT("mov.u32 %d,(100 % 31)&7|7", "W ", 18),
    CONSTANT("mov.u32 %d,(!0)", "W ", 13),
};
/* clang-format on */

void table_move(struct op_table *table)
{
    table->name = "moves and constants";
    op_append(table, cases, sizeof cases / sizeof *cases);
}

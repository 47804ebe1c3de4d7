/*
 * Logic, shifts and bit manipulation.
 *
 * References go bit by bit where the ISA's text does, so that no host shift
 * sees an amount at or past its width.
 */
#include "opcase.h"

#define BITS(c) op_type_bits(ARG_TYPE(c))

static bool bit_of(uint64_t bits, int i)
{
    return bits >> i & 1;
}

static uint64_t ones(int bits)
{
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static uint64_t r_and(const struct op_case *c, const uint64_t *in)
{
    return in[0] & in[1];
}

static uint64_t r_or(const struct op_case *c, const uint64_t *in)
{
    return in[0] | in[1];
}

static uint64_t r_xor(const struct op_case *c, const uint64_t *in)
{
    return in[0] ^ in[1];
}

/* EXTRA(1): a predicate. */
static uint64_t r_not(const struct op_case *c, const uint64_t *in)
{
    return ~in[0] & (ARG_EXTRA(c) ? 1 : ones(BITS(c)));
}

static uint64_t r_cnot(const struct op_case *c, const uint64_t *in)
{
    return in[0] == 0;
}

static uint64_t r_shl(const struct op_case *c, const uint64_t *in)
{
    if (in[1] >= (uint64_t)BITS(c))
        return 0;
    return op_wrap(ARG_TYPE(c), (sfp_i128)((sfp_u128)in[0] << in[1]));
}

static uint64_t r_shr(const struct op_case *c, const uint64_t *in)
{
    int n = in[1] > 64 ? 64 : (int)in[1];
    return op_wrap(ARG_TYPE(c), op_int(ARG_TYPE(c), in[0]) >> n);
}

/* Funnel shifts: HI marks shf.l, EXTRA(1) .wrap. */
static uint64_t r_shf(const struct op_case *c, const uint64_t *in)
{
    uint64_t both = in[1] << 32 | in[0];
    int n = ARG_EXTRA(c) ? (int)(in[2] & 31) : in[2] > 32 ? 32 : (int)in[2];
    if (c->arg & HI)
        return (uint32_t)((sfp_u128)both << n >> 32);
    return (uint32_t)(both >> n);
}

static uint64_t r_lop3(const struct op_case *c, const uint64_t *in)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++) {
        int row =
            bit_of(in[0], i) * 4 + bit_of(in[1], i) * 2 + bit_of(in[2], i);
        d |= (uint64_t)bit_of(ARG_EXTRA(c), row) << i;
    }
    return d;
}

/* lop3 whose result is tested, too: bit 0 of d | p, q = e. */
static uint64_t r_lop3_test(const struct op_case *c, const uint64_t *in)
{
    bool nonzero = r_lop3(c, in) != 0;
    return c->arg & HI ? (nonzero && in[3]) : (nonzero || in[3]);
}

static uint64_t r_popc(const struct op_case *c, const uint64_t *in)
{
    uint64_t n = 0;
    for (int i = 0; i < BITS(c); i++)
        n += bit_of(in[0], i);
    return n;
}

static uint64_t r_clz(const struct op_case *c, const uint64_t *in)
{
    uint64_t n = 0;
    while (n < (uint64_t)BITS(c) && !bit_of(in[0], BITS(c) - 1 - (int)n))
        n++;
    return n;
}

static uint64_t r_brev(const struct op_case *c, const uint64_t *in)
{
    uint64_t d = 0;
    for (int i = 0; i < BITS(c); i++)
        d |= (uint64_t)bit_of(in[0], i) << (BITS(c) - 1 - i);
    return d;
}

/* HI marks .shiftamt. */
static uint64_t r_bfind(const struct op_case *c, const uint64_t *in)
{
    int top = BITS(c) - 1;
    bool fill = op_type_is_signed(ARG_TYPE(c)) && bit_of(in[0], top);
    for (int i = top; i >= 0; i--)
        if (bit_of(in[0], i) != fill)
            return (uint64_t)(c->arg & HI ? top - i : i);
    return 0xffffffff;
}

static uint64_t r_bfe(const struct op_case *c, const uint64_t *in)
{
    int top = BITS(c) - 1, pos = in[1] & 255, len = in[2] & 255;
    bool sign = false;
    uint64_t d = 0;
    if (op_type_is_signed(ARG_TYPE(c)) && len > 0)
        sign = bit_of(in[0], pos + len - 1 < top ? pos + len - 1 : top);
    for (int i = 0; i <= top; i++) {
        bool inside = i < len && pos + i <= top;
        d |= (uint64_t)(inside ? bit_of(in[0], pos + i) : sign) << i;
    }
    return d;
}

static uint64_t r_bfi(const struct op_case *c, const uint64_t *in)
{
    int pos = in[2] & 255, len = in[3] & 255;
    uint64_t d = in[1];
    for (int i = 0; i < len && pos + i < BITS(c); i++) {
        d &= ~((uint64_t)1 << (pos + i));
        d |= (uint64_t)bit_of(in[0], i) << (pos + i);
    }
    return d;
}

/* EXTRA(1): .wrap. */
static uint64_t r_bmsk(const struct op_case *c, const uint64_t *in)
{
    bool wrap = ARG_EXTRA(c);
    uint64_t pos = wrap ? in[0] & 31 : in[0], len = wrap ? in[1] & 31 : in[1];
    uint64_t d = 0;
    for (uint64_t i = 0; i < 32; i++)
        d |= (uint64_t)(i >= pos && i - pos < len) << i;
    return d;
}

static uint64_t r_szext(const struct op_case *c, const uint64_t *in)
{
    uint64_t n = ARG_EXTRA(c) ? in[1] & 31 : in[1];
    bool sign = op_type_is_signed(ARG_TYPE(c)) && n > 0 && n < 32 &&
                bit_of(in[0], (int)n - 1);
    if (n >= 32)
        return in[0];
    uint64_t low = in[0] & ones((int)n);
    return sign ? low | (ones(32) & ~ones((int)n)) : low;
}

/* The n-th set bit from a base upwards or downwards; EXTRA is taken off n. */
/* The ISA says "not found" of an offset of -2^31, too; hardware says 0. */
static uint64_t r_fns(const struct op_case *c, const uint64_t *in)
{
    int base = in[1] & 31;
    int64_t offset = (int32_t)in[2] - (int64_t)ARG_EXTRA(c);
    int64_t left = offset < 0 ? -offset : offset;
    if (offset == INT32_MIN)
        return 0;
    if (offset == 0)
        return bit_of(in[0], base) ? (uint64_t)base : 0xffffffff;
    for (int i = base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1)
        if (bit_of(in[0], i) && --left == 0)
            return (uint64_t)i;
    return 0xffffffff;
}

static uint64_t byte_of(const uint64_t *in, unsigned selector)
{
    uint64_t both = in[1] << 32 | in[0];
    uint64_t byte = both >> (selector & 7) * 8 & 255;
    return selector & 8 ? (byte & 128 ? 255 : 0) : byte;
}

static uint64_t select_bytes(const uint64_t *in, unsigned control)
{
    uint64_t d = 0;
    for (int i = 0; i < 4; i++)
        d |= byte_of(in, control >> 4 * i & 15) << 8 * i;
    return d;
}

/* EXTRA: an immediate control word instead of a third operand. */
static uint64_t r_prmt(const struct op_case *c, const uint64_t *in)
{
    unsigned immediate = ARG_EXTRA(c);
    return select_bytes(in, immediate ? immediate : (unsigned)in[2]);
}

/* Modes by EXTRA: the control word for each value of the low two bits. */
static uint64_t r_prmt_mode(const struct op_case *c, const uint64_t *in)
{
    static const unsigned control[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    return select_bytes(in, control[ARG_EXTRA(c)][in[2] & 3]);
}

/* clang-format off */
#define OP(text, signature, ...) {text, signature, __VA_ARGS__, CMP_BITS, 0}
#define LOGIC(op, r) \
    OP(op ".b16 %d,%a,%b", "H HiHi", r, B16), \
    OP(op ".b32 %d,%a,%b", "W WiWi", r, B32), \
    OP(op ".b64 %d,%a,%b", "D DiDi", r, B64), \
    OP(op ".pred %d,%a,%b", "P PqPq", r, EXTRA(1))

static const struct op_case cases[] = {
    LOGIC("and", r_and),
    LOGIC("or", r_or),
    LOGIC("xor", r_xor),
    OP("not.b16 %d,%a", "H Hi", r_not, B16),
    OP("not.b32 %d,%a", "W Wi", r_not, B32),
    OP("not.b64 %d,%a", "D Di", r_not, B64),
    OP("not.pred %d,%a", "P Pq", r_not, EXTRA(1)),
    OP("cnot.b16 %d,%a", "H Hi", r_cnot, B16),
    OP("cnot.b32 %d,%a", "W Wi", r_cnot, B32),
    OP("cnot.b64 %d,%a", "D Di", r_cnot, B64),
    OP("shl.b16 %d,%a,%b", "H HiWs", r_shl, B16),
    OP("shl.b32 %d,%a,%b", "W WiWs", r_shl, B32),
    OP("shl.b64 %d,%a,%b", "D DiWs", r_shl, B64),
    OP("shr.b16 %d,%a,%b", "H HiWs", r_shr, B16),
    OP("shr.b32 %d,%a,%b", "W WiWs", r_shr, B32),
    OP("shr.b64 %d,%a,%b", "D DiWs", r_shr, B64),
    OP("shr.u16 %d,%a,%b", "H HiWs", r_shr, U16),
    OP("shr.s16 %d,%a,%b", "H HiWs", r_shr, S16),
    OP("shr.u32 %d,%a,%b", "W WiWs", r_shr, U32),
    OP("shr.s32 %d,%a,%b", "W WiWs", r_shr, S32),
    OP("shr.u64 %d,%a,%b", "D DiWs", r_shr, U64),
    OP("shr.s64 %d,%a,%b", "D DiWs", r_shr, S64),
    OP("shf.l.clamp.b32 %d,%a,%b,%c", "W WiWiWs", r_shf, HI),
    OP("shf.l.wrap.b32 %d,%a,%b,%c", "W WiWiWs", r_shf, HI | EXTRA(1)),
    OP("shf.r.clamp.b32 %d,%a,%b,%c", "W WiWiWs", r_shf, 0),
    OP("shf.r.wrap.b32 %d,%a,%b,%c", "W WiWiWs", r_shf, EXTRA(1)),
    OP("lop3.or.b32 %s0|%d,%a,%b,%c,0x96,%e", "P WiWiWiPq", r_lop3_test,
       EXTRA(0x96)),
    OP("lop3.and.b32 _|%d,%a,%b,%c,0x80,%e", "P WiWiWiPq", r_lop3_test,
       EXTRA(0x80) | HI),
    OP("popc.b32 %d,%a", "W Wi", r_popc, B32),
    OP("popc.b64 %d,%a", "W Di", r_popc, B64),
    OP("clz.b32 %d,%a", "W Wi", r_clz, B32),
    OP("clz.b64 %d,%a", "W Di", r_clz, B64),
    OP("brev.b32 %d,%a", "W Wi", r_brev, B32),
    OP("brev.b64 %d,%a", "D Di", r_brev, B64),
    OP("bfind.u32 %d,%a", "W Wi", r_bfind, U32),
    OP("bfind.s32 %d,%a", "W Wi", r_bfind, S32),
    OP("bfind.u64 %d,%a", "W Di", r_bfind, U64),
    OP("bfind.s64 %d,%a", "W Di", r_bfind, S64),
    OP("bfind.shiftamt.u32 %d,%a", "W Wi", r_bfind, U32 | HI),
    OP("bfind.shiftamt.s32 %d,%a", "W Wi", r_bfind, S32 | HI),
    OP("bfind.shiftamt.u64 %d,%a", "W Di", r_bfind, U64 | HI),
    OP("bfind.shiftamt.s64 %d,%a", "W Di", r_bfind, S64 | HI),
    OP("bfe.u32 %d,%a,%b,%c", "W WiWpWp", r_bfe, U32),
    OP("bfe.s32 %d,%a,%b,%c", "W WiWpWp", r_bfe, S32),
    OP("bfe.u64 %d,%a,%b,%c", "D DiWpWp", r_bfe, U64),
    OP("bfe.s64 %d,%a,%b,%c", "D DiWpWp", r_bfe, S64),
    OP("bfi.b32 %d,%a,%b,%c,%e", "W WiWiWpWp", r_bfi, B32),
    OP("bfi.b64 %d,%a,%b,%c,%e", "D DiDiWpWp", r_bfi, B64),
    OP("bmsk.clamp.b32 %d,%a,%b", "W WpWp", r_bmsk, B32),
    OP("bmsk.wrap.b32 %d,%a,%b", "W WpWp", r_bmsk, B32 | EXTRA(1)),
    OP("szext.clamp.u32 %d,%a,%b", "W WiWp", r_szext, U32),
    OP("szext.clamp.s32 %d,%a,%b", "W WiWp", r_szext, S32),
    OP("szext.wrap.u32 %d,%a,%b", "W WiWp", r_szext, U32 | EXTRA(1)),
    OP("szext.wrap.s32 %d,%a,%b", "W WiWp", r_szext, S32 | EXTRA(1)),
    OP("and.b32 %s0,%b,31; fns.b32 %d,%a,%s0,%c", "W WiWpWi", r_fns, 0),
    OP("and.b32 %s0,%b,31; sub.s32 %s1,%c,20; fns.b32 %d,%a,%s0,%s1",
       "W WiWpWp", r_fns, EXTRA(20)),
    OP("prmt.b32 %d,%a,%b,%c", "W WiWiWi", r_prmt, B32),
    OP("prmt.b32 %d,%a,%b,0x731", "W WiWi", r_prmt, EXTRA(0x731)),
    OP("prmt.b32 %d,%a,%b,0x8e4", "W WiWi", r_prmt, EXTRA(0x8e4)),
    OP("prmt.b32 %d,%a,%b,0xfb9", "W WiWi", r_prmt, EXTRA(0xfb9)),
    OP("prmt.b32.f4e %d,%a,%b,%c", "W WiWiWi", r_prmt_mode, EXTRA(0)),
    OP("prmt.b32.b4e %d,%a,%b,%c", "W WiWiWi", r_prmt_mode, EXTRA(1)),
    OP("prmt.b32.rc8 %d,%a,%b,%c", "W WiWiWi", r_prmt_mode, EXTRA(2)),
    OP("prmt.b32.ecl %d,%a,%b,%c", "W WiWiWi", r_prmt_mode, EXTRA(3)),
    OP("prmt.b32.ecr %d,%a,%b,%c", "W WiWiWi", r_prmt_mode, EXTRA(4)),
    OP("prmt.b32.rc16 %d,%a,%b,%c", "W WiWiWi", r_prmt_mode, EXTRA(5)),
};
/* clang-format on */

void table_bits(struct op_table *table)
{
    struct op_case c = {.signature = "W WiWiWi", .reference = r_lop3};
    table->name = "logic, shifts, bits";
    op_append(table, cases, sizeof cases / sizeof *cases);
    for (unsigned lut = 0; lut < 256; lut += lut < 240 ? 5 : 1) {
        c.arg = EXTRA(lut);
        op_emit(table, c, "lop3.b32 %%d,%%a,%%b,%%c,%#x", lut);
    }
}

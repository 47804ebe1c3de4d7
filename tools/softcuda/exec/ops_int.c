/*
 * Integer, bit and predicate arithmetic over the lanes of a strip.
 *
 * Lock: none.
 */
#include "exec/ops_parts.h"

#define EXPR(name, td, ta, tb, tc, e)                                          \
    SC_DEFINE_OP(name, td, ta, tb, tc, r = (td)(e))
#define SAME(name, t, e) EXPR(name, t, t, t, t, e)

/* The carry flag is a 32-bit slot `e`: 0 or 1 per lane. */
#define CARRY(name, t, sum, out)                                               \
    static const struct sc_op *name(const struct sc_op *op,                    \
                                    struct sc_strip *strip)                    \
    {                                                                          \
        t *d = SC_SLOT(t, d);                                                  \
        const t *a = SC_SLOT(const t, a);                                      \
        const t *b = SC_SLOT(const t, b);                                      \
        const t *c = SC_SLOT(const t, c);                                      \
        for (uint32_t t_ = 0; t_ < strip->padded; t_++) {                      \
            if (!strip->mask[t_])                                              \
                continue;                                                      \
            const t x = a[t_], y = b[t_], z = c[t_];                           \
            (void)z;                                                           \
            uint32_t *cc = (uint32_t *)(void *)(strip->file + op->e) + t_;     \
            const wide_##t in = *cc;                                           \
            (void)in;                                                          \
            const wide_##t w = sum;                                            \
            if (out)                                                           \
                *cc = (uint32_t)(w >> (8 * sizeof(t))) & 1;                    \
            d[t_] = (t)w;                                                      \
        }                                                                      \
        return op + 1;                                                         \
    }

typedef uint64_t wide_uint32_t;
typedef unsigned __int128 wide_uint64_t;
typedef __int128 wide_int64_t;

static inline uint64_t mulhi_u64(uint64_t x, uint64_t y)
{
    return (uint64_t)((wide_uint64_t)x * y >> 64);
}

static inline int64_t mulhi_s64(int64_t x, int64_t y)
{
    return (int64_t)((wide_int64_t)x * y >> 64);
}

#define WIDE_HI(tw, bits) ((tw)x * y >> bits)
#define mulhi_u16         WIDE_HI(uint32_t, 16)
#define mulhi_s16         WIDE_HI(int32_t, 16)

/* Arithmetic of one width: u and s are the two C types. */
#define WIDTH(w, u, s)                                                         \
    SAME(add_u##w, u, x + y)                                                   \
    SAME(sub_u##w, u, x - y)                                                   \
    SAME(mul_lo_u##w, u, (u)((uint64_t)x * (uint64_t)y))                       \
    SAME(mad_lo_u##w, u, (u)((uint64_t)x * (uint64_t)y) + z)                   \
    SAME(neg_s##w, u, (u)0 - x)                                                \
    SAME(abs_s##w, u, (s)x < 0 ? (u)0 - x : x)                                 \
    SAME(min_u##w, u, x < y ? x : y)                                           \
    SAME(max_u##w, u, x > y ? x : y)                                           \
    SAME(min_s##w, s, x < y ? x : y)                                           \
    SAME(max_s##w, s, x > y ? x : y)                                           \
    SAME(sad_u##w, u, (x > y ? x - y : y - x) + z)                             \
    EXPR(sad_s##w, u, s, s, u, (x > y ? (u)x - (u)y : (u)y - (u)x) + z)        \
    SAME(div_u##w, u, y ? x / y : (u) ~(u)0)                                   \
    SAME(rem_u##w, u, y ? x % y : x)                                           \
    SAME(div_s##w, s,                                                          \
         y == 0    ? (s)-1                                                     \
         : y == -1 ? (s)((u)0 - (u)x)                                          \
                   : (s)(x / y))                                               \
    SAME(rem_s##w, s, y == 0 ? x : y == -1 ? (s)0 : (s)(x % y))                \
    SAME(and_b##w, u, x &y)                                                    \
    SAME(or_b##w, u, x | y)                                                    \
    SAME(xor_b##w, u, x ^ y)                                                   \
    SAME(not_b##w, u, ~x)                                                      \
    SAME(cnot_b##w, u, x == 0)                                                 \
    SAME(mov_b##w, u, x)                                                       \
    EXPR(shl_b##w, u, u, uint32_t, u, y >= w ? (u)0 : (u)(x << (y & (w - 1)))) \
    EXPR(shr_u##w, u, u, uint32_t, u, y >= w ? (u)0 : (u)(x >> (y & (w - 1)))) \
    EXPR(shr_s##w, s, s, uint32_t, u, x >> (y >= w ? w - 1 : y))               \
    EXPR(selp_b##w, u, u, u, uint32_t, z ? x : y)                              \
    EXPR(slct_s32_b##w, u, u, u, int32_t, z >= 0 ? x : y)                      \
    EXPR(slct_f32_b##w, u, u, u, float, z >= 0 ? x : y)                        \
    EXPR(cmp_eq_u##w, uint32_t, u, u, u, x == y ? ~0u : 0)                     \
    EXPR(cmp_ne_u##w, uint32_t, u, u, u, x != y ? ~0u : 0)                     \
    EXPR(cmp_lt_u##w, uint32_t, u, u, u, x < y ? ~0u : 0)                      \
    EXPR(cmp_le_u##w, uint32_t, u, u, u, x <= y ? ~0u : 0)                     \
    EXPR(cmp_gt_u##w, uint32_t, u, u, u, x > y ? ~0u : 0)                      \
    EXPR(cmp_ge_u##w, uint32_t, u, u, u, x >= y ? ~0u : 0)                     \
    EXPR(cmp_lt_s##w, uint32_t, s, s, u, x < y ? ~0u : 0)                      \
    EXPR(cmp_le_s##w, uint32_t, s, s, u, x <= y ? ~0u : 0)                     \
    EXPR(cmp_gt_s##w, uint32_t, s, s, u, x > y ? ~0u : 0)                      \
    EXPR(cmp_ge_s##w, uint32_t, s, s, u, x >= y ? ~0u : 0)

WIDTH(16, uint16_t, int16_t)
WIDTH(32, uint32_t, int32_t)
WIDTH(64, uint64_t, int64_t)

/* shl/shr of 16-bit values shift an int; the amount is clamped before. */

SAME(mul_hi_u16, uint16_t, mulhi_u16)
SAME(mul_hi_s16, int16_t, mulhi_s16)
SAME(mul_hi_u32, uint32_t, WIDE_HI(uint64_t, 32))
SAME(mul_hi_s32, int32_t, WIDE_HI(int64_t, 32))
SAME(mul_hi_u64, uint64_t, mulhi_u64(x, y))
SAME(mul_hi_s64, int64_t, mulhi_s64(x, y))
SAME(mad_hi_u16, uint16_t, mulhi_u16 + z)
SAME(mad_hi_s16, int16_t, mulhi_s16 + z)
SAME(mad_hi_u32, uint32_t, (uint32_t)WIDE_HI(uint64_t, 32) + z)
EXPR(mad_hi_s32, uint32_t, int32_t, int32_t, uint32_t,
     (uint32_t)WIDE_HI(int64_t, 32) + z)
SAME(mad_hi_u64, uint64_t, mulhi_u64(x, y) + z)
EXPR(mad_hi_s64, uint64_t, int64_t, int64_t, uint64_t,
     (uint64_t)mulhi_s64(x, y) + z)
EXPR(mul_wide_u16, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)x *y)
EXPR(mul_wide_s16, int32_t, int16_t, int16_t, int32_t, (int32_t)x *y)
EXPR(mul_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x *y)
EXPR(mul_wide_s32, int64_t, int32_t, int32_t, int64_t, (int64_t)x *y)
EXPR(mad_wide_u16, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)x *y + z)
EXPR(mad_wide_s16, uint32_t, int16_t, int16_t, uint32_t,
     (uint32_t)((int32_t)x *y) + z)
EXPR(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x *y + z)
EXPR(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t,
     (uint64_t)((int64_t)x *y) + z)

static inline int32_t clamp_s32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

SAME(add_sat_s32, int32_t, clamp_s32((int64_t)x + y))
SAME(sub_sat_s32, int32_t, clamp_s32((int64_t)x - y))
SAME(mad_hi_sat_s32, int32_t, clamp_s32(((int64_t)x * y >> 32) + z))

static inline int64_t low24_s(int32_t v)
{
    return (int32_t)((uint32_t)v << 8) >> 8;
}

#define LOW24(v) ((uint64_t)((v)&0xffffff))
SAME(mul24_lo_u32, uint32_t, LOW24(x) * LOW24(y))
SAME(mul24_hi_u32, uint32_t, LOW24(x) * LOW24(y) >> 16)
SAME(mul24_lo_s32, int32_t, low24_s(x) * low24_s(y))
SAME(mul24_hi_s32, int32_t, low24_s(x) * low24_s(y) >> 16)
SAME(mad24_lo_u32, uint32_t, LOW24(x) * LOW24(y) + z)
SAME(mad24_hi_u32, uint32_t, (LOW24(x) * LOW24(y) >> 16) + z)
SAME(mad24_lo_s32, int32_t, low24_s(x) * low24_s(y) + z)
SAME(mad24_hi_s32, int32_t, (low24_s(x) * low24_s(y) >> 16) + z)

CARRY(add_cc_u32, uint32_t, (wide_uint32_t)x + y, true)
CARRY(addc_u32, uint32_t, (wide_uint32_t)x + y + in, false)
CARRY(addc_cc_u32, uint32_t, (wide_uint32_t)x + y + in, true)
CARRY(sub_cc_u32, uint32_t, (wide_uint32_t)x - y, true)
CARRY(subc_u32, uint32_t, (wide_uint32_t)x - y - in, false)
CARRY(subc_cc_u32, uint32_t, (wide_uint32_t)x - y - in, true)
CARRY(add_cc_u64, uint64_t, (wide_uint64_t)x + y, true)
CARRY(addc_u64, uint64_t, (wide_uint64_t)x + y + in, false)
CARRY(addc_cc_u64, uint64_t, (wide_uint64_t)x + y + in, true)
CARRY(sub_cc_u64, uint64_t, (wide_uint64_t)x - y, true)
CARRY(subc_u64, uint64_t, (wide_uint64_t)x - y - in, false)
CARRY(subc_cc_u64, uint64_t, (wide_uint64_t)x - y - in, true)

#define LO32(type) (wide_uint32_t)(uint32_t)(x * y)
#define HI32U      ((wide_uint32_t)x * y >> 32)
#define HI32S      (wide_uint32_t)(uint32_t)((int64_t)(int32_t)x * (int32_t)y >> 32)
#define LO64       (wide_uint64_t)(uint64_t)(x * y)
#define HI64U      (wide_uint64_t) mulhi_u64(x, y)
#define HI64S      (wide_uint64_t)(uint64_t) mulhi_s64((int64_t)x, (int64_t)y)
#define CARRY_MAD(part, sfx, t, product)                                       \
    CARRY(mad_##part##_cc_##sfx, t, product + z, true)                         \
    CARRY(madc_##part##_##sfx, t, product + z + in, false)                     \
    CARRY(madc_##part##_cc_##sfx, t, product + z + in, true)
CARRY_MAD(lo, u32, uint32_t, LO32())
CARRY_MAD(hi, u32, uint32_t, HI32U)
CARRY_MAD(hi, s32, uint32_t, HI32S)
CARRY_MAD(lo, u64, uint64_t, LO64)
CARRY_MAD(hi, u64, uint64_t, HI64U)
CARRY_MAD(hi, s64, uint64_t, HI64S)

static inline uint32_t brev32(uint32_t v)
{
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}

static inline uint64_t brev64(uint64_t v)
{
    return (uint64_t)brev32((uint32_t)v) << 32 | brev32((uint32_t)(v >> 32));
}

EXPR(popc_b32, uint32_t, uint32_t, uint32_t, uint32_t, __builtin_popcount(x))
EXPR(popc_b64, uint32_t, uint64_t, uint64_t, uint64_t, __builtin_popcountll(x))
EXPR(clz_b32, uint32_t, uint32_t, uint32_t, uint32_t,
     x ? (uint32_t)__builtin_clz(x) : 32)
EXPR(clz_b64, uint32_t, uint64_t, uint64_t, uint64_t,
     x ? (uint32_t)__builtin_clzll(x) : 64)
SAME(brev_b32, uint32_t, brev32(x))
SAME(brev_b64, uint64_t, brev64(x))

#define TOP32(v)           ((v) ? 31u - (uint32_t)__builtin_clz(v) : ~0u)
#define TOP64(v)           ((v) ? 63u - (uint32_t)__builtin_clzll(v) : ~0u)
#define AMOUNT(top, width) ((top) == ~0u ? ~0u : width - (top))
EXPR(bfind_u32, uint32_t, uint32_t, uint32_t, uint32_t, TOP32(x))
EXPR(bfind_s32, uint32_t, uint32_t, uint32_t, uint32_t,
     TOP32(x ^ (uint32_t)((int32_t)x >> 31)))
EXPR(bfind_u64, uint32_t, uint64_t, uint64_t, uint64_t, TOP64(x))
EXPR(bfind_s64, uint32_t, uint64_t, uint64_t, uint64_t,
     TOP64(x ^ (uint64_t)((int64_t)x >> 63)))
EXPR(bfind_shiftamt_u32, uint32_t, uint32_t, uint32_t, uint32_t,
     AMOUNT(TOP32(x), 31))
EXPR(bfind_shiftamt_s32, uint32_t, uint32_t, uint32_t, uint32_t,
     AMOUNT(TOP32(x ^ (uint32_t)((int32_t)x >> 31)), 31))
EXPR(bfind_shiftamt_u64, uint32_t, uint64_t, uint64_t, uint64_t,
     AMOUNT(TOP64(x), 63))
EXPR(bfind_shiftamt_s64, uint32_t, uint64_t, uint64_t, uint64_t,
     AMOUNT(TOP64(x ^ (uint64_t)((int64_t)x >> 63)), 63))

/* PTX ISA's own loop, in closed form: bits past the top are the sign. */
static inline uint64_t extract(uint64_t v, uint32_t pos, uint32_t len,
                               unsigned width, bool is_signed)
{
    pos &= 255;
    len &= 255;
    uint32_t top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    bool sign = is_signed && len && (v >> top & 1);
    uint64_t r = pos < 64 ? v >> pos : 0;
    uint32_t have = pos < width ? width - pos : 0;
    uint32_t valid = len < have ? len : have;
    uint64_t keep = valid >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << valid) - 1;
    return (r & keep) | (sign ? ~keep : 0);
}

static inline uint64_t insert(uint64_t from, uint64_t into, uint32_t pos,
                              uint32_t len, unsigned width)
{
    pos &= 255;
    len &= 255;
    if (pos >= width)
        return into;
    uint64_t keep = len >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1;
    return (into & ~(keep << pos)) | (from & keep) << pos;
}

EXPR(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t,
     extract(x, y, z, 32, false))
EXPR(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t,
     extract(x, y, z, 32, true))
EXPR(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t,
     extract(x, y, z, 64, false))
EXPR(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t,
     extract(x, y, z, 64, true))
#define FOURTH (((const uint32_t *)(void *)(strip->file + op->e))[t])
EXPR(bfi_b32, uint32_t, uint32_t, uint32_t, uint32_t,
     insert(x, y, z, FOURTH, 32))
EXPR(bfi_b64, uint64_t, uint64_t, uint64_t, uint32_t,
     insert(x, y, z, FOURTH, 64))

#define LUT(bit, term) ((op->imm >> bit & 1 ? ~0u : 0u) & (term))
SAME(lop3_b32, uint32_t,
     LUT(0, ~x & ~y & ~z) | LUT(1, ~x & ~y & z) | LUT(2, ~x &y & ~z) |
         LUT(3, ~x &y &z) | LUT(4, x & ~y & ~z) | LUT(5, x & ~y & z) |
         LUT(6, x &y & ~z) | LUT(7, x &y &z))

static inline uint32_t funnel(uint32_t low, uint32_t high, uint32_t n,
                              bool left)
{
    uint64_t both = (uint64_t)high << 32 | low;
    return (uint32_t)(left ? both << n >> 32 : both >> n);
}

#define CLAMP32(n) ((n) > 32 ? 32 : (n))
SAME(shf_l_clamp_b32, uint32_t, funnel(x, y, CLAMP32(z), true))
SAME(shf_r_clamp_b32, uint32_t, funnel(x, y, CLAMP32(z), false))
SAME(shf_l_wrap_b32, uint32_t, funnel(x, y, z & 31, true))
SAME(shf_r_wrap_b32, uint32_t, funnel(x, y, z & 31, false))

/* Selector nibbles of the special prmt modes, by the low bits of c. */
static const uint16_t prmt_modes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
    {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
    {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};

static inline uint32_t permute(uint32_t low, uint32_t high, uint32_t selector)
{
    uint64_t both = (uint64_t)high << 32 | low;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t nibble = selector >> 4 * i & 15;
        uint32_t byte = both >> 8 * (nibble & 7) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * i;
    }
    return r;
}

SAME(prmt_b32, uint32_t, permute(x, y, z))
SAME(prmt_f4e_b32, uint32_t, permute(x, y, prmt_modes[0][z & 3]))
SAME(prmt_b4e_b32, uint32_t, permute(x, y, prmt_modes[1][z & 3]))
SAME(prmt_rc8_b32, uint32_t, permute(x, y, prmt_modes[2][z & 3]))
SAME(prmt_ecl_b32, uint32_t, permute(x, y, prmt_modes[3][z & 3]))
SAME(prmt_ecr_b32, uint32_t, permute(x, y, prmt_modes[4][z & 3]))
SAME(prmt_rc16_b32, uint32_t, permute(x, y, prmt_modes[5][z & 3]))

static inline uint32_t make_mask(uint32_t from, uint32_t bits)
{
    uint64_t ones = ((uint64_t)1 << (bits > 32 ? 32 : bits)) - 1;
    return from > 31 ? 0 : (uint32_t)(ones << from);
}

SAME(bmsk_clamp_b32, uint32_t, make_mask(x, y))
SAME(bmsk_wrap_b32, uint32_t, make_mask(x & 31, y & 31))

static inline uint32_t extend(uint32_t v, uint32_t bits, bool is_signed)
{
    uint32_t mask = make_mask(0, bits);
    bool minus = is_signed && bits > 0 && bits < 32 && v >> (bits - 1) & 1;
    return minus ? v | ~mask : v & mask;
}

SAME(szext_clamp_u32, uint32_t, extend(x, y, false))
SAME(szext_clamp_s32, uint32_t, extend(x, y, true))
SAME(szext_wrap_u32, uint32_t, extend(x, y & 31, false))
SAME(szext_wrap_s32, uint32_t, extend(x, y & 31, true))

/* The n-th set bit from `base` on, downwards for negative n; 0, as in hardware,
 * for the one n that cannot be negated. */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n)
{
    if (n == INT32_MIN)
        return 0;
    uint32_t step = n < 0 ? ~0u : 1;
    uint32_t left = n < 0 ? 0 - (uint32_t)n : n > 0 ? (uint32_t)n : 1;
    uint32_t end = n ? 32 : base + 1;
    for (uint32_t at = base; at < 32 && at != end; at += step)
        if (mask >> at & 1 && --left == 0)
            return at;
    return ~0u;
}

EXPR(fns_b32, uint32_t, uint32_t, uint32_t, int32_t, find_nth(x, y, z))

/* add, min, max of two 16-bit integers in one register */
#define PAIR(kind, t, e)                                                       \
    static inline uint16_t kind##_part_##t(t##_t x, t##_t y, unsigned flags)   \
    {                                                                          \
        int32_t r = (e);                                                       \
        return (uint16_t)(flags & SC_FLAG_RELU && r < 0 ? 0 : r);              \
    }                                                                          \
    SAME(kind##_##t##x2, uint32_t,                                             \
         kind##_part_##t((t##_t)x, (t##_t)y, flags) |                          \
             (uint32_t)kind##_part_##t((t##_t)(x >> 16), (t##_t)(y >> 16),     \
                                       flags)                                  \
                 << 16)
PAIR(add, uint16, x + y)
PAIR(min, uint16, x < y ? x : y)
PAIR(max, uint16, x > y ? x : y)
PAIR(min, int16, x < y ? x : y)
PAIR(max, int16, x > y ? x : y)

/* cvt.pack.sat: a to the upper half of 2n bits, b to the lower, above them
 * what c has below */
static inline uint32_t pack_sat(int32_t a, int32_t b, uint32_t c, unsigned bits,
                                bool is_signed)
{
    int32_t top = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    int32_t least = is_signed ? -top - 1 : 0;
    uint32_t mask = (1u << bits) - 1;
    uint32_t high = (uint32_t)(a > top ? top : a < least ? least : a) & mask;
    uint32_t low = (uint32_t)(b > top ? top : b < least ? least : b) & mask;
    return (bits < 16 ? c << 2 * bits : 0) | high << bits | low;
}

#define PACK_SAT(t, bits, is_signed)                                           \
    EXPR(pack_sat_##t, uint32_t, int32_t, int32_t, uint32_t,                   \
         pack_sat(x, y, z, bits, is_signed))
PACK_SAT(u16, 16, false)
PACK_SAT(s16, 16, true)
PACK_SAT(u8, 8, false)
PACK_SAT(s8, 8, true)

/* dp4a/dp2a: flags bit 0 = a signed, bit 1 = b signed */
static inline int32_t part(uint32_t v, int index, int bits, bool is_signed)
{
    uint32_t up = v << (32 - bits - index * bits);
    return is_signed ? (int32_t)up >> (32 - bits)
                     : (int32_t)(up >> (32 - bits));
}

static inline uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, unsigned flags)
{
    for (int i = 0; i < 4; i++)
        z += (uint32_t)part(x, i, 8, flags & 1) *
             (uint32_t)part(y, i, 8, flags & 2);
    return z;
}

static inline uint32_t dot2(uint32_t x, uint32_t y, uint32_t z, unsigned flags,
                            int first)
{
    for (int i = 0; i < 2; i++)
        z += (uint32_t)part(x, i, 16, flags & 1) *
             (uint32_t)part(y, first + i, 8, flags & 2);
    return z;
}

SAME(dp4a_b32, uint32_t, dot4(x, y, z, flags))
SAME(dp2a_lo_b32, uint32_t, dot2(x, y, z, flags, 0))
SAME(dp2a_hi_b32, uint32_t, dot2(x, y, z, flags, 2))

EXPR(pack_b64, uint64_t, uint32_t, uint32_t, uint32_t, x | (uint64_t)y << 32)
EXPR(pack_b32, uint32_t, uint16_t, uint16_t, uint16_t, x | (uint32_t)y << 16)
EXPR(lo_b64, uint32_t, uint64_t, uint64_t, uint64_t, x)
EXPR(hi_b64, uint32_t, uint64_t, uint64_t, uint64_t, x >> 32)
EXPR(lo_b32, uint16_t, uint32_t, uint32_t, uint32_t, x)
EXPR(hi_b32, uint16_t, uint32_t, uint32_t, uint32_t, x >> 16)

#define AT(kind, type, handler) [SC_ALU_##kind][SC_T_##type] = handler
#define UNSIGNED_OR_SIGNED(kind, w)                                            \
    AT(kind, u##w, kind##_u##w), AT(kind, s##w, kind##_s##w)
#define EITHER(kind, w) AT(kind, u##w, kind##_u##w), AT(kind, s##w, kind##_u##w)
#define COMPARE(kind, w)                                                       \
    AT(kind, u##w, kind##_u##w), AT(kind, s##w, kind##_s##w)
#define TABLE_WIDTH(w)                                                         \
    EITHER(add, w), EITHER(sub, w), EITHER(mul_lo, w), EITHER(mad_lo, w),      \
        AT(neg, s##w, neg_s##w), AT(abs, s##w, abs_s##w),                      \
        UNSIGNED_OR_SIGNED(min, w), UNSIGNED_OR_SIGNED(max, w),                \
        UNSIGNED_OR_SIGNED(sad, w), UNSIGNED_OR_SIGNED(div, w),                \
        UNSIGNED_OR_SIGNED(rem, w), UNSIGNED_OR_SIGNED(mul_hi, w),             \
        UNSIGNED_OR_SIGNED(mad_hi, w), AT(and, b##w, and_b##w),                \
        AT(or, b##w, or_b##w), AT(xor, b##w, xor_b##w),                        \
        AT(not, b##w, not_b##w), AT(cnot, b##w, cnot_b##w),                    \
        AT(mov, b##w, mov_b##w), AT(shl, b##w, shl_b##w),                      \
        AT(shr, b##w, shr_u##w), AT(shr, u##w, shr_u##w),                      \
        AT(shr, s##w, shr_s##w), AT(selp, b##w, selp_b##w),                    \
        AT(slct, s##w, slct_s32_b##w), AT(slct, b##w, slct_f32_b##w),          \
        EITHER(cmp_eq, w), EITHER(cmp_ne, w), AT(cmp_eq, b##w, cmp_eq_u##w),   \
        AT(cmp_ne, b##w, cmp_ne_u##w), COMPARE(cmp_lt, w), COMPARE(cmp_le, w), \
        COMPARE(cmp_gt, w), COMPARE(cmp_ge, w)
#define TABLE_BITS(w)                                                          \
    AT(popc, b##w, popc_b##w), AT(clz, b##w, clz_b##w),                        \
        AT(brev, b##w, brev_b##w), UNSIGNED_OR_SIGNED(bfind, w),               \
        UNSIGNED_OR_SIGNED(bfind_shiftamt, w), UNSIGNED_OR_SIGNED(bfe, w),     \
        AT(bfi, b##w, bfi_b##w), AT(pack, b##w, pack_b##w),                    \
        AT(lo, b##w, lo_b##w), AT(hi, b##w, hi_b##w), EITHER(add_cc, w),       \
        EITHER(addc, w), EITHER(addc_cc, w), EITHER(sub_cc, w),                \
        EITHER(subc, w), EITHER(subc_cc, w), EITHER(mad_lo_cc, w),             \
        EITHER(madc_lo, w), EITHER(madc_lo_cc, w),                             \
        UNSIGNED_OR_SIGNED(mad_hi_cc, w), UNSIGNED_OR_SIGNED(madc_hi, w),      \
        UNSIGNED_OR_SIGNED(madc_hi_cc, w)

static const sc_handler table[SC_ALU_COUNT][SC_T_COUNT] = {
    TABLE_WIDTH(16),
    TABLE_WIDTH(32),
    TABLE_WIDTH(64),
    TABLE_BITS(32),
    TABLE_BITS(64),
    UNSIGNED_OR_SIGNED(mul_wide, 16),
    UNSIGNED_OR_SIGNED(mul_wide, 32),
    UNSIGNED_OR_SIGNED(mad_wide, 16),
    UNSIGNED_OR_SIGNED(mad_wide, 32),
    UNSIGNED_OR_SIGNED(mul24_lo, 32),
    UNSIGNED_OR_SIGNED(mul24_hi, 32),
    UNSIGNED_OR_SIGNED(mad24_lo, 32),
    UNSIGNED_OR_SIGNED(mad24_hi, 32),
    AT(add_sat, s32, add_sat_s32),
    AT(sub_sat, s32, sub_sat_s32),
    AT(mad_hi_sat, s32, mad_hi_sat_s32),
    AT(lop3, b32, lop3_b32),
    AT(shf_l_clamp, b32, shf_l_clamp_b32),
    AT(shf_r_clamp, b32, shf_r_clamp_b32),
    AT(shf_l_wrap, b32, shf_l_wrap_b32),
    AT(shf_r_wrap, b32, shf_r_wrap_b32),
    AT(prmt, b32, prmt_b32),
    AT(prmt_f4e, b32, prmt_f4e_b32),
    AT(prmt_b4e, b32, prmt_b4e_b32),
    AT(prmt_rc8, b32, prmt_rc8_b32),
    AT(prmt_ecl, b32, prmt_ecl_b32),
    AT(prmt_ecr, b32, prmt_ecr_b32),
    AT(prmt_rc16, b32, prmt_rc16_b32),
    AT(bmsk_clamp, b32, bmsk_clamp_b32),
    AT(bmsk_wrap, b32, bmsk_wrap_b32),
    UNSIGNED_OR_SIGNED(szext_clamp, 32),
    UNSIGNED_OR_SIGNED(szext_wrap, 32),
    AT(fns, b32, fns_b32),
    AT(add, u16x2, add_uint16x2),
    AT(add, s16x2, add_uint16x2),
    AT(min, u16x2, min_uint16x2),
    AT(max, u16x2, max_uint16x2),
    AT(min, s16x2, min_int16x2),
    AT(max, s16x2, max_int16x2),
    UNSIGNED_OR_SIGNED(pack_sat, 16),
    UNSIGNED_OR_SIGNED(pack_sat, 8),
    AT(dp4a, b32, dp4a_b32),
    AT(dp2a_lo, b32, dp2a_lo_b32),
    AT(dp2a_hi, b32, dp2a_hi_b32),
    AT(and, pred, and_b32),
    AT(or, pred, or_b32),
    AT(xor, pred, xor_b32),
    AT(not, pred, not_b32),
    AT(mov, pred, mov_b32),
};

sc_handler SC_ISA_NAME(sc_alu_integer)(enum sc_alu kind, enum sc_type type)
{
    return table[kind][type];
}

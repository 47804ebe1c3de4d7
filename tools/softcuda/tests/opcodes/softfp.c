/*
 * Exact binary floating point: unpack, arithmetic, one rounding in pack.
 *
 * Does not know PTX; the tables' reference functions do. No lock. The
 * invariant is that a finite value is normalised: bit SFP_TOP of m is set and
 * no higher one is.
 */
#include "softfp.h"

const struct sfp_format sfp_f16 = {5, 10};
const struct sfp_format sfp_bf16 = {8, 7};
const struct sfp_format sfp_f32 = {8, 23};
const struct sfp_format sfp_f64 = {11, 52};

_Thread_local uint64_t sfp_open_bits;

static const struct sfp nan_value = {.kind = SFP_NAN};

/* Shift right, keeping whether anything was lost in the last bit. */
static sfp_u128 shift_jam(sfp_u128 m, int n)
{
    if (n <= 0)
        return m;
    if (n > 127)
        return m != 0;
    sfp_u128 lost = m & (((sfp_u128)1 << n) - 1);
    return m >> n | (lost != 0);
}

static int top_bit(sfp_u128 m)
{
    uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

static struct sfp normal_form(bool negative, sfp_u128 m, int exp)
{
    if (m == 0)
        return (struct sfp){.kind = SFP_ZERO, .negative = negative};
    int up = SFP_TOP - top_bit(m);
    m = up >= 0 ? m << up : shift_jam(m, -up);
    return (struct sfp){SFP_FINITE, negative, exp - up, m};
}

struct sfp sfp_unpack(const struct sfp_format *format, uint64_t bits,
                      bool flush)
{
    int mbits = format->mantissa_bits, ebits = format->exponent_bits;
    uint64_t fraction = bits & (((uint64_t)1 << mbits) - 1);
    int field = (int)(bits >> mbits & ((1u << ebits) - 1));
    bool negative = bits >> (mbits + ebits) & 1;
    int bias = (1 << (ebits - 1)) - 1;
    if (field == (1 << ebits) - 1)
        return (struct sfp){.kind = fraction ? SFP_NAN : SFP_INFINITE,
                            .negative = negative};
    if (field == 0)
        return normal_form(negative, flush ? 0 : fraction, 1 - bias - mbits);
    return normal_form(negative, fraction | (uint64_t)1 << mbits,
                       field - bias - mbits);
}

/* Whether the quotient q of m by 2^drop goes one up in magnitude. */
static bool rounds_up(sfp_u128 m, int drop, bool negative, enum sfp_round round)
{
    sfp_u128 q = drop > 127 ? 0 : m >> drop;
    bool inexact = drop > 127 ? m != 0 : (q << drop) != m;
    int half = -1; /* remainder against one half */
    if (drop <= 127) {
        sfp_u128 rest = m - (q << drop);
        sfp_u128 middle = (sfp_u128)1 << (drop - 1);
        half = rest < middle ? -1 : rest > middle;
    }
    switch (round) {
    case SFP_RN:
        return half > 0 || (half == 0 && (q & 1));
    case SFP_RNA:
        return half >= 0;
    case SFP_RM:
        return inexact && negative;
    case SFP_RP:
        return inexact && !negative;
    default:
        return false;
    }
}

static uint64_t encode_finite(const struct sfp_format *format, struct sfp v,
                              enum sfp_round round, int flags)
{
    int mbits = format->mantissa_bits, ebits = format->exponent_bits;
    int bias = (1 << (ebits - 1)) - 1, e = v.exp + SFP_TOP;
    uint64_t sign = (uint64_t)v.negative << (mbits + ebits);
    uint64_t infinite = (((uint64_t)1 << ebits) - 1) << mbits;
    bool tiny = e < 1 - bias;
    int drop = SFP_TOP - mbits + (tiny ? 1 - bias - e : 0);
    uint64_t q = drop > 127 ? 0 : (uint64_t)(v.m >> drop);
    q += rounds_up(v.m, drop, v.negative, round);
    if (tiny) {
        uint64_t smallest = (uint64_t)1 << mbits;
        if (flags & SFP_FTZ) {
            if (q >= smallest)
                sfp_open_bits |= smallest;
            else
                q = 0;
        }
        return sign | q;
    }
    if (e > bias)
        q = infinite;
    else
        q += (uint64_t)(e + bias - 1) << mbits;
    if (q >= infinite) {
        bool away = round == SFP_RN || round == SFP_RNA ||
                    (round == SFP_RM && v.negative) ||
                    (round == SFP_RP && !v.negative);
        q = away ? infinite : infinite - 1;
    }
    return sign | q;
}

static struct sfp saturate(struct sfp v, uint64_t sign_bit)
{
    struct sfp one = sfp_from_int(1);
    if (v.kind == SFP_ZERO || v.negative || v.kind == SFP_NAN) {
        if (v.negative && v.kind == SFP_ZERO)
            sfp_open_bits |= sign_bit;
        return (struct sfp){.kind = SFP_ZERO};
    }
    return sfp_compare(v, one) > 0 ? one : v;
}

uint64_t sfp_pack(const struct sfp_format *format, struct sfp v,
                  enum sfp_round round, int flags)
{
    int mbits = format->mantissa_bits, ebits = format->exponent_bits;
    uint64_t sign_bit = (uint64_t)1 << (mbits + ebits);
    if (flags & SFP_SAT)
        v = saturate(v, sign_bit);
    uint64_t sign = v.negative ? sign_bit : 0;
    switch (v.kind) {
    case SFP_NAN:
        return sign_bit - 1;
    case SFP_INFINITE:
        return sign | (((uint64_t)1 << ebits) - 1) << mbits;
    case SFP_ZERO:
        return sign;
    default:
        return encode_finite(format, v, round, flags);
    }
}

struct sfp sfp_neg(struct sfp a)
{
    a.negative = !a.negative;
    return a;
}

struct sfp sfp_add(struct sfp a, struct sfp b, enum sfp_round round)
{
    if (a.kind == SFP_NAN || b.kind == SFP_NAN)
        return nan_value;
    if (a.kind == SFP_INFINITE && b.kind == SFP_INFINITE)
        return a.negative == b.negative ? a : nan_value;
    if (a.kind == SFP_INFINITE || b.kind == SFP_INFINITE)
        return a.kind == SFP_INFINITE ? a : b;
    if (a.kind == SFP_ZERO && b.kind == SFP_ZERO) {
        a.negative = a.negative == b.negative ? a.negative : round == SFP_RM;
        return a;
    }
    if (a.kind == SFP_ZERO || b.kind == SFP_ZERO)
        return a.kind == SFP_ZERO ? b : a;
    if (a.exp < b.exp || (a.exp == b.exp && a.m < b.m)) {
        struct sfp t = a;
        a = b;
        b = t;
    }
    sfp_u128 small = shift_jam(b.m, a.exp - b.exp);
    if (a.negative == b.negative)
        return normal_form(a.negative, a.m + small, a.exp);
    if (a.m == small)
        return (struct sfp){.kind = SFP_ZERO, .negative = round == SFP_RM};
    return normal_form(a.negative, a.m - small, a.exp);
}

/* The at most 53 significant bits of an unpacked value, and their exponent. */
#define SHORT_SHIFT (SFP_TOP - 52)

struct sfp sfp_mul(struct sfp a, struct sfp b)
{
    bool negative = a.negative != b.negative;
    if (a.kind == SFP_NAN || b.kind == SFP_NAN)
        return nan_value;
    if (a.kind == SFP_INFINITE || b.kind == SFP_INFINITE) {
        if (a.kind == SFP_ZERO || b.kind == SFP_ZERO)
            return nan_value;
        return (struct sfp){.kind = SFP_INFINITE, .negative = negative};
    }
    if (a.kind == SFP_ZERO || b.kind == SFP_ZERO)
        return (struct sfp){.kind = SFP_ZERO, .negative = negative};
    return normal_form(negative, (a.m >> SHORT_SHIFT) * (b.m >> SHORT_SHIFT),
                       a.exp + b.exp + 2 * SHORT_SHIFT);
}

struct sfp sfp_div(struct sfp a, struct sfp b)
{
    bool negative = a.negative != b.negative;
    if (a.kind == SFP_NAN || b.kind == SFP_NAN ||
        (a.kind == b.kind && a.kind != SFP_FINITE))
        return nan_value;
    if (a.kind == SFP_INFINITE || b.kind == SFP_ZERO)
        return (struct sfp){.kind = SFP_INFINITE, .negative = negative};
    if (a.kind == SFP_ZERO || b.kind == SFP_INFINITE)
        return (struct sfp){.kind = SFP_ZERO, .negative = negative};
    sfp_u128 top = (a.m >> SHORT_SHIFT) << 74, bottom = b.m >> SHORT_SHIFT;
    sfp_u128 q = top / bottom;
    return normal_form(negative, q << 1 | (q * bottom != top),
                       a.exp - b.exp - 75);
}

static uint64_t integer_root(sfp_u128 n)
{
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = root | (uint64_t)1 << bit;
        if ((sfp_u128)next * next <= n)
            root = next;
    }
    return root;
}

struct sfp sfp_sqrt(struct sfp a)
{
    if (a.kind == SFP_NAN || a.kind == SFP_ZERO)
        return a;
    if (a.negative)
        return nan_value;
    if (a.kind == SFP_INFINITE)
        return a;
    int exp = a.exp + SHORT_SHIFT, up = 72 + (exp & 1);
    sfp_u128 n = (a.m >> SHORT_SHIFT) << up;
    uint64_t root = integer_root(n);
    bool rest = (sfp_u128)root * root != n;
    return normal_form(false, (sfp_u128)root << 1 | rest, (exp - up) / 2 - 1);
}

int sfp_compare(struct sfp a, struct sfp b)
{
    if (a.kind == SFP_NAN || b.kind == SFP_NAN)
        return 2;
    if (a.kind == SFP_ZERO && b.kind == SFP_ZERO)
        return 0;
    if (a.kind == SFP_INFINITE && b.kind == SFP_INFINITE &&
        a.negative == b.negative)
        return 0;
    struct sfp difference = sfp_add(a, sfp_neg(b), SFP_RN);
    if (difference.kind == SFP_ZERO)
        return 0;
    return difference.negative ? -1 : 1;
}

struct sfp sfp_from_int(sfp_i128 value)
{
    bool negative = value < 0;
    return normal_form(negative, negative ? -(sfp_u128)value : (sfp_u128)value,
                       0);
}

sfp_i128 sfp_to_int(struct sfp v, enum sfp_round round, sfp_i128 low,
                    sfp_i128 high)
{
    if (v.kind == SFP_NAN || v.kind == SFP_ZERO)
        return 0;
    if (v.kind == SFP_INFINITE || v.exp + SFP_TOP > 70)
        return v.negative ? low : high;
    int drop = -v.exp;
    sfp_i128 q = drop > 127 ? 0 : (sfp_i128)(v.m >> drop);
    q += rounds_up(v.m, drop, v.negative, round);
    if (v.negative)
        q = -q;
    return q < low ? low : q > high ? high : q;
}

struct sfp sfp_integral(struct sfp v, enum sfp_round round)
{
    if (v.kind != SFP_FINITE || v.exp + SFP_TOP > 60)
        return v;
    sfp_i128 limit = (sfp_i128)1 << 62;
    struct sfp whole = sfp_from_int(sfp_to_int(v, round, -limit, limit));
    whole.negative = v.negative;
    return whole;
}

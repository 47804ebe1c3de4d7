/* Intervals of numbers modulo a power of two; see ptx/interval.h. */
#include "ptx/interval.h"

#define ONE ((sc_wide)1)

static sc_wide least(sc_wide a, sc_wide b)
{
    return a < b ? a : b;
}

static sc_wide most(sc_wide a, sc_wide b)
{
    return a > b ? a : b;
}

/* Rounds down. */
static sc_wide shifted_right(sc_wide a, unsigned by)
{
    return a >> by;
}

static bool either_none(struct sc_interval a, struct sc_interval b)
{
    return sc_interval_is_none(a) || sc_interval_is_none(b);
}

struct sc_interval sc_interval_any(unsigned bits)
{
    return sc_interval_of(0, (ONE << bits) - 1);
}

/* The numbers from `from` on that have the patterns of a. */
static struct sc_interval moved(struct sc_interval a, unsigned bits,
                                sc_wide from)
{
    sc_wide turns = shifted_right(a.lo - from, bits) * (ONE << bits);
    struct sc_interval there = {a.lo - turns, a.hi - turns};
    sc_wide end = from + (ONE << bits) - 1;
    if (sc_interval_is_none(a))
        return a;
    return there.hi <= end ? there : sc_interval_of(from, end);
}

struct sc_interval sc_interval_signed(struct sc_interval a, unsigned bits)
{
    return moved(a, bits, -(ONE << (bits - 1)));
}

struct sc_interval sc_interval_unsigned(struct sc_interval a, unsigned bits)
{
    return moved(a, bits, 0);
}

struct sc_interval sc_interval_typed(struct sc_interval a, unsigned bits,
                                     bool is_signed)
{
    return is_signed ? sc_interval_signed(a, bits)
                     : sc_interval_unsigned(a, bits);
}

struct sc_interval sc_interval_trim(struct sc_interval a, unsigned bits)
{
    sc_wide whole = ONE << bits;
    if (sc_interval_is_none(a))
        return SC_INTERVAL_NONE;
    if (a.hi - a.lo >= whole - 1)
        return sc_interval_any(bits);
    if (a.lo >= -whole && a.hi < 2 * whole)
        return a;
    sc_wide turns = shifted_right(a.lo, bits) * whole;
    return sc_interval_of(a.lo - turns, a.hi - turns);
}

bool sc_interval_has(struct sc_interval a, struct sc_interval b, unsigned bits)
{
    if (sc_interval_is_none(b))
        return true;
    if (sc_interval_is_none(a))
        return false;
    if (a.hi - a.lo >= (ONE << bits) - 1)
        return true;
    sc_wide turns = shifted_right(b.lo - a.lo, bits) * (ONE << bits);
    return b.hi - turns <= a.hi;
}

/* b is taken where it lies closest to a. */
struct sc_interval sc_interval_join(struct sc_interval a, struct sc_interval b,
                                    unsigned bits)
{
    struct sc_interval best = {0, -1};
    if (sc_interval_is_none(a))
        return b;
    if (sc_interval_is_none(b) || sc_interval_has(a, b, bits))
        return a;
    sc_wide near = shifted_right(a.lo - b.lo, bits) * (ONE << bits);
    for (int i = 0; i < 3; i++) {
        /* as it is, then below the beginning of a, then above */
        sc_wide by = i == 0 ? 0 : i == 1 ? near : near + (ONE << bits);
        struct sc_interval both = {least(a.lo, b.lo + by),
                                   most(a.hi, b.hi + by)};
        if (i == 0 || both.hi - both.lo < best.hi - best.lo)
            best = both;
    }
    return sc_interval_trim(best, bits);
}

struct sc_interval sc_interval_add(struct sc_interval a, struct sc_interval b)
{
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    return sc_interval_of(a.lo + b.lo, a.hi + b.hi);
}

struct sc_interval sc_interval_sub(struct sc_interval a, struct sc_interval b)
{
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    return sc_interval_of(a.lo - b.hi, a.hi - b.lo);
}

/* Products of two of them fit. */
static bool is_moderate(struct sc_interval a)
{
    return a.lo > -(ONE << 62) && a.hi < ONE << 62;
}

static struct sc_interval product(struct sc_interval a, struct sc_interval b)
{
    sc_wide w = a.lo * b.lo, x = a.lo * b.hi, y = a.hi * b.lo, z = a.hi * b.hi;
    return sc_interval_of(least(least(w, x), least(y, z)),
                          most(most(w, x), most(y, z)));
}

struct sc_interval sc_interval_mul(struct sc_interval a, struct sc_interval b,
                                   unsigned bits)
{
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    if (!is_moderate(a) || !is_moderate(b)) {
        a = sc_interval_signed(a, bits);
        b = sc_interval_signed(b, bits);
    }
    return is_moderate(a) && is_moderate(b)
               ? sc_interval_trim(product(a, b), bits)
               : sc_interval_any(bits);
}

struct sc_interval sc_interval_shl(struct sc_interval a, struct sc_interval by,
                                   unsigned bits)
{
    by = sc_interval_unsigned(by, 32);
    if (either_none(a, by))
        return SC_INTERVAL_NONE;
    if (by.lo >= bits)
        return sc_interval_of(0, 0);
    if (by.hi >= bits || by.hi > 61)
        return sc_interval_any(bits);
    return sc_interval_mul(
        a, sc_interval_of(ONE << (unsigned)by.lo, ONE << (unsigned)by.hi),
        bits);
}

struct sc_interval sc_interval_shr(struct sc_interval a, struct sc_interval by,
                                   unsigned bits, bool is_signed)
{
    a = sc_interval_typed(a, bits, is_signed);
    by = sc_interval_unsigned(by, 32);
    if (either_none(a, by))
        return SC_INTERVAL_NONE;
    unsigned few = (unsigned)least(by.lo, bits);
    unsigned many = (unsigned)least(by.hi, bits);
    return sc_interval_of(shifted_right(a.lo, a.lo < 0 ? few : many),
                          shifted_right(a.hi, a.hi < 0 ? many : few));
}

/* Whether something can be said of `a` over `b`, both in that type from then on;
 * if not, what is known all the same: nothing where the divisor may not be above
 * zero. */
static bool divides(struct sc_interval *a, struct sc_interval *b, unsigned bits,
                    bool is_signed, struct sc_interval *otherwise)
{
    *a = sc_interval_typed(*a, bits, is_signed);
    *b = sc_interval_typed(*b, bits, is_signed);
    *otherwise = either_none(*a, *b) ? SC_INTERVAL_NONE : sc_interval_any(bits);
    return !either_none(*a, *b) && b->lo >= 1;
}

struct sc_interval sc_interval_div(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed)
{
    struct sc_interval otherwise;
    if (!divides(&a, &b, bits, is_signed, &otherwise))
        return otherwise;
    return sc_interval_of(least(a.lo / b.lo, a.lo / b.hi),
                          most(a.hi / b.lo, a.hi / b.hi));
}

struct sc_interval sc_interval_rem(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed)
{
    struct sc_interval otherwise;
    if (!divides(&a, &b, bits, is_signed, &otherwise))
        return otherwise;
    if (a.lo >= 0 && a.hi < b.lo)
        return a;
    return sc_interval_of(a.lo < 0 ? most(a.lo, 1 - b.hi) : 0,
                          a.hi < 0 ? 0 : least(a.hi, b.hi - 1));
}

/* -2^k as a mask rounds down, and keeps order. */
static bool is_rounding(struct sc_interval mask, unsigned bits)
{
    mask = sc_interval_signed(mask, bits);
    return sc_interval_is_one(mask) && mask.lo < 0 &&
           (-mask.lo & (-mask.lo - 1)) == 0;
}

struct sc_interval sc_interval_and(struct sc_interval a, struct sc_interval b,
                                   unsigned bits)
{
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    if (is_rounding(a, bits)) {
        struct sc_interval value = b;
        b = a;
        a = value;
    }
    if (is_rounding(b, bits)) {
        sc_wide mask = sc_interval_signed(b, bits).lo;
        return sc_interval_of(a.lo & mask, a.hi & mask);
    }
    a = sc_interval_unsigned(a, bits);
    b = sc_interval_unsigned(b, bits);
    if (sc_interval_is_one(a) && sc_interval_is_one(b))
        return sc_interval_of(a.lo & b.lo, a.lo & b.lo);
    return sc_interval_of(0, least(a.hi, b.hi));
}

struct sc_interval sc_interval_or(struct sc_interval a, struct sc_interval b,
                                  unsigned bits)
{
    a = sc_interval_unsigned(a, bits);
    b = sc_interval_unsigned(b, bits);
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    sc_wide ones = 0;
    while (ones < a.hi || ones < b.hi)
        ones = 2 * ones + 1;
    return sc_interval_of(0, least(ones, a.hi + b.hi));
}

struct sc_interval sc_interval_min(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed)
{
    a = sc_interval_typed(a, bits, is_signed);
    b = sc_interval_typed(b, bits, is_signed);
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    return sc_interval_of(least(a.lo, b.lo), least(a.hi, b.hi));
}

struct sc_interval sc_interval_max(struct sc_interval a, struct sc_interval b,
                                   unsigned bits, bool is_signed)
{
    a = sc_interval_typed(a, bits, is_signed);
    b = sc_interval_typed(b, bits, is_signed);
    if (either_none(a, b))
        return SC_INTERVAL_NONE;
    return sc_interval_of(most(a.lo, b.lo), most(a.hi, b.hi));
}

static struct sc_interval without(struct sc_interval a, struct sc_interval b)
{
    if (sc_interval_is_one(b)) {
        a.lo += a.lo == b.lo;
        a.hi -= a.hi == b.lo;
    }
    return a;
}

struct sc_interval sc_interval_cut(struct sc_interval a, enum sc_relation is,
                                   struct sc_interval b, unsigned bits,
                                   bool is_signed)
{
    struct sc_interval left = sc_interval_typed(a, bits, is_signed);
    b = sc_interval_typed(b, bits, is_signed);
    if (either_none(left, b))
        return SC_INTERVAL_NONE;
    if (is == SC_LT || is == SC_LE)
        left.hi = least(left.hi, b.hi - (is == SC_LT));
    else if (is == SC_GT || is == SC_GE)
        left.lo = most(left.lo, b.lo + (is == SC_GT));
    else if (is == SC_EQ)
        left = sc_interval_of(most(left.lo, b.lo), least(left.hi, b.hi));
    else
        left = without(left, b);
    if (sc_interval_is_none(left))
        return SC_INTERVAL_NONE;
    return left.hi - left.lo < a.hi - a.lo ? left : a;
}

enum sc_relation sc_relation_not(enum sc_relation relation)
{
    static const enum sc_relation other[] = {
        [SC_LT] = SC_GE, [SC_LE] = SC_GT, [SC_GT] = SC_LE,
        [SC_GE] = SC_LT, [SC_EQ] = SC_NE, [SC_NE] = SC_EQ};
    return other[relation];
}

enum sc_relation sc_relation_turned(enum sc_relation relation)
{
    static const enum sc_relation turned[] = {
        [SC_LT] = SC_GT, [SC_LE] = SC_GE, [SC_GT] = SC_LT,
        [SC_GE] = SC_LE, [SC_EQ] = SC_EQ, [SC_NE] = SC_NE};
    return turned[relation];
}

/*
 * f32 and f64 arithmetic over the lanes of a strip.
 *
 * A plain form (rounding to nearest, subnormals kept) and a general one
 * (kind_x: flags say rounding, .ftz, .sat). Lock: none.
 */
#include "exec/approx.h"
#include "exec/ops_parts.h"

#define FSAME(name, t, e)      SC_DEFINE_OP(name, t, t, t, t, r = (t)(e))
#define FBITS(name, tb_, t, e) SC_DEFINE_OP(name, tb_, t, t, t, r = (e))

static inline float flush_f32(float v)
{
    return sc_flush_f32(v);
}

/* Only the approximations of rcp and rsqrt flush f64. They read and write no
 * more than the upper word, so that the NaN 0x7ff0000000000001 is infinite. */
static inline double flush_f64(double v)
{
    uint64_t bits = sc_f64_bits(v) & ~(uint64_t)UINT32_MAX;
    return sc_bits_f64(bits & (uint64_t)0x7ff << 52 ? bits
                                                    : bits & (uint64_t)1 << 63);
}

/* NaN goes to +0, as .sat wants. */
#define SATURATE(r) ((r) > 0 ? ((r) < 1 ? (r) : 1) : 0)

/* General form of an expression in x, y, z. */
#define GENERAL(name, f, t, e)                                                 \
    static inline t name##_value(t x, t y, t z, unsigned flags)                \
    {                                                                          \
        (void)y, (void)z;                                                      \
        if (flags & SC_FLAG_FTZ) {                                             \
            x = flush_##f(x);                                                  \
            y = flush_##f(y);                                                  \
            z = flush_##f(z);                                                  \
        }                                                                      \
        t r = (t)(e);                                                          \
        if (flags & SC_FLAG_SAT)                                               \
            r = SATURATE(r);                                                   \
        if (flags & SC_FLAG_FTZ)                                               \
            r = flush_##f(r);                                                  \
        return r;                                                              \
    }                                                                          \
    SC_DEFINE_OP(name##_loop, t, t, t, t, r = name##_value(x, y, z, flags))    \
    static const struct sc_op *name(const struct sc_op *op,                    \
                                    struct sc_strip *strip)                    \
    {                                                                          \
        return sc_round_run(op, strip, name##_loop);                           \
    }

#define BOTH(kind, f, t, e)                                                    \
    FSAME(kind##_##f, t, e)                                                    \
    GENERAL(kind##_x_##f, f, t, e)

#define NAN_f32 sc_bits_f32(0x7fffffff)
#define NAN_f64 sc_bits_f64(0x7fffffffffffffff)

/* -0 is smaller than +0; one NaN loses, two give the canonical one. */
#define LESS(x, y) ((x) < (y) || ((x) == (y) && signbit(x)))
#define PICK(x, y, less, f)                                                    \
    ((x) != (x)   ? ((y) != (y) ? NAN_##f : (y))                               \
     : (y) != (y) ? (x)                                                        \
     : (less)     ? (x)                                                        \
                  : (y))
#define MINMAX(f, t, abs_, copysign_)                                          \
    static inline t min_of_##f(t x, t y)                                       \
    {                                                                          \
        return PICK(x, y, LESS(x, y), f);                                      \
    }                                                                          \
    static inline t max_of_##f(t x, t y)                                       \
    {                                                                          \
        return PICK(x, y, LESS(y, x), f);                                      \
    }                                                                          \
    static inline t extreme_##f(t x, t y, unsigned flags, bool is_max)         \
    {                                                                          \
        bool minus = (signbit(x) != 0) != (signbit(y) != 0);                   \
        bool nan = (flags & SC_FLAG_NAN) && (x != x || y != y);                \
        if (flags & SC_FLAG_ABS) {                                             \
            x = abs_(x);                                                       \
            y = abs_(y);                                                       \
        }                                                                      \
        t r = is_max ? max_of_##f(x, y) : min_of_##f(x, y);                    \
        if (flags & SC_FLAG_ABS)                                               \
            r = copysign_(r, minus ? (t)-1 : (t)1);                            \
        return nan ? NAN_##f : r;                                              \
    }                                                                          \
    FSAME(min_##f, t, min_of_##f(x, y))                                        \
    FSAME(max_##f, t, max_of_##f(x, y))                                        \
    GENERAL(min_x_##f, f, t, extreme_##f(x, y, flags, false))                  \
    GENERAL(max_x_##f, f, t, extreme_##f(x, y, flags, true))

MINMAX(f32, float, fabsf, copysignf)
MINMAX(f64, double, fabs, copysign)

BOTH(add, f32, float, x + y)
BOTH(add, f64, double, x + y)
BOTH(sub, f32, float, x - y)
BOTH(sub, f64, double, x - y)
BOTH(mul, f32, float, x *y)
BOTH(mul, f64, double, x *y)
BOTH(fma, f32, float, __builtin_fmaf(x, y, z))
BOTH(fma, f64, double, __builtin_fma(x, y, z))
BOTH(div, f32, float, x / y)
BOTH(div, f64, double, x / y)
BOTH(rcp, f32, float, 1 / x)
BOTH(rcp, f64, double, 1 / x)
BOTH(sqrt, f32, float, __builtin_sqrtf(x))
BOTH(sqrt, f64, double, __builtin_sqrt(x))
BOTH(rsqrt, f32, float, 1 / __builtin_sqrtf(x))
BOTH(rsqrt, f64, double, 1 / __builtin_sqrt(x))

FSAME(neg_f32, uint32_t, x ^ 0x80000000)
FSAME(neg_f64, uint64_t, x ^ (uint64_t)1 << 63)
FSAME(abs_f32, uint32_t, x & 0x7fffffff)
FSAME(abs_f64, uint64_t, x & ~((uint64_t)1 << 63))
FSAME(ftz_f32, float, sc_flush_f32(x))
/* copysign d, a, b: the sign of a on the size of b */
FSAME(copysign_f32, uint32_t, (x & 0x80000000) | (y & 0x7fffffff))
FSAME(copysign_f64, uint64_t,
      (x & (uint64_t)1 << 63) | (y & ~((uint64_t)1 << 63)))

#define UNORDERED (x != x || y != y)
#define COMPARES(f, t)                                                         \
    FBITS(cmp_eq_##f, uint32_t, t, x == y ? ~0u : 0)                           \
    FBITS(cmp_ne_##f, uint32_t, t, ((x < y) | (x > y)) ? ~0u : 0)              \
    FBITS(cmp_lt_##f, uint32_t, t, x < y ? ~0u : 0)                            \
    FBITS(cmp_le_##f, uint32_t, t, x <= y ? ~0u : 0)                           \
    FBITS(cmp_gt_##f, uint32_t, t, x > y ? ~0u : 0)                            \
    FBITS(cmp_ge_##f, uint32_t, t, x >= y ? ~0u : 0)                           \
    FBITS(cmp_equ_##f, uint32_t, t, ((x < y) | (x > y)) ? 0 : ~0u)             \
    FBITS(cmp_neu_##f, uint32_t, t, x == y ? 0 : ~0u)                          \
    FBITS(cmp_ltu_##f, uint32_t, t, x >= y ? 0 : ~0u)                          \
    FBITS(cmp_leu_##f, uint32_t, t, x > y ? 0 : ~0u)                           \
    FBITS(cmp_gtu_##f, uint32_t, t, x <= y ? 0 : ~0u)                          \
    FBITS(cmp_geu_##f, uint32_t, t, x < y ? 0 : ~0u)                           \
    FBITS(cmp_num_##f, uint32_t, t, UNORDERED ? 0 : ~0u)                       \
    FBITS(cmp_nan_##f, uint32_t, t, UNORDERED ? ~0u : 0)

COMPARES(f32, float)
COMPARES(f64, double)

#define TEST(name, e32, e64)                                                   \
    SC_DEFINE_OP(testp_##name##_f32, uint32_t, uint32_t, uint32_t, uint32_t,   \
                 r = (e32) ? ~0u : 0)                                          \
    SC_DEFINE_OP(testp_##name##_f64, uint32_t, uint64_t, uint64_t, uint64_t,   \
                 r = (e64) ? ~0u : 0)
#define SIZE32 (x & 0x7fffffffu)
#define SIZE64 (x & 0x7fffffffffffffffu)
#define INF32  0x7f800000u
#define INF64  0x7ff0000000000000u
TEST(finite, SIZE32 < INF32, SIZE64 < INF64)
TEST(infinite, SIZE32 == INF32, SIZE64 == INF64)
TEST(number, SIZE32 <= INF32, SIZE64 <= INF64)
TEST(notanumber, SIZE32 > INF32, SIZE64 > INF64)
/* zero counts as normal */
TEST(normal, SIZE32 < INF32 && (SIZE32 >= 0x00800000u || !SIZE32),
     SIZE64 < INF64 && (SIZE64 >= 0x0010000000000000u || !SIZE64))
TEST(subnormal, SIZE32 &&SIZE32 < 0x00800000u,
     SIZE64 &&SIZE64 < 0x0010000000000000u)

FSAME(sin_f32, float,
      sc_approx_sine(flags &SC_FLAG_FTZ ? sc_flush_f32(x) : x, 0))
FSAME(cos_f32, float,
      sc_approx_sine(flags &SC_FLAG_FTZ ? sc_flush_f32(x) : x, 1))
FSAME(ex2_f32, float, sc_approx_ex2f(x))
FSAME(tanh_f32, float, sc_approx_tanhf(x))
FSAME(lg2_f32, float, sc_approx_lg2f(x))
GENERAL(ex2_x_f32, f32, float, sc_approx_ex2f(x))
GENERAL(lg2_x_f32, f32, float, sc_approx_lg2f(x))

#define AT(kind, type)  [SC_ALU_##kind][SC_T_##type] = kind##_##type
#define WITH_X(kind, f) AT(kind, f), AT(kind##_x, f)
#define TABLE_FLOAT(f)                                                         \
    WITH_X(add, f), WITH_X(sub, f), WITH_X(mul, f), WITH_X(fma, f),            \
        WITH_X(div, f), WITH_X(rcp, f), WITH_X(sqrt, f), WITH_X(rsqrt, f),     \
        WITH_X(min, f), WITH_X(max, f), AT(neg, f), AT(abs, f),                \
        AT(copysign, f), AT(cmp_eq, f), AT(cmp_ne, f), AT(cmp_lt, f),          \
        AT(cmp_le, f), AT(cmp_gt, f), AT(cmp_ge, f), AT(cmp_equ, f),           \
        AT(cmp_neu, f), AT(cmp_ltu, f), AT(cmp_leu, f), AT(cmp_gtu, f),        \
        AT(cmp_geu, f), AT(cmp_num, f), AT(cmp_nan, f), AT(testp_finite, f),   \
        AT(testp_infinite, f), AT(testp_number, f), AT(testp_notanumber, f),   \
        AT(testp_normal, f), AT(testp_subnormal, f)

static const sc_handler table[SC_ALU_COUNT][SC_T_COUNT] = {
    TABLE_FLOAT(f32), TABLE_FLOAT(f64), AT(ftz, f32),     AT(sin, f32),
    AT(cos, f32),     AT(tanh, f32),    WITH_X(ex2, f32), WITH_X(lg2, f32),
};

sc_handler SC_ISA_NAME(sc_alu_real)(enum sc_alu kind, enum sc_type type)
{
    return table[kind][type];
}

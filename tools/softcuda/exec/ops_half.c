/*
 * f16 and bf16 arithmetic, alone and in pairs, over the lanes of a strip.
 *
 * Every operation is done in double, from where a second rounding does no harm
 * but to the fma of bf16, which therefore rounds to odd first. Lock: none.
 */
#include "exec/approx.h"
#include "exec/ops_parts.h"

static inline double widen_f16(uint16_t v)
{
    return sc_f16_f32(v);
}

static inline double widen_bf16(uint16_t v)
{
    return sc_bf16_f32(v);
}

#define LEAST_f16   0x1p-14
#define LEAST_bf16  0x1p-126
#define FLUSH(f, v) sc_half_flush(v, LEAST_##f, flags)

/* Expression in doubles x, y, z for one value, then for packed pairs. */
#define FORMAT(kind, f, e)                                                     \
    static inline uint16_t kind##_one_##f(uint16_t x_, uint16_t y_,            \
                                          uint16_t z_, unsigned flags)         \
    {                                                                          \
        const double x = FLUSH(f, widen_##f(x_)), y = FLUSH(f, widen_##f(y_)), \
                     z = FLUSH(f, widen_##f(z_));                              \
        (void)y, (void)z;                                                      \
        const double w = sc_limit(e, flags);                                   \
        return sc_f64_##f(FLUSH(f, w), SC_RN);                                 \
    }                                                                          \
    SC_DEFINE_OP(kind##_##f, uint16_t, uint16_t, uint16_t, uint16_t,           \
                 r = kind##_one_##f(x, y, z, flags))                           \
    SC_DEFINE_OP(                                                              \
        kind##_##f##x2, uint32_t, uint32_t, uint32_t, uint32_t,                \
        r = kind##_one_##f((uint16_t)x, (uint16_t)y, (uint16_t)z, flags) |     \
            (uint32_t)kind##_one_##f((uint16_t)(x >> 16), (uint16_t)(y >> 16), \
                                     (uint16_t)(z >> 16), flags)               \
                << 16)
#define HALF(kind, e) FORMAT(kind, f16, e) FORMAT(kind, bf16, e)

HALF(add, x + y)
HALF(sub, x - y)
HALF(mul, x *y)
FORMAT(fma, f16, __builtin_fma(x, y, z))
FORMAT(fma, bf16, sc_fma_odd(x, y, z))
HALF(min, sc_half_extreme(x, y, 0, flags))
HALF(max, sc_half_extreme(x, y, 1, flags))
FORMAT(ex2, f16, sc_cut_f16(sc_approx_ex2f((float)x)))
FORMAT(ex2, bf16, sc_approx_ex2f((float)x))
FORMAT(tanh, f16, sc_approx_tanhf((float)x))
FORMAT(tanh, bf16, sc_approx_tanhf((float)x))

/* Sign operations keep every other bit. */
#define SIGN(kind, e16, e32)                                                   \
    SC_DEFINE_OP(kind##_one, uint16_t, uint16_t, uint16_t, uint16_t,           \
                 r = (uint16_t)(e16))                                          \
    SC_DEFINE_OP(kind##_two, uint32_t, uint32_t, uint32_t, uint32_t, r = e32)
SIGN(neg, x ^ 0x8000, x ^ 0x80008000)
SIGN(abs, x & 0x7fff, x & 0x7fff7fff)

static inline uint16_t flush_one(uint16_t x)
{
    return x & 0x7c00 ? x : x & 0x8000;
}
SC_DEFINE_OP(ftz_f16, uint16_t, uint16_t, uint16_t, uint16_t, r = flush_one(x))
SC_DEFINE_OP(ftz_f16x2, uint32_t, uint32_t, uint32_t, uint32_t,
             r = flush_one((uint16_t)x) |
                 (uint32_t)flush_one((uint16_t)(x >> 16)) << 16)

#define COMPARE(kind, e)                                                       \
    SC_DEFINE_OP(kind##_f16, uint32_t, uint16_t, uint16_t, uint16_t,           \
                 const float v = sc_f16_f32(x);                                \
                 const float w = sc_f16_f32(y); r = (e) ? ~0u : 0)             \
    SC_DEFINE_OP(kind##_bf16, uint32_t, uint16_t, uint16_t, uint16_t,          \
                 const float v = sc_bf16_f32(x);                               \
                 const float w = sc_bf16_f32(y); r = (e) ? ~0u : 0)
COMPARE(cmp_eq, v == w)
COMPARE(cmp_ne, v<w || v> w)
COMPARE(cmp_lt, v < w)
COMPARE(cmp_le, v <= w)
COMPARE(cmp_gt, v > w)
COMPARE(cmp_ge, v >= w)
COMPARE(cmp_equ, !(v < w || v > w))
COMPARE(cmp_neu, !(v == w))
COMPARE(cmp_ltu, !(v >= w))
COMPARE(cmp_leu, !(v > w))
COMPARE(cmp_gtu, !(v <= w))
COMPARE(cmp_geu, !(v < w))
COMPARE(cmp_num, v == v && w == w)
COMPARE(cmp_nan, v != v || w != w)

#define AT(kind, type, handler) [SC_ALU_##kind][SC_T_##type] = handler
#define ALL(kind)                                                              \
    AT(kind, f16, kind##_f16), AT(kind, bf16, kind##_bf16),                    \
        AT(kind, f16x2, kind##_f16x2), AT(kind, bf16x2, kind##_bf16x2)
#define SIGNS(kind)                                                            \
    AT(kind, f16, kind##_one), AT(kind, bf16, kind##_one),                     \
        AT(kind, f16x2, kind##_two), AT(kind, bf16x2, kind##_two)
#define CMP(kind) AT(kind, f16, kind##_f16), AT(kind, bf16, kind##_bf16)

static const sc_handler table[SC_ALU_COUNT][SC_T_COUNT] = {
    ALL(add),
    ALL(sub),
    ALL(mul),
    ALL(fma),
    ALL(min),
    ALL(max),
    ALL(ex2),
    ALL(tanh),
    SIGNS(neg),
    SIGNS(abs),
    CMP(cmp_eq),
    CMP(cmp_ne),
    CMP(cmp_lt),
    CMP(cmp_le),
    CMP(cmp_gt),
    CMP(cmp_ge),
    CMP(cmp_equ),
    CMP(cmp_neu),
    CMP(cmp_ltu),
    CMP(cmp_leu),
    CMP(cmp_gtu),
    CMP(cmp_geu),
    CMP(cmp_num),
    CMP(cmp_nan),
    AT(ftz, f16, ftz_f16),
    AT(ftz, f16x2, ftz_f16x2),
};

sc_handler SC_ISA_NAME(sc_alu_half)(enum sc_alu kind, enum sc_type type)
{
    return table[kind][type];
}

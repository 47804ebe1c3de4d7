/*
 * cvt between all types, over the lanes of a strip.
 *
 * Registers here have the natural size of the type (8-bit types: 16 bits,
 * extended); the decoder narrows and widens around it. Lock: none.
 */
#include "exec/half.h"
#include "exec/ops_parts.h"

#include <fenv.h>
#include <limits.h>

/* C type in a register, and of the value itself */
#define REG_u8  uint16_t
#define REG_s8  uint16_t
#define REG_u16 uint16_t
#define REG_s16 uint16_t
#define REG_u32 uint32_t
#define REG_s32 uint32_t
#define REG_u64 uint64_t
#define REG_s64 uint64_t
#define VAL_u8  uint8_t
#define VAL_s8  int8_t
#define VAL_u16 uint16_t
#define VAL_s16 int16_t
#define VAL_u32 uint32_t
#define VAL_s32 int32_t
#define VAL_u64 uint64_t
#define VAL_s64 int64_t

#define LEAST_u8  0
#define LEAST_u16 0
#define LEAST_u32 0
#define LEAST_u64 0
#define LEAST_s8  INT8_MIN
#define LEAST_s16 INT16_MIN
#define LEAST_s32 INT32_MIN
#define LEAST_s64 INT64_MIN
#define MOST_u8   UINT8_MAX
#define MOST_u16  UINT16_MAX
#define MOST_u32  UINT32_MAX
#define MOST_u64  UINT64_MAX
#define MOST_s8   INT8_MAX
#define MOST_s16  INT16_MAX
#define MOST_s32  INT32_MAX
#define MOST_s64  INT64_MAX

#define OF_INTS(m, arg)                                                        \
    m(arg, u8) m(arg, s8) m(arg, u16) m(arg, s16) m(arg, u32) m(arg, s32)      \
        m(arg, u64) m(arg, s64)
#define OF_INTS2(m, arg)                                                       \
    m(arg, u8) m(arg, s8) m(arg, u16) m(arg, s16) m(arg, u32) m(arg, s32)      \
        m(arg, u64) m(arg, s64)

/* ---- integer to integer ---- */

#define BELOW(v, to) ((v) < 0 && ((int64_t)(v) < (int64_t)LEAST_##to))
#define ABOVE(v, to) ((v) > 0 && ((uint64_t)(v) > (uint64_t)MOST_##to))
#define CLAMP(v, to)                                                           \
    (BELOW(v, to)   ? (VAL_##to)LEAST_##to                                     \
     : ABOVE(v, to) ? (VAL_##to)MOST_##to                                      \
                    : (VAL_##to)(v))
#define INT_INT(from, to)                                                      \
    SC_DEFINE_OP(to##_##from, REG_##to, REG_##from, REG_##from, REG_##from,    \
                 r = (REG_##to)(VAL_##to)(VAL_##from)x)                        \
    SC_DEFINE_OP(to##_##from##_sat, REG_##to, REG_##from, REG_##from,          \
                 REG_##from, const VAL_##from v = (VAL_##from)x;               \
                 r = (REG_##to)CLAMP(v, to))
#define FROM_INT(_, from) OF_INTS2(INT_INT, from)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtautological-type-limit-compare"
#pragma GCC diagnostic ignored "-Wtautological-unsigned-zero-compare"
#endif
OF_INTS(FROM_INT, _)
#pragma GCC diagnostic pop

/* ---- floating point to integer ---- */

#define REG_f16  uint16_t
#define REG_bf16 uint16_t
#define REG_f32  float
#define REG_f64  double

static inline double value_f16(uint16_t v, unsigned flags)
{
    return sc_f16_f32(v);
}

static inline double value_bf16(uint16_t v, unsigned flags)
{
    return sc_bf16_f32(v);
}

static inline double value_f32(float v, unsigned flags)
{
    return flags & SC_FLAG_FTZ ? sc_flush_f32(v) : v;
}

static inline double value_f64(double v, unsigned flags)
{
    return v;
}

static inline double whole(double v, unsigned flags)
{
    switch (flags & SC_FLAG_ROUND) {
    case SC_RZ:
        return __builtin_trunc(v);
    case SC_RM:
        return __builtin_floor(v);
    case SC_RP:
        return __builtin_ceil(v);
    default:
        return __builtin_rint(v);
    }
}

/* PTX ISA 9.0: NaN gives 0 only when the source is not f64 and the
 * destination not 64 bits wide, else the top bit alone. */
#define NAN_TO(to, from)                                                       \
    ((sizeof(VAL_##to) == 8 || sizeof(REG_##from) == 8)                        \
         ? (VAL_##to)((VAL_u64)1 << (8 * sizeof(VAL_##to) - 1))                \
         : (VAL_##to)0)
/* 2^n, one past the largest value, is exact in a double for every type. */
#define PAST(to) ((double)(MOST_##to / 2 + 1) * 2)
#define REAL_INT(from, to)                                                     \
    static inline VAL_##to to##_of_##from(double v)                            \
    {                                                                          \
        double safe =                                                          \
            v > (double)LEAST_##to && v < PAST(to) ? v : (double)LEAST_##to;   \
        VAL_##to in = (VAL_##to)safe;                                          \
        return v != v          ? NAN_TO(to, from)                              \
               : v >= PAST(to) ? (VAL_##to)MOST_##to                           \
                               : in;                                           \
    }                                                                          \
    SC_DEFINE_OP(                                                              \
        to##_##from##_rz, REG_##to, REG_##from, REG_##from, REG_##from,        \
        r = (REG_##to)to##_of_##from(__builtin_trunc(value_##from(x, 0))))     \
    SC_DEFINE_OP(                                                              \
        to##_##from, REG_##to, REG_##from, REG_##from, REG_##from,             \
        r = (REG_##to)to##_of_##from(whole(value_##from(x, flags), flags)))
OF_INTS(REAL_INT, f16)
OF_INTS(REAL_INT, bf16)
OF_INTS(REAL_INT, f32)
OF_INTS(REAL_INT, f64)

/* ---- to floating point ---- */

#define SATURATE(v) ((v) > 0 ? ((v) < 1 ? (v) : 1) : 0)

static inline double limited(double v, unsigned flags)
{
    if (flags & SC_FLAG_SAT)
        v = SATURATE(v);
    if (flags & SC_FLAG_RELU)
        v = v > 0 ? v : v != v ? v : 0;
    return v;
}

static inline uint16_t make_f16(double v, unsigned flags)
{
    return sc_f64_f16(limited(v, flags), flags & SC_FLAG_ROUND);
}

static inline uint16_t make_bf16(double v, unsigned flags)
{
    return sc_f64_bf16(limited(v, flags), flags & SC_FLAG_ROUND);
}

static inline float make_f32(double v, unsigned flags)
{
    float r = (float)limited(v, flags);
    return flags & SC_FLAG_FTZ ? sc_flush_f32(r) : r;
}

static inline double make_f64(double v, unsigned flags)
{
    return limited(v, flags);
}

#define ROUNDED(name)                                                          \
    static const struct sc_op *name(const struct sc_op *op,                    \
                                    struct sc_strip *strip)                    \
    {                                                                          \
        return sc_round_run(op, strip, name##_loop);                           \
    }

/* f32 is made from the integer itself: a double would round s64 twice. */
#define DIRECT_f32(v, flags)                                                   \
    (flags & SC_FLAG_SAT ? (float)SATURATE((float)(v)) : (float)(v))
#define DIRECT_f64(v, flags)                                                   \
    (flags & SC_FLAG_SAT ? (double)SATURATE((double)(v)) : (double)(v))
#define DIRECT_f16(v, flags)  make_f16((double)(v), flags)
#define DIRECT_bf16(v, flags) make_bf16((double)(v), flags)
#define INT_REAL(to, from)                                                     \
    SC_DEFINE_OP(to##_##from##_rn, REG_##to, REG_##from, REG_##from,           \
                 REG_##from, r = DIRECT_##to((VAL_##from)x, 0))                \
    SC_DEFINE_OP(to##_##from##_loop, REG_##to, REG_##from, REG_##from,         \
                 REG_##from, r = DIRECT_##to((VAL_##from)x, flags))            \
    ROUNDED(to##_##from)
OF_INTS(INT_REAL, f16)
OF_INTS(INT_REAL, bf16)
OF_INTS(INT_REAL, f32)
OF_INTS(INT_REAL, f64)

/* Between floating point types, and to integral values within one. */
#define REAL_REAL(from, to)                                                    \
    SC_DEFINE_OP(to##_##from##_rn, REG_##to, REG_##from, REG_##from,           \
                 REG_##from, r = make_##to(value_##from(x, 0), 0))             \
    SC_DEFINE_OP(to##_##from##_loop, REG_##to, REG_##from, REG_##from,         \
                 REG_##from, double v = value_##from(x, flags);                \
                 if (flags & SC_FLAG_INT) v = whole(v, flags);                 \
                 r = make_##to(v, flags))                                      \
    static const struct sc_op *to##_##from(const struct sc_op *op,             \
                                           struct sc_strip *strip)             \
    {                                                                          \
        if (op->flags & SC_FLAG_INT)                                           \
            return to##_##from##_loop(op, strip);                              \
        return sc_round_run(op, strip, to##_##from##_loop);                    \
    }
#define TO_REALS(from)                                                         \
    REAL_REAL(from, f16)                                                       \
    REAL_REAL(from, bf16) REAL_REAL(from, f32) REAL_REAL(from, f64)
TO_REALS(f16)
TO_REALS(bf16)
TO_REALS(f32)
TO_REALS(f64)

SC_DEFINE_OP(tf32_f32, uint32_t, uint32_t, uint32_t, uint32_t,
             r = sc_tf32(x, flags))

enum { PLAIN, GENERAL, FORMS };

#define ROW_II(from, to)                                                       \
    [SC_T_##to][SC_T_##from] = {to##_##from, to##_##from##_sat},
#define ROWS_II(_, from) OF_INTS2(ROW_II, from)
#define ROW_RI(from, to)                                                       \
    [SC_T_##to][SC_T_##from] = {to##_##from##_rz, to##_##from},
#define ROW_IR(to, from)                                                       \
    [SC_T_##to][SC_T_##from] = {to##_##from##_rn, to##_##from},
#define ROW_RR(from, to)                                                       \
    [SC_T_##to][SC_T_##from] = {to##_##from##_rn, to##_##from},
#define ROWS_RR(from)                                                          \
    ROW_RR(from, f16) ROW_RR(from, bf16) ROW_RR(from, f32) ROW_RR(from, f64)
#define ROWS(real) OF_INTS(ROW_RI, real) OF_INTS(ROW_IR, real) ROWS_RR(real)

static const sc_handler table[SC_T_COUNT][SC_T_COUNT][FORMS] = {
    OF_INTS(ROWS_II, _)                      /* */
    ROWS(f16) ROWS(bf16) ROWS(f32) ROWS(f64) /* */
        [SC_T_tf32][SC_T_f32] = {tf32_f32, tf32_f32},
};

sc_handler SC_ISA_NAME(sc_convert)(enum sc_type to, enum sc_type from,
                                   unsigned flags)
{
    bool from_real = sc_type_class(from) == SC_CLASS_FLOAT;
    bool to_real = sc_type_class(to) == SC_CLASS_FLOAT;
    bool plain = from_real && !to_real ? (flags & ~SC_FLAG_SAT) == SC_RZ
                                       : flags == SC_RN;
    return table[to][from][plain ? PLAIN : GENERAL];
}

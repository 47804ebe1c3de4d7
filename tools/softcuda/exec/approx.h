/*
 * The approximate functions of native/alu_math.def as scalar C, which the
 * lane loops of the handlers turn into vectors.
 *
 * Generated code has the same text with other meanings of T_. Lock: none.
 */
#ifndef SOFTCUDA_EXEC_APPROX_H
#define SOFTCUDA_EXEC_APPROX_H

#include "exec/half.h"

#define T_f            float
#define T_32           uint32_t
#define T_i            int32_t
#define T_p            bool
#define T_F            sc_bits_f32
#define T_U            sc_f32_bits
#define T_bcf(x)       (x)
#define T_bc32(x)      (x)
#define T_bci(x)       (x)
#define T_f_i(x)       ((float)(x))
#define T_fmaf         __builtin_fmaf
#define T_sel(m, a, b) ((m) ? (a) : (b))
#define T_self         T_sel
#define T_sel_i        T_sel
/* they compare integers for equality only */
#define T_cmpu(a, b, k) ((a) == (b))

/* The comparisons the functions use, numbered as in native/alu_basic.def. */
static inline bool sc_approx_compare(float a, float b, int k)
{
    switch (k) {
    case 0:
        return a == b;
    case 1:
        return a < b;
    case 2:
        return a <= b;
    case 3:
        return a != a || b != b;
    case 9:
        return !(a >= b);
    case 10:
        return !(a > b);
    default:
        return a > b;
    }
}

#define T_cmpf   sc_approx_compare
#define T_ftz    sc_approx_ftz
#define T_satf   sc_approx_satf
#define T_nanf   sc_approx_nanf
#define T_sine   sc_approx_sine
#define T_scale2 sc_approx_scale2
#define T_ex2f   sc_approx_ex2f
#define T_lg2f   sc_approx_lg2f
#define T_tanhf  sc_approx_tanhf
#define SC_FN(result, name, params, ...)                                       \
    static inline result sc_approx_##name params __VA_ARGS__
#include "native/alu_math.def"
#undef SC_FN

#undef T_f
#undef T_32
#undef T_i
#undef T_p
#undef T_F
#undef T_U
#undef T_bcf
#undef T_bc32
#undef T_bci
#undef T_f_i
#undef T_fmaf
#undef T_sel
#undef T_self
#undef T_sel_i
#undef T_cmpu
#undef T_cmpf
#undef T_ftz
#undef T_satf
#undef T_nanf
#undef T_sine
#undef T_scale2
#undef T_ex2f
#undef T_lg2f
#undef T_tanhf

#endif

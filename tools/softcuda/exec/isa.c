/*
 * Which set of handlers this host runs, and rounding modes of the host.
 *
 * Lock: none.
 */
#include "exec/half.h"

#include <fenv.h>

const struct sc_isa *sc_isa_pick(void)
{
#ifdef SC_HAVE_X86_SETS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return &sc_isa_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &sc_isa_avx2;
#endif
    return &sc_isa_base;
}

const struct sc_op *sc_round_run(const struct sc_op *op, struct sc_strip *strip,
                                 sc_handler loop)
{
    static const int modes[] = {[SC_RN] = FE_TONEAREST,
                                [SC_RZ] = FE_TOWARDZERO,
                                [SC_RM] = FE_DOWNWARD,
                                [SC_RP] = FE_UPWARD,
                                [SC_RNA] = FE_TONEAREST};
    int mode = modes[op->flags & SC_FLAG_ROUND];
    if (mode == FE_TONEAREST)
        return loop(op, strip);
    fesetround(mode);
    const struct sc_op *next = loop(op, strip);
    fesetround(FE_TONEAREST);
    return next;
}

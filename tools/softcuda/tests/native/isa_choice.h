/*
 * Which vector form a suite is about: ALU_ISA=generic, avx2 or avx512, else
 * the best this machine has. Skips where the machine lacks it.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_ISA_CHOICE_H
#define TESTS_SOFTCUDA_NATIVE_ISA_CHOICE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/suite.h"
#include "native/native.h"

static inline bool isa_is_here(enum sc_native_isa isa)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (isa == SC_NATIVE_AVX512)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq");
    if (isa == SC_NATIVE_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == SC_NATIVE_GENERIC;
}

static inline enum sc_native_isa isa_under_test(void)
{
    static const char *const names[] = {[SC_NATIVE_GENERIC] = "generic",
                                        [SC_NATIVE_AVX2] = "avx2",
                                        [SC_NATIVE_AVX512] = "avx512"};
    const char *name = getenv("ALU_ISA");
    enum sc_native_isa best = SC_NATIVE_GENERIC;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        bool here = isa_is_here((enum sc_native_isa)i);
        if (name && strcmp(name, names[i]) == 0) {
            if (!here)
                suite_skip("this processor lacks the instruction set");
            return (enum sc_native_isa)i;
        }
        best = here ? (enum sc_native_isa)i : best;
    }
    return best;
}

#endif

/*
 * Lets a test choose the set of handlers, which otherwise the host's processor
 * does: OPCODES_SET=base, avx2 or avx512.
 *
 * Linked with --wrap=sc_isa_pick. Where this build or this processor lacks the
 * set, a line says so and the default one runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/ops.h"

#pragma weak sc_isa_avx2
#pragma weak sc_isa_avx512

const struct sc_isa *__real_sc_isa_pick(void);
const struct sc_isa *__wrap_sc_isa_pick(void);

static const struct sc_isa *set_named(const char *name)
{
    if (strcmp(name, "base") == 0)
        return &sc_isa_base;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return &sc_isa_avx2;
    if (strcmp(name, "avx512") == 0 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return &sc_isa_avx512;
#endif
    return NULL;
}

const struct sc_isa *__wrap_sc_isa_pick(void)
{
    static bool said;
    const char *name = getenv("OPCODES_SET");
    const struct sc_isa *set = name ? set_named(name) : NULL;
    if (name && !said) {
        printf("handlers: %s%s\n", name, set ? "" : ", not here: the default");
        said = true;
    }
    return set ? set : __real_sc_isa_pick();
}

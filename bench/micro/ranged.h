/*
 * What the benches of calls over ranges share: kernels, and arrays without a
 * home. Who fails says why and ends with 3.
 */
#ifndef BENCH_MICRO_RANGED_H
#define BENCH_MICRO_RANGED_H

#include "adsm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel of x and one array more: %r5 is x[i], %d4 is 4 i, %d7 the array. */
#define RANGED(name, more, body)                                               \
    ".visible .entry " name "(.param .u64 i0, .param .u64 i1, .param .u64 x, " \
    ".param .u64 y" more ")\n{\n"                                              \
    ".reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<9>;\n"                       \
    "ld.param.u64 %d1, [i0]; ld.param.u64 %d2, [i1];\n"                        \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"      \
    "mad.lo.s32 %r4, %r1, %r2, %r3;\n"                                         \
    "cvt.s64.s32 %d3, %r4; add.s64 %d3, %d3, %d1;\n"                           \
    "setp.ge.s64 %p, %d3, %d2; @%p bra done;\n"                                \
    "shl.b64 %d4, %d3, 2;\n"                                                   \
    "ld.param.u64 %d5, [x]; add.s64 %d6, %d5, %d4;\n"                          \
    "ld.global.u32 %r5, [%d6]; ld.param.u64 %d7, [y];\n" body                  \
    "done: ret;\n}\n"
#define DOUBLED                                                                \
    "add.u32 %r5, %r5, %r5; add.s64 %d8, %d7, %d4;\n"                          \
    "st.global.u32 [%d8], %r5;\n"
#define COUNTED                                                                \
    "mul.wide.u32 %d4, %r5, 4; add.s64 %d8, %d7, %d4;\n"                       \
    "red.global.add.u32 [%d8], 1;\n"

/* y[i] = 2 x[i], `twice4` with two arguments that it leaves alone; y[x[i]] += 1 */
static const char ranged_ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n" RANGED("twice", "",
                                                             DOUBLED)
        RANGED("twice4", ", .param .u64 z, .param .u64 w", DOUBLED)
            RANGED("count", "", COUNTED);

static inline void must(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "%s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(3);
}

static inline adsmKernel *kernel(const char *name)
{
    adsmModule *module;
    adsmKernel *found;
    must(adsmModuleLoad(&module, ranged_ptx, sizeof ranged_ptx - 1));
    must(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS));
    return found;
}

static inline unsigned *array(long n)
{
    unsigned *p = adsmAllocArray(sizeof *p, adsmR1(n), ADSM_NO_HOME);
    if (!p)
        must(adsmLastStatus());
    memset(p, 1, (size_t)n * sizeof *p);
    return p;
}

#endif

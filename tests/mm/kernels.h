/*
 * Device code of the mm suites: byte kernels small enough to be read.
 *
 *   mix(p, q, n, s)   p[i] = p[i] * 5 + q[i] + s
 *   fill(p, n, s)     p[i] = i * 7 + s
 *   inc(i0, i1, p)    p[i] += 1, for calls over ranges
 */
#ifndef TESTS_MM_KERNELS_H
#define TESTS_MM_KERNELS_H

#include <stdint.h>

static const char kernels_ptx[] =
    ".version 6.4\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry mix(.param .u64 p, .param .u64 q, .param .u32 n,\n"
    "                    .param .u32 s)\n"
    "{\n"
    "  .reg .pred %c;\n"
    "  .reg .b32 %r<10>;\n"
    "  .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [p];\n"
    "  ld.param.u64 %d2, [q];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  ld.param.u32 %r2, [s];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %c, %r6, %r1;\n"
    "  @%c bra END;\n"
    "  cvt.u64.u32 %d3, %r6;\n"
    "  add.s64 %d4, %d1, %d3;\n"
    "  add.s64 %d5, %d2, %d3;\n"
    "  ld.global.u8 %r7, [%d4];\n"
    "  ld.global.u8 %r8, [%d5];\n"
    "  mad.lo.s32 %r7, %r7, 5, %r8;\n"
    "  add.s32 %r7, %r7, %r2;\n"
    "  st.global.u8 [%d4], %r7;\n"
    "END:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry fill(.param .u64 p, .param .u32 n, .param .u32 s)\n"
    "{\n"
    "  .reg .pred %c;\n"
    "  .reg .b32 %r<10>;\n"
    "  .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [p];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  ld.param.u32 %r2, [s];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %c, %r6, %r1;\n"
    "  @%c bra END;\n"
    "  cvt.u64.u32 %d3, %r6;\n"
    "  add.s64 %d4, %d1, %d3;\n"
    "  mad.lo.s32 %r7, %r6, 7, %r2;\n"
    "  st.global.u8 [%d4], %r7;\n"
    "END:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry inc(.param .u64 i0, .param .u64 i1, .param .u64 p)\n"
    "{\n"
    "  .reg .pred %c;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .b64 %d<6>;\n"
    "  ld.param.u64 %d1, [i0];\n"
    "  ld.param.u64 %d2, [i1];\n"
    "  ld.param.u64 %d3, [p];\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "  cvt.u64.u32 %d4, %r4;\n"
    "  add.s64 %d4, %d4, %d1;\n"
    "  setp.ge.s64 %c, %d4, %d2;\n"
    "  @%c bra END;\n"
    "  add.s64 %d5, %d3, %d4;\n"
    "  ld.global.u8 %r5, [%d5];\n"
    "  add.s32 %r5, %r5, 1;\n"
    "  st.global.u8 [%d5], %r5;\n"
    "END:\n"
    "  ret;\n"
    "}\n";

/** The same on the CPU. */
static inline void host_mix(uint8_t *p, const uint8_t *q, uint32_t n,
                            uint32_t s)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] = (uint8_t)(p[i] * 5 + q[i] + s);
}

static inline void host_fill(uint8_t *p, uint32_t n, uint32_t s)
{
    for (uint32_t i = 0; i < n; i++)
        p[i] = (uint8_t)(i * 7 + s);
}

#endif

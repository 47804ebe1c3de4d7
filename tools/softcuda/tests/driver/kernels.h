/*
 * PTX of the kernels the driver suites launch.
 */
#ifndef TESTS_SOFTCUDA_DRIVER_KERNELS_H
#define TESTS_SOFTCUDA_DRIVER_KERNELS_H

static const char kernels_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 counter[4] = {1, 2, 3, 4};\n"
    ".visible .const .align 4 .u32 table[2] = {11, 22};\n"
    ".visible .entry empty()\n{\n ret;\n}\n"
    /* p[i] += v for i < n */
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v)\n{\n"
    " .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    " ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [v];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    " mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    " setp.ge.u32 %q, %r5, %r0;\n"
    " @%q bra done;\n"
    " cvta.to.global.u64 %d1, %d0;\n"
    " mul.wide.u32 %d2, %r5, 4;\n"
    " add.s64 %d3, %d1, %d2;\n"
    " ld.global.u32 %r6, [%d3];\n"
    " add.s32 %r7, %r6, %r1;\n"
    " st.global.u32 [%d3], %r7;\n"
    "done:\n ret;\n}\n"
    /* counter[0] += 1; p[0] = counter[0] + table[1] */
    ".visible .entry count(.param .u64 p)\n{\n"
    " .reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    " ld.param.u64 %d0, [p];\n"
    " atom.global.add.u32 %r0, [counter], 1;\n"
    " ld.const.u32 %r1, [table+4];\n"
    " add.u32 %r2, %r0, %r1;\n"
    " add.u32 %r2, %r2, 1;\n"
    " st.global.u32 [%d0], %r2;\n"
    " ret;\n}\n"
    ".visible .entry stop()\n{\n trap;\n ret;\n}\n"
    /* n turns of a loop, then p[0] = n */
    ".visible .entry spin(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    " ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n];\n"
    " mov.u32 %r1, 0;\n"
    "again:\n"
    " add.u32 %r1, %r1, 1;\n"
    " setp.lt.u32 %q, %r1, %r0;\n"
    " @%q bra again;\n"
    " st.global.u32 [%d0], %r1;\n"
    " ret;\n}\n"
    ".visible .entry shaped() .reqntid 32, 2, 1\n{\n ret;\n}\n";

#endif

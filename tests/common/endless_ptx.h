/*
 * A kernel that never ends.
 */
#ifndef TESTS_COMMON_ENDLESS_PTX_H
#define TESTS_COMMON_ENDLESS_PTX_H

/** Ends when *p is 77; who launches it sees to it that it never is. */
static const char endless_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry endless(.param .u64 p)\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [p];\n"
    "LOOP:\nld.volatile.global.u32 %r1, [%d1];\n"
    "setp.ne.u32 %p1, %r1, 77;\n@%p1 bra LOOP;\nret;\n}\n";

#endif

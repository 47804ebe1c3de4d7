/*
 * Operators on 32 bits for which left and right are alike. The library makes
 * all of them of this one's PTX, with their own words where it is marked
 * (libadsm/call/shipped.def): a register has no type.
 */
#include "../adsm_device.h"

static __device__ inline unsigned none()
{
    unsigned v;
    asm("mov.b32 %0, /*none*/ 0;" : "=r"(v));
    return v;
}

static __device__ inline unsigned combined(unsigned a, unsigned b)
{
    unsigned v;
    asm("/*combine*/ add.s32 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    return v;
}

ADSM_OP_(bits, unsigned, 1, none(), combined(a, b))
ADSM_KERNELS_(sum_i32, adsm_op_bits)

/* The same on 64 bits as sum_i32.cu on 32. */
#include "../adsm_device.h"

static __device__ inline unsigned long none()
{
    unsigned long v;
    asm("mov.b64 %0, /*none*/ 0;" : "=l"(v));
    return v;
}

static __device__ inline unsigned long combined(unsigned long a,
                                                unsigned long b)
{
    unsigned long v;
    asm("/*combine*/ add.s64 %0, %1, %2;" : "=l"(v) : "l"(a), "l"(b));
    return v;
}

ADSM_OP_(bits, unsigned long, 1, none(), combined(a, b))
ADSM_KERNELS_(sum_i64, adsm_op_bits)

/*
 * As sum_i32.cu: operators that take the right one of two where a comparison
 * holds, and else the left one.
 */
#include "../adsm_device.h"

static __device__ inline float none()
{
    float v;
    asm("mov.b32 %0, /*none*/ 0x7f800000;" : "=f"(v));
    return v;
}

static __device__ inline float combined(float a, float b)
{
    float v;
    asm("{\n"
        "\t.reg .pred right;\n"
        "\t/*combine*/ setp.lt.f32 right, %2, %1;\n"
        "\tselp.f32 %0, %2, %1, right;\n"
        "\t}"
        : "=f"(v)
        : "f"(a), "f"(b));
    return v;
}

ADSM_OP_(bits, float, 0, none(), combined(a, b))
ADSM_KERNELS_(min_f32, adsm_op_bits)

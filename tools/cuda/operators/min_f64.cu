/* The same on 64 bits as min_f32.cu on 32. */
#include "../adsm_device.h"

static __device__ inline double none()
{
    double v;
    asm("mov.b64 %0, /*none*/ 0x7ff0000000000000;" : "=d"(v));
    return v;
}

static __device__ inline double combined(double a, double b)
{
    double v;
    asm("{\n"
        "\t.reg .pred right;\n"
        "\t/*combine*/ setp.lt.f64 right, %2, %1;\n"
        "\tselp.f64 %0, %2, %1, right;\n"
        "\t}"
        : "=d"(v)
        : "d"(a), "d"(b));
    return v;
}

ADSM_OP_(bits, double, 0, none(), combined(a, b))
ADSM_KERNELS_(min_f64, adsm_op_bits)

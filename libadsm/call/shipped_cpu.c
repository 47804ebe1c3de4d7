/* The shipped operators on the CPU: the expressions are those of
 * adsm_operator.h. */
#include "adsm_cpu_operator.h"
#include "call/shipped.h"

#define SUM(of, type, bits)                                                    \
    ADSM_CPU_OPERATOR(sum_##of, type, 0, (type)((bits)a + (bits)b))            \
    ADSM_CPU_OPERATOR(product_##of, type, 1, (type)((bits)a * (bits)b))
#define BITS(of, type)                                                         \
    ADSM_CPU_OPERATOR(and_##of, type, (type)-1, a &b)                          \
    ADSM_CPU_OPERATOR(or_##of, type, 0, a | b)                                 \
    ADSM_CPU_OPERATOR(xor_##of, type, 0, a ^ b)
#define ORDER(of, type, least, most)                                           \
    ADSM_CPU_OPERATOR(min_##of, type, most, b < a ? b : a)                     \
    ADSM_CPU_OPERATOR(max_##of, type, least, b > a ? b : a)

SUM(i32, int32_t, uint32_t)
SUM(i64, int64_t, uint64_t)
SUM(f32, float, float)
SUM(f64, double, double)
BITS(i32, int32_t)
BITS(i64, int64_t)
ORDER(i32, int32_t, INT32_MIN, INT32_MAX)
ORDER(u32, uint32_t, 0, UINT32_MAX)
ORDER(i64, int64_t, INT64_MIN, INT64_MAX)
ORDER(u64, uint64_t, 0, UINT64_MAX)
ORDER(f32, float, -__builtin_inff(), __builtin_inff())
ORDER(f64, double, -__builtin_inf(), __builtin_inf())

static adsmCpuCode *const codes[] = {
#define X(name, ...) adsm_cpu_codes_##name,
#include "call/shipped.def"
#undef X
};

/* A program may have one of its own of that name. */
void adsm_shipped_add_cpu(void)
{
    for (int i = 0; i < ADSM_SHIPPED; i++)
        for (int k = 0; k < ADSM_CPU_OPERATOR_KERNELS; k++)
            (void)adsmCpuAdd(&codes[i][k]);
}

/*
 * f16 and bf16 values in software, for hosts and compilers without them.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_EXEC_HALF_H
#define SOFTCUDA_EXEC_HALF_H

#include "exec/ops.h"

#include <math.h>
#include <string.h>

static inline float sc_bits_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t sc_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t sc_f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double sc_bits_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Functions on one value that generated code has, too. */
#define SC_OWN(isas, result, name, params, ...)                                \
    static inline result name params __VA_ARGS__
#include "native/alu_half.def"
#undef SC_OWN

static inline float sc_flush_f32(float value)
{
    uint32_t bits = sc_f32_bits(value);
    return bits & 0x7f800000 ? value : sc_bits_f32(bits & 0x80000000);
}

/** Run a handler's loop under a rounding mode of the host. */
const struct sc_op *sc_round_run(const struct sc_op *op, struct sc_strip *strip,
                                 sc_handler loop);

#endif

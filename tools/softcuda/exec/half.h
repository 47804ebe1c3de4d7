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

/* Scaling by 2^112 rebases the exponent, subnormals included. */
static inline float sc_f16_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
    float scaled = sc_bits_f32(rest) * 0x1p112f;
    uint32_t bits =
        (half & 0x7c00) == 0x7c00 ? rest | 0x7f800000 : sc_f32_bits(scaled);
    return sc_bits_f32(bits | sign);
}

static inline float sc_bf16_f32(uint16_t half)
{
    return sc_bits_f32((uint32_t)half << 16);
}

/**
 * Round a double once to a 16-bit format with `mantissa` stored bits.
 *
 * @least exponent of the smallest normal value; @mode how to round
 */
static inline uint16_t sc_round_half(double value, int mantissa, int least,
                                     enum sc_round mode)
{
    const uint16_t sign = (uint16_t)(sc_f64_bits(value) >> 63 << 15);
    const uint16_t infinite = (uint16_t)(0x7fff & ~((1u << mantissa) - 1));
    if (value != value)
        return 0x7fff;
    double size = fabs(value);
    if (size == HUGE_VAL)
        return sign | infinite;
    int exponent = (int)(sc_f64_bits(size) >> 52) - 1023;
    if (exponent < least)
        exponent = least;
    /* units of the last place at that exponent; exact, powers of two only */
    double units =
        size * sc_bits_f64((uint64_t)(1023 + mantissa - exponent) << 52);
    uint64_t whole = (uint64_t)units;
    double rest = units - (double)whole;
    bool up = mode == SC_RN    ? rest > 0.5 || (rest == 0.5 && (whole & 1))
              : mode == SC_RNA ? rest >= 0.5
              : mode == SC_RP  ? rest > 0 && !sign
              : mode == SC_RM  ? rest > 0 && sign
                               : false;
    whole += up;
    uint64_t bits = whole + ((uint64_t)(exponent - least) << mantissa);
    if (bits >= infinite) {
        bool away = mode == SC_RN || mode == SC_RNA ||
                    (mode == SC_RP && !sign) || (mode == SC_RM && sign);
        bits = away ? infinite : (uint64_t)infinite - 1;
    }
    return sign | (uint16_t)bits;
}

static inline uint16_t sc_f64_f16(double value, enum sc_round mode)
{
    return sc_round_half(value, 10, -14, mode);
}

static inline uint16_t sc_f64_bf16(double value, enum sc_round mode)
{
    return sc_round_half(value, 7, -126, mode);
}

static inline float sc_flush_f32(float value)
{
    uint32_t bits = sc_f32_bits(value);
    return bits & 0x7f800000 ? value : sc_bits_f32(bits & 0x80000000);
}

/** Run a handler's loop under a rounding mode of the host. */
const struct sc_op *sc_round_run(const struct sc_op *op, struct sc_strip *strip,
                                 sc_handler loop);

#endif

/*
 * Exact binary floating point, the reference the opcode tests compare with.
 *
 * Every finite value is an integer times a power of two in 128 bits; results
 * are rounded once, by integer arithmetic, so neither the host's floating
 * point unit nor its rounding mode takes part. Owns no state but the
 * "don't care" mask below, which is per thread and needs no lock.
 */
#ifndef TESTS_OPCODES_SOFTFP_H
#define TESTS_OPCODES_SOFTFP_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 sfp_u128;
typedef __int128 sfp_i128;

enum sfp_kind { SFP_ZERO, SFP_FINITE, SFP_INFINITE, SFP_NAN };

/* Values match the rounding field of op_case.arg. */
enum sfp_round { SFP_RN, SFP_RZ, SFP_RM, SFP_RP, SFP_RNA };

enum { SFP_FTZ = 1, SFP_SAT = 2 };

struct sfp_format {
    int exponent_bits;
    int mantissa_bits;
};

extern const struct sfp_format sfp_f16, sfp_bf16, sfp_f32, sfp_f64;

/* A finite value is m * 2^exp with the top bit of m at SFP_TOP. */
#define SFP_TOP 125
struct sfp {
    enum sfp_kind kind;
    bool negative;
    int exp;
    sfp_u128 m;
};

/*
 * Bits of the last packed result that the PTX ISA leaves open: the sign of a
 * zero made by .sat, and whether .ftz flushes a result that only rounding made
 * normal. The harness clears it before each reference call.
 */
extern _Thread_local uint64_t sfp_open_bits;

/**
 * Read one encoded number.
 *
 * @format encoding; @bits value in the low bits; @flush read subnormals as 0
 * Return: the value. Thread: any. Signal: never
 */
struct sfp sfp_unpack(const struct sfp_format *format, uint64_t bits,
                      bool flush);

/**
 * Round a value into an encoding.
 *
 * @format target; @v value; @round mode; @flags SFP_FTZ, SFP_SAT
 * Return: the bits; NaN is all ones but the sign. Thread: any. Signal: never
 */
uint64_t sfp_pack(const struct sfp_format *format, struct sfp v,
                  enum sfp_round round, int flags);

/**
 * Arithmetic with results exact up to a sticky last bit far below any format.
 *
 * @round decides the sign of an exact zero sum only
 * Return: the value, to be given to sfp_pack. Thread: any. Signal: never
 */
struct sfp sfp_add(struct sfp a, struct sfp b, enum sfp_round round);
struct sfp sfp_mul(struct sfp a, struct sfp b);
struct sfp sfp_div(struct sfp a, struct sfp b);
struct sfp sfp_sqrt(struct sfp a);
struct sfp sfp_neg(struct sfp a);

/**
 * Compare two values.
 *
 * Return: -1, 0, 1, or 2 when a NaN takes part. Thread: any. Signal: never
 */
int sfp_compare(struct sfp a, struct sfp b);

/** An integer as a value. Return: the value. Thread: any. Signal: never */
struct sfp sfp_from_int(sfp_i128 value);

/**
 * Round to an integer and clamp; NaN gives 0.
 *
 * Return: the integer within [low, high]. Thread: any. Signal: never
 */
sfp_i128 sfp_to_int(struct sfp v, enum sfp_round round, sfp_i128 low,
                    sfp_i128 high);

/** Round to an integral value, sign of zero kept. Thread: any. Signal: never */
struct sfp sfp_integral(struct sfp v, enum sfp_round round);

#endif

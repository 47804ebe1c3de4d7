/*
 * References of floating-point arithmetic, shared by the float tables.
 *
 * Owns no state. Every function is an op_reference: the case's arg gives type,
 * rounding and flags, NaN results are the format's canonical NaN.
 */
#ifndef TESTS_OPCODES_FLOAT_REFERENCE_H
#define TESTS_OPCODES_FLOAT_REFERENCE_H

#include "opcase.h"

/** Source `k` as a value, subnormals read as zero under .ftz. */
struct sfp float_load(const struct op_case *c, const uint64_t *in, int k);

/** `v` rounded into the case's type. */
uint64_t float_store(const struct op_case *c, struct sfp v);

op_reference float_add, float_sub, float_mul, float_fma, float_div, float_rcp,
    float_sqrt, float_abs, float_neg;

/** min, or max where HI is set. */
op_reference float_minmax;

#endif

/*
 * The kernel that runs a case five times: with every lane, with a predicate in
 * front of each instruction, under a divergent branch, with operands that are
 * the same in a whole CTA, and with the first source in the destination's
 * register.
 *
 * Its parameters are the arrays of the sources, of masks, and of the results of
 * each variant, 64 bits a lane. Owns no state.
 */
#ifndef TESTS_OPCODES_CASE_KERNEL_H
#define TESTS_OPCODES_CASE_KERNEL_H

#include "opcase.h"
#include "text.h"

enum variant { ALL_LANES, GUARDED, BRANCHED, UNIFORM, ALIASED, VARIANTS };

/* Lanes between the operands of one CTA and the next where all are alike. */
enum { UNIFORM_STEP = 251 };

/** Width of a register kind; 1 of a predicate. Thread: any. */
int case_kernel_bits(char kind);

/** Append the module. Thread: any. */
void case_kernel_put(struct text *t, const struct op_case *c);

#endif

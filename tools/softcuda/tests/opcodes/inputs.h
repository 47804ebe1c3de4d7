/*
 * Operand values: the special ones of each input class, and seeded random.
 *
 * Owns the generator's state, which is per call. No lock.
 */
#ifndef TESTS_OPCODES_INPUTS_H
#define TESTS_OPCODES_INPUTS_H

#include <stddef.h>
#include <stdint.h>

/** Next number of a xorshift sequence. @state non-zero, advanced */
uint64_t input_random(uint64_t *state);

/**
 * Fill operands of `lanes` executions.
 *
 * All combinations of special values come first where they fit in four fifths
 * of the lanes; the rest mixes special, random and nearly equal values.
 *
 * @signature see opcase.h; @in in[source][lane]; @seed non-zero
 * Return: number of sources. Thread: any. Signal: never
 */
int input_fill(const char *signature, uint64_t *const *in, size_t lanes,
               uint64_t seed);

/** Seed from OPCODES_SEED, or a fixed one; never 0. */
uint64_t input_seed(void);

#endif

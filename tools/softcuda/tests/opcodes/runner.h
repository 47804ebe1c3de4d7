/*
 * Runs the cases of a table on the PTX machine and compares every lane.
 *
 * Each case runs five times within one kernel: with every lane, with a
 * predicate in front of each instruction, under a divergent branch, with the
 * first source in the destination's register, and with operands that are the
 * same in a whole CTA.
 */
#ifndef TESTS_OPCODES_RUNNER_H
#define TESTS_OPCODES_RUNNER_H

#include "opcase.h"

/**
 * Run all cases; fails the test when a lane of any differs.
 *
 * Prints the seed, the first differences of each wrong case, and the cases
 * that the loader refuses as unsupported.
 * Thread: one; machine_open is called here
 */
void runner_run(const struct op_table *table);

/** Whether two results agree under the case's comparison. Thread: any. */
bool runner_agrees(const struct op_case *c, const uint64_t *in, uint64_t got,
                   uint64_t want, uint64_t open_bits);

#endif

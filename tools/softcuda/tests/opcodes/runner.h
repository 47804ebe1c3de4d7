/*
 * Runs the cases of a table on the PTX machine and compares every lane of every
 * variant (case_kernel.h).
 */
#ifndef TESTS_OPCODES_RUNNER_H
#define TESTS_OPCODES_RUNNER_H

#include "exec/exec.h"
#include "opcase.h"

/**
 * Run all cases; fails the test when a lane of any differs.
 *
 * Prints the seed, the first differences of each wrong case, and the cases
 * that the loader refuses as unsupported.
 * Thread: one; machine_open is called here
 */
void runner_run(const struct op_table *table);

/** Load the kernel of a case. Return: as machine_load. Thread: one */
enum sc_exec_status runner_load(const struct op_case *c,
                                struct sc_module **module, char *log,
                                size_t log_bytes);

/** What the machine makes of the inputs; machine_open comes before, and its
 *  allocations are forgotten. Whatever fails fails the test. Thread: one */
uint64_t runner_one(const struct op_case *c, const uint64_t *in);

/** record_sum of what the machine makes of a case's usual inputs; as
 *  runner_one. */
uint64_t runner_sum(const struct op_case *c);

/** What the reference makes of them; sfp_open_bits says what it leaves open. */
uint64_t runner_reference(const struct op_case *c, const uint64_t *in);

/** Whether two results agree under the case's comparison. Thread: any. */
bool runner_agrees(const struct op_case *c, uint64_t got, uint64_t want,
                   uint64_t open_bits);

/** Results that agree look the same; not of CMP_CLOSE. Thread: any. */
uint64_t runner_canonical(const struct op_case *c, uint64_t bits,
                          uint64_t open_bits);

/** Whether NVIDIA's assembler (13.0) expands the instruction to several and
 *  guards the first alone, against the PTX ISA. Thread: any. */
bool runner_loses_guard(const struct op_case *c);

#endif

/*
 * Writes down what the machine answers, as lines of answers.h, into the file
 * that the environment names as OPCODES_ANSWERS; without it, nothing.
 *
 * Tests run one after the other in processes of their own; each appends. A
 * case's line has the answers of a few of its lanes and the sum of all, unless
 * its results are approximate: of these the line has more lanes and no sum.
 */
#ifndef TESTS_OPCODES_RECORD_H
#define TESTS_OPCODES_RECORD_H

#include "opcase.h"

/** A comment: table, machine, day and seed. Thread: one */
void record_head(const char *table);

/** The answers of a case; @in an array for each source. Thread: one */
void record_answers(const struct op_case *c, uint64_t *const *in,
                    const uint64_t *out, size_t lanes);

/** Sum of results; those that agree (runner.h) have the same. Thread: any. */
uint64_t record_sum(const struct op_case *c, uint64_t *const *in,
                    const uint64_t *out, size_t lanes);

/** That the case was refused, and the sentence that says why. Thread: one */
void record_refusal(const struct op_case *c, const char *log);

#endif

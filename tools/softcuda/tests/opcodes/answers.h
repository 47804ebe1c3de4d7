/*
 * What hardware answered to opcode cases: the lines of answers.txt, and the
 * writing of such lines.
 *
 * A line has a kind and fields between tabs; '#' begins a comment.
 *
 *   answer       SIGNATURE  TEXT  IN,…=OUT …  [sum=SUM]
 *   refused      SIGNATURE  TEXT  MESSAGE
 *   miscompiled  SIGNATURE  TEXT  off|on  IN,…=OUT …
 *
 * TEXT and SIGNATURE are those of a case (opcase.h), "-" is any of the text;
 * numbers are hexadecimal. `refused` are statements NVIDIA's assembler has no instruction for. `miscompiled` are
 * answers that contradict the PTX ISA because the assembler lost a guard that
 * was off, or (on) an extension: what a device must not copy. SUM is
 * answers_sum over all lanes of a case. No lock: one thread.
 */
#ifndef TESTS_OPCODES_ANSWERS_H
#define TESTS_OPCODES_ANSWERS_H

#include "opcase.h"

enum answer_kind { ANSWER_GIVEN, ANSWER_REFUSED, ANSWER_MISCOMPILED };

struct answer {
    enum answer_kind kind;
    bool guard_off;                         /* of one miscompiled */
    const char *text, *signature, *message; /* the last of a refusal */
    uint64_t in[OP_SOURCES], out;
};

struct answer_sum {
    const char *text, *signature;
    uint64_t sum;
};

struct answers {
    char *whole; /* the texts point into it */
    struct answer *all;
    size_t count;
    struct answer_sum *sums;
    size_t sum_count;
};

/** Read answers.txt as it was built in, or the file that the environment names
 *  as OPCODES_KNOWN; a line that is none of the above fails the test. */
void answers_read(struct answers *answers);

void answers_free(struct answers *answers);

/** Whether the text and signature of a line are those of the case. */
bool answers_are_of(const char *text, const char *signature,
                    const struct op_case *c);

/** Start of a checksum, and one more result. Thread: any. */
#define ANSWERS_SUM 0xcbf29ce484222325
uint64_t answers_sum(uint64_t sum, uint64_t out);

#endif

/*
 * An assertion for inner loops: Check writes a line to a file for each of its
 * own that passes, which costs more than the work between them.
 */
#ifndef TESTS_OPCODES_EXPECT_H
#define TESTS_OPCODES_EXPECT_H

#include <check.h>

#define EXPECT(condition, ...)                                                 \
    do {                                                                       \
        if (!(condition))                                                      \
            ck_abort_msg(__VA_ARGS__);                                         \
    } while (0)

#endif

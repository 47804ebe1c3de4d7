/*
 * What a fuzz target is: one function that is called with any bytes.
 *
 * A target is linked with libFuzzer, which makes inputs, or with replay.c,
 * which runs those that there are. What the bytes lead to must end, keep
 * within memory, leak nothing and have undefined behaviour nowhere, which the
 * sanitizers see; what else must hold is said by FUZZ_CHECK.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Run one input. Return: 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/** End the program, as a sanitizer does, where `condition` does not hold. */
#define FUZZ_CHECK(condition)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            abort();                                                           \
        }                                                                      \
    } while (0)

/** The bytes with a 0 behind them, to be freed: a buffer of just that length,
 *  so that a sanitizer sees who reads on. */
static inline char *fuzz_text(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    FUZZ_CHECK(text);
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    return text;
}

enum { FUZZ_LINES_MOST = 32 };

/**
 * Cut a text at its line ends, each line with `prefix` before it: an
 * environment out of bytes.
 *
 * @lines  NULL-terminated; of the first FUZZ_LINES_MOST lines, to be freed
 */
static inline void fuzz_lines(const uint8_t *data, size_t bytes,
                              const char *prefix,
                              char *lines[FUZZ_LINES_MOST + 1])
{
    size_t head = strlen(prefix), count = 0;
    while (bytes > 0 && count < FUZZ_LINES_MOST) {
        const uint8_t *end = memchr(data, '\n', bytes);
        size_t length = end ? (size_t)(end - data) : bytes;
        char *line = malloc(head + length + 1);
        FUZZ_CHECK(line);
        memcpy(line, prefix, head);
        memcpy(line + head, data, length);
        line[head + length] = '\0';
        lines[count++] = line;
        length += end != NULL;
        data += length;
        bytes -= length;
    }
    lines[count] = NULL;
}

static inline void fuzz_lines_free(char *lines[FUZZ_LINES_MOST + 1])
{
    for (size_t i = 0; lines[i]; i++)
        free(lines[i]);
}

#endif

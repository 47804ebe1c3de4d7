/*
 * Text of a test module, put together piece by piece in one static buffer.
 *
 * Owns nothing else; one text at a time in a thread. No lock.
 */
#ifndef TESTS_OPCODES_TEXT_H
#define TESTS_OPCODES_TEXT_H

struct text {
    char buffer[32768];
    unsigned length;
};

/** Start an empty text. Return: the thread's only one. */
struct text *text_begin(void);

/** Append as printf does; too long fails the test. */
void text_put(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

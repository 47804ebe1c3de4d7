/*
 * C text to a loaded object, for suites that bring many functions to the
 * compiler at once. With NATIVE_TEST_CACHE objects are kept in a folder below
 * it, so that the suite of another build finds what this one compiled.
 *
 * Owns the files. One thread.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_COMPILED_H
#define TESTS_SOFTCUDA_NATIVE_COMPILED_H

#include <stdbool.h>

/**
 * Compile and load; fails the test with the compiler's messages.
 *
 * @command the compiler and its options, without input and output
 * @text    C, ends in NUL
 * @keep    leave the text in the working directory as `name`.c
 * Return: handle of dlopen
 */
void *compiled_load(const char *command, const char *text, const char *name,
                    bool keep);

#endif

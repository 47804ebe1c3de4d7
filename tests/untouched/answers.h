/*
 * What the parts of `answers` share: lines "NAME: ANSWER" in which no address is.
 */
#ifndef TESTS_UNTOUCHED_ANSWERS_H
#define TESTS_UNTOUCHED_ANSWERS_H

#include <cuda.h>
#include <stdbool.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

/** Print one line, named and answered as printf does. */
__attribute__((format(printf, 2, 3))) void say(const char *name,
                                               const char *format, ...);

/** Print the name of a result. Return: whether it is success */
bool say_result(const char *name, CUresult result);

/** That name. */
const char *result_name(CUresult result);

/** Signals, and while the program is alone in the process, descriptors. */
void ask_process(const char *when, bool alone);

/** What is free, and where allocations lie beside each other. */
void ask_capacity(void);
void ask_places(void);

#endif

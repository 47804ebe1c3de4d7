/*
 * Calls of the driver, one of each kind, by a program that knows nothing of this
 * project and never touches device memory from the CPU.
 */
#ifndef TESTS_UNTOUCHED_CALLS_H
#define TESTS_UNTOUCHED_CALLS_H

#include <stdbool.h>

struct call {
    const char *name; /* NULL: behind the last */
    void (*make)(void);
    bool works; /* it gives the device work on memory */
};

extern const struct call calls[];

/** What the calls are about. Ends the program where there is no device. */
void calls_prepare(void);

/** Wait for what they gave the device. */
void calls_wait(void);

#endif

/*
 * What entries.S needs, for the one file of a program that owns it: where each
 * function of the driver leads, how often it was called, and which calls the
 * thread is in. PLANTED_DEPTH is set for both files. Include it once.
 */
#ifndef TESTS_DRIVERS_ENTRIES_H
#define TESTS_DRIVERS_ENTRIES_H

#include <stdbool.h>

typedef void planted_function(void);

/* In the order of entries.def. */
enum {
#define SC_ENTRY(symbol, version, stream, name) ENTRY_##name,
#define SC_REFUSED                              SC_ENTRY
#include "driver/entries.def"
#undef SC_ENTRY
#undef SC_REFUSED
    ENTRIES
};

planted_function *planted_targets[ENTRIES];
_Atomic unsigned long long planted_counts[ENTRIES];
bool planted_marks;
__attribute__((tls_model("initial-exec"))) _Thread_local struct {
    long depth;
    void *returns[PLANTED_DEPTH];
} planted_inside;

#endif

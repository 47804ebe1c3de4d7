/*
 * What the calls of calls.def need besides the memory they are made on: files,
 * pipes and sockets that are in the same state each time.
 */
#ifndef TESTS_ENGINE_CALLS_H
#define TESTS_ENGINE_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum { PAGE = 4096, LONG = 20000, FILE_BYTES = 65536 };

enum kind { IN, OUT, LOOSE };

struct system_call {
    const char *name;
    enum kind kind;
    const void *content;
    size_t bytes;
    long (*make)(uint8_t *m); /* its result, or minus errno */
};

extern const struct system_call system_calls[];
extern const size_t system_calls_count;

/** Make the files and sockets; once. */
void calls_start(void);

#endif

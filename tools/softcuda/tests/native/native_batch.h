/*
 * Many generated kernels in one compiled object, which is several times
 * quicker than one compiler run for each.
 *
 * The texts' names of file scope get a number; the common head is written
 * once. Owns text and objects. One thread.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_NATIVE_BATCH_H
#define TESTS_SOFTCUDA_NATIVE_NATIVE_BATCH_H

#include <stdio.h>

#include "native/native.h"

enum { BATCH_ISAS = 3 };

/** Text of kernels by the isa they turned out to need. */
struct native_batch {
    char *text[BATCH_ISAS];
    size_t bytes[BATCH_ISAS];
    FILE *out[BATCH_ISAS];
    void *handles[BATCH_ISAS];
};

void native_batch_begin(struct native_batch *batch);

/** Append the text of one kernel as function `number`. */
void native_batch_add(struct native_batch *batch, unsigned number,
                      const char *text);

/**
 * Compile and load; fails the test with the compiler's messages.
 * NATIVE_CC is the compiler, NATIVE_FLAGS go behind "-O1", NATIVE_KEEP keeps
 * the text in the working directory.
 */
void native_batch_finish(struct native_batch *batch);

/** The function `number`. */
sc_native_run *native_batch_run(const struct native_batch *batch,
                                unsigned number);

/** Unload everything. */
void native_batch_end(struct native_batch *batch);

#endif

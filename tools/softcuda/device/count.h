/*
 * What ran, for the report of a program that did not end by itself.
 */
#ifndef SOFTCUDA_DEVICE_COUNT_H
#define SOFTCUDA_DEVICE_COUNT_H

#include "base/protocol.h"

/** A kernel begins; a program that ends before it is told which it was.
 *  Return: to be given to sc_count_end, NULL: not counted
 *  Thread: the serving thread */
struct sc_count *sc_count_begin(const char *name);

/** It ended. @why text of result->why. Thread: the serving thread */
void sc_count_end(struct sc_count *count, const struct sc_result *result,
                  const char *why);

/** Print it all. Thread: any, while the serving thread goes on */
void sc_count_report(const struct sc_shared *shared, int ordinal);

#endif

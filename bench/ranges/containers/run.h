/*
 * Goes through the steps of a program with its arrays in containers, each call
 * in as many parts as there are devices.
 */
#ifndef BENCH_RANGES_CONTAINERS_RUN_H
#define BENCH_RANGES_CONTAINERS_RUN_H

#include "containers.h"
#include "programs.h"

/**
 * Run a program under the rules that are set; containers_moved says what that
 * moved. RULES_INITIAL flushes after each call on several devices.
 *
 * @devices  to run on, of those that were brought up
 * @pinned   main copies are page-locked
 * @check    compare what the CPU looks at with the CPU's own result; ends the
 *           program where a byte differs
 */
void run_program(const struct program *program, int devices, bool pinned,
                 bool check);

/** Nanoseconds of the last run, from its first step to its last. */
uint64_t run_ns(void);

#endif

/*
 * Pictures one behind the other through the steps of convert.h: by four threads,
 * one for each step, or by one thread that does all.
 *
 * Queues between the threads hold as many tasks as there are; who is done with a
 * task hands it back to the first thread, so memory is that of STREAM_TASKS
 * pictures however many there are.
 *
 * Paper: Parisi, "Optimization of Parallel Computations on Heterogeneous
 *        GPU-Based Systems", 4.5.2, Fig. 9
 */
#ifndef BENCH_STREAM_STREAM_H
#define BENCH_STREAM_STREAM_H

#include "convert.h"

enum { STREAM_TASKS = 6 };

/** Convert all files. Return: how many could not be; -1: no thread could be
 *  started. Thread: one at a time with the same converter */
int stream_run(const struct converter *converter, char *const *files, int count,
               bool threads);

#endif

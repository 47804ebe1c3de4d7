/*
 * Input files of the benchmarks: made, read once, removed.
 *
 * Owns the files that it makes in the scratch folder; one that the user names
 * stays. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_INPUTS_H
#define BENCH_PARBOIL_INPUTS_H

#include <stdbool.h>

#include "runner/plan.h"

/**
 * The input file of a benchmark. Small ones are made as well, although the
 * programs have them: those lie in the source folder, which need not be here.
 *
 * @path  PATH_MAX bytes
 * Return: false when there is none; says why on stderr
 */
bool inputs_find(const struct plan *plan, const struct plan_bench *bench,
                 char *path);

/**
 * Read a file to its end, and the sets that lie beside it, and have it on the
 * disk: no run waits for the disk that another one does not wait for.
 */
void inputs_warm(const char *path);

void inputs_remove(const struct plan *plan, const char *path);

#endif

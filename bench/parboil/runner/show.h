/*
 * Showing the cases of a benchmark: as a table or as JSON lines.
 *
 * Owns the case and its results. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_SHOW_H
#define BENCH_PARBOIL_SHOW_H

#include "runner/plan.h"
#include "runner/result.h"

struct show_case {
    const struct plan_bench *bench;
    const struct plan_form *form;
    const char *protocol;     /* NULL: not preloaded */
    const char *devices;      /* how many; NULL: what there is */
    const char *block_size;   /* NULL: the default */
    const char *rolling_size; /* NULL: the default */
    struct result results[PLAN_REPS_MAX];
};

/** "cp ported/rolling/64K": benchmark and case. */
void show_name(const struct show_case *which, char *name, size_t bytes);

/**
 * Print all cases of one benchmark, and what compare.h says of each.
 *
 * Return: whether all ran, gave the same result, and the runtime's count of
 *         bytes is the device's
 */
bool show_cases(const struct plan *plan, const struct show_case *cases,
                int count);

/** What has to be known to read the tables that were printed. */
void show_notes(const struct plan *plan);

#endif

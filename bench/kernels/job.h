/*
 * One case of the bench: its arrays, and how each side and C run it.
 *
 * Array contents come from a seeded generator, so every run is the same.
 * Lock: none; one thread.
 */
#ifndef BENCH_KERNELS_JOB_H
#define BENCH_KERNELS_JOB_H

#include "side.h"

#define JOB_MOST_ARRAYS 8

/** How two results are compared. */
enum job_compare {
    JOB_INPUT, /* not a result */
    JOB_EXACT,
    JOB_FLOATS,  /* to 1e-3 of their size: sums in another order */
    JOB_ROUGHLY, /* 98 % of the elements exact: results that jump */
    JOB_LOOSE,   /* to 2e-2: approximate trigonometry summed up */
};

struct job_array {
    size_t bytes;
    enum job_compare compare;
    void *host;     /* what C reads and writes */
    void *original; /* what it held before the first run */
    side_memory device;
};

struct job {
    int n, size; /* elements, and the case's second number */
    int repeat;  /* runs in one sample */
    struct job_array array[JOB_MOST_ARRAYS];
    int arrays;
};

struct job_case {
    const char *name;
    int n, quick_n; /* `size` is set by fill */
    int repeat;
    void (*fill)(struct job *job);
    void (*host)(struct job *job);
    void (*device)(struct job *job, const struct side *side);
};

extern const struct job_case job_cases[];
extern const int job_case_count;

/** Add an array of `bytes`; for use by fill. Return: its host memory. */
void *job_add(struct job *job, size_t bytes, enum job_compare compare);

/** The next pseudo-random numbers of a fixed sequence. */
uint32_t job_random(void);
float job_uniform(float low, float high);

#endif

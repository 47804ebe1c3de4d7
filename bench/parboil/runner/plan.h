/*
 * What adsm-bench is asked to do: its command line.
 *
 * Owns the list of benchmarks, the options and the checks of their values. Bad
 * values end the program with one message and status 2. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_PLAN_H
#define BENCH_PARBOIL_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define PLAN_LIST_MAX 16
#define PLAN_REPS_MAX 99

struct plan_bench {
    const char *name;    /* as the user writes it and the file says */
    const char *program; /* beginning of its programs' names */
    const char *about;
    bool wave; /* one of bench/wave: other options, verified by tests of its
                  own */
};

extern const struct plan_bench plan_benches[];
extern const int plan_bench_count;

/** Forms in the order they are shown; the first is what others compare to. */
struct plan_form {
    const char *name; /* as the user writes it, and end of programs' names */
    bool preloaded;   /* runs under every protocol and not bare */
    bool managed;     /* the driver moves its pages: tells nothing where there
                         is no hardware that does */
    bool not_wave;    /* the stencil has none */
};

extern const struct plan_form plan_forms[];
extern const int plan_form_count;

/** Words of one option, "a,b,c". */
struct plan_list {
    int count;
    const char *words[PLAN_LIST_MAX];
};

struct plan {
    struct plan_list benches, forms, protocols, block_sizes, rolling_sizes;
    const char *size;  /* small, medium or large */
    const char *input; /* a file instead, or NULL */
    const char *link;  /* rate of the software device's link, or NULL */
    int reps;
    double limit_s;
    bool json, list, real_device, verify, quiet;
};

/** Read the command line; ends the program on --help. */
void plan_read(struct plan *plan, int argc, char **argv);

/** The benchmark of this name; NULL when there is none. */
const struct plan_bench *plan_find(const char *name);

/** Whether a list is empty or has this word. */
bool plan_has(const struct plan_list *list, const char *word);

#endif

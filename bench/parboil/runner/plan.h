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

/** The folder of bench/ that has a benchmark's programs. */
enum plan_room {
    PLAN_PARBOIL,
    PLAN_WAVE,   /* other options, verified by tests of its own */
    PLAN_RANGES, /* run on several numbers of devices */
    PLAN_ROOMS
};

extern const char *const plan_rooms[PLAN_ROOMS];

struct plan_bench {
    const char *name;    /* as the user writes it and the file says */
    const char *program; /* beginning of its programs' names */
    const char *about;
    enum plan_room room;
};

extern const struct plan_bench plan_benches[];
extern const int plan_bench_count;

/** Forms in the order they are shown. */
struct plan_form {
    const char *name;    /* as the user writes it */
    const char *program; /* end of programs' names, where it is another */
    bool preloaded;      /* runs under every protocol and not bare */
    bool copies;       /* what it copies by hand, the runtime counts as well */
    bool on_request;   /* no default: compares with one of its kind */
    bool managed;      /* the driver moves its pages: tells nothing where there
                         is no hardware that does */
    bool only_parboil; /* others have none */
    bool on_ranges;    /* bench/ranges has it */
    bool by_hand;      /* all copies written by hand: others are compared with
                         the best of these */
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
    struct plan_list devices; /* how many, for bench/ranges */
    struct plan_list numbers; /* "name=value" of made inputs */
    const char *size;         /* small, medium, large or gpu */
    const char *input;        /* a file instead, or NULL */
    const char *link;         /* rate of the software device's link, or NULL */
    int reps;
    double limit_s;
    bool json, list, real_device, verify, quiet;
};

/** Read the command line; ends the program on --help. */
void plan_read(struct plan *plan, int argc, char **argv);

/** The benchmark of this name; NULL when there is none. */
const struct plan_bench *plan_find(const char *name);

/** Whether a benchmark comes in a form. */
bool plan_exists(const struct plan_bench *bench, const struct plan_form *form);

/** The protocols to run a benchmark under. */
const struct plan_list *plan_protocols(const struct plan *plan,
                                       const struct plan_bench *bench);

/** Whether the size asked for is one of this benchmark's. */
bool plan_has_size(const struct plan *plan, const struct plan_bench *bench);

/** Whether a benchmark is to run. */
bool plan_runs(const struct plan *plan, const struct plan_bench *bench);

/** Not a protocol but rolling with this fault engine. */
#define PLAN_ASYNC "async"

/** Whether a list is empty or has this word. */
bool plan_has(const struct plan_list *list, const char *word);

#endif

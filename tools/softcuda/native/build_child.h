/*
 * One run of a program whose limits hold without the process that wanted it.
 *
 * Between the two stands a keeper, a process of its own.  It ends the program,
 * with all that belongs to its group, when the time is over, when it is asked
 * to, and when the process that wanted it is gone: what it makes is of use to
 * nobody else.  Processor time, memory and sizes of files are limits of the
 * system, which hold even where the keeper is killed.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_CHILD_H
#define SOFTCUDA_NATIVE_BUILD_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sc_build_limits {
    unsigned cpu_s;        /* processor time of each process */
    unsigned clock_ms;     /* from the start to the end of all */
    uint64_t memory_bytes; /* of each process */
};

/** What the keeper tells; memory that both share. */
struct sc_build_report {
    bool started;
    bool late, asked; /* ended by the clock, or by sc_build_child_end */
    int status;       /* as waitpid gives it */
    uint64_t cpu_ms, peak_bytes; /* of all its processes, of the largest */
};

struct sc_build_child {
    pid_t keeper;
    struct sc_build_report *report;
};

/**
 * Start a program, with the environment of this process.
 *
 * @in, out  its standard input, and standard output and error
 * Return: false: no process or no memory
 * Thread: any; the one that waits for it, the child ends with its process
 * Signal: never
 */
bool sc_build_child_start(struct sc_build_child *child, const char *path,
                          char *const argv[], int in, int out,
                          const struct sc_build_limits *limits);

/**
 * Wait until it has ended; sc_build_child_reap has to follow.
 *
 * Thread: any
 * Signal: never
 */
void sc_build_child_wait(const struct sc_build_child *child);

/** What became of it; its process id is free again.  Thread: any. */
struct sc_build_report sc_build_child_reap(struct sc_build_child *child);

/** Have a keeper end its program within a second.  Signal: any handler. */
void sc_build_child_end(pid_t keeper);

#endif

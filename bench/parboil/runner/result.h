/*
 * One run of one case, and what it came to: from the program's report, from
 * the runtime's counters, from the device's.
 *
 * Owns the reading of those three. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_RESULT_H
#define BENCH_PARBOIL_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bench.h"

struct result {
    bool good;
    char message[240]; /* why not good, one line */

    double used_s; /* processor time, the software device's included */
    int place;     /* in its round, from 0 */

    /* From the start of the process to the program's mark that set-up is over,
     * from there to where its clock stops, and from its report to the end of
     * the process. Zero where a program has no marks. */
    double before_s, work_s, after_s;

    /* The program's report. */
    double seconds, phase_s[BENCH_PHASES];
    uint64_t launches, copied_up, copied_down, checks;
    double worst; /* largest difference from the CPU, in tolerances */
    char digest[20];

    /* The runtime's counters; zero without it. */
    uint64_t bytes_up, bytes_down;
    uint64_t tried_up, tried_down;    /* to measure links */
    uint64_t bytes_local, bytes_peer; /* within, between devices */
    uint64_t faults;
    double fault_s, fault_copy_s, fault_memory_s, up_s, down_s;

    /* The software device's; `device` is false on another. */
    bool device;
    uint64_t device_up, device_down;
    double gpu_s;
};

/** From the report on stdout. Return: false when it is none. */
bool result_read_report(struct result *result, const char *json);

/** The report's marks, between the start and the end of the process. */
void result_read_marks(struct result *result, const char *json,
                       double started_s, double ended_s);

/** All three together: what is verified in between is left out. */
double result_whole_s(const struct result *result);

/** From the last line of the file of counters. Return: false without one. */
bool result_read_counters(struct result *result, const char *path);

/** From the device's lines on stderr. Return: false when there are none. */
bool result_read_device(struct result *result, const char *text);

/**
 * Where the time went, as in the paper's Fig. 10. In this order: GPU, copies,
 * I/O, signal handling, setup, CPU; they add up to `seconds`.
 */
#define RESULT_PARTS 6
extern const char *const result_parts[RESULT_PARTS];
void result_break_down(const struct result *result, double parts[RESULT_PARTS]);

#endif

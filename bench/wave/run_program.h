/*
 * Running one wave program in one way and collecting what it reports.
 *
 * Owns the child process, its pipes and its time limit, and the reading of what
 * it leaves: its report, the runtime's counters, the device's counters. Does
 * not own which programs run or how results are shown. One thread, no locks.
 */
#ifndef BENCH_WAVE_RUN_PROGRAM_H
#define BENCH_WAVE_RUN_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define RUN_ARGUMENTS_MAX 32

struct run_request {
    const char *argv[RUN_ARGUMENTS_MAX]; /* NULL at the end */
    const char *library_folder; /* for LD_LIBRARY_PATH, or NULL to leave it */
    const char *stats_file;     /* where the runtime's counters go, or NULL */
    bool soft;                  /* on the software device: it counts bytes */
    double limit_s;             /* killed after this time */
};

struct run_result {
    bool good;         /* ended with status 0 and reported */
    double seconds;    /* the program's own clock */
    uint64_t bytes_up; /* host to device */
    uint64_t bytes_down;
    uint64_t faults; /* 0 without counters */
    char digest[20];
    char message[200]; /* why not good, one line */
};

/** Set by the caller's signal handler: ends the run that is going on. */
extern volatile sig_atomic_t run_interrupted;

/**
 * Run a program to its end.
 *
 * Bytes are those that crossed the software device's link; on another device
 * those of the runtime's counters, and without a runtime those that the program
 * says it copied.
 * Return: nothing; result->good says whether the rest of it counts
 * Thread: one at a time
 * Signal: never
 */
void run_program(const struct run_request *request, struct run_result *result);

#endif

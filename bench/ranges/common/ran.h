/*
 * Runs a program of bench/ranges in a process of its own and reads what it and
 * the software device say of the run, for benches that compare runs.
 *
 * Who fails says why and ends with 3. One thread.
 */
#ifndef BENCH_RANGES_RAN_H
#define BENCH_RANGES_RAN_H

#include <stdint.h>

struct ran {
    double seconds;        /* all but reading and making the input */
    double device_seconds; /* of these, in calls, copies and waiting for them */
    uint64_t up, down;     /* bytes over the links of all devices; from one to
                              another they count in both */
    /* Of them by libadsm: from the host, to it, between devices (once). */
    uint64_t brought, saved, between;
    uint64_t paced, late; /* launches, and those behind SOFTCUDA_PACE */
    uint64_t digest;      /* of the result */
};

/**
 * Run a program with an input.
 *
 * @settings  of its environment, "NAME=value" words
 * @program   its name, "heat_adsm"
 * @input     path of the input file; NULL: its small one
 */
struct ran ran_program(const char *settings, const char *program,
                       const char *input);

/**
 * Make an input file, which lies there until this program ends.
 *
 * @kind @size  as for ranges-data, "heat" and "medium"
 * @numbers     "nx=1024 ny=1024"
 * Return: its path, until the next call for that kind
 */
const char *ran_input(const char *kind, const char *size, const char *numbers);

#endif

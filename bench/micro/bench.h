/*
 * What the micro benches share: samples, their median, one JSON line a case.
 *
 * A case is measured alternately with its floor or peer in the same run, with
 * the same inputs; `ratio` is the quotient of the two medians. Nothing else is
 * printed on standard output; `--table` prints for people instead.
 */
#ifndef BENCH_MICRO_BENCH_H
#define BENCH_MICRO_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_REPS_MAX = 99 };

/** Samples of one thing, in the unit of the case. */
struct bench_samples {
    double value[BENCH_REPS_MAX];
    int count;
};

/** Read the command line: --table, --quick, --quiet, --reps=N. Exits 2 on
 *  others. */
void bench_start(int argc, char **argv, const char *name);

/**
 * Before cases whose times say nothing on a loaded machine: see for 0.2 s how
 * busy its processors are with others. Lines from then on have that share as
 * "busy". With --quiet, wait until it is below a tenth, and exit 4 with a
 * sentence where it is not within a minute.
 */
void bench_settle(void);

/** Repetitions asked for. */
int bench_reps(void);

/** Whether --quick was given: small sizes, for a smoke test. */
bool bench_quick(void);

/** Add one sample; more than BENCH_REPS_MAX are ignored. */
void bench_add(struct bench_samples *samples, double value);

double bench_median(const struct bench_samples *samples);

/**
 * Print one case.
 *
 * @unit     of the samples, "us", "ns", "ms", "MiB"
 * @against  name of the floor or peer; NULL when there is none
 * @peer     its samples, in the same unit
 */
void bench_report(const char *name, const char *unit,
                  const struct bench_samples *samples, const char *against,
                  const struct bench_samples *peer);

/**
 * More about the case that is reported next.
 *
 * @members  of its line of JSON, each with a comma before it
 * @words    for its row of the table
 */
void bench_also(const char *members, const char *words);

/**
 * What this program prints, a number, when it is run once more: for what is
 * chosen once per process.
 *
 * @settings  of its environment, "NAME=value" words; @words  its arguments
 * Return: the number; negative when it failed or printed none
 */
double bench_ask(const char *settings, const char *words);

/** The same for `count` numbers. Return: whether they are there */
bool bench_ask_more(const char *settings, const char *words, double *values,
                    int count);

/** Now, in nanoseconds. */
uint64_t bench_now(void);

#endif

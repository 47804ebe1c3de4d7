/*
 * Running one program to its end and keeping what it says.
 *
 * Owns the child process, its pipes and its time limit. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_CHILD_H
#define BENCH_PARBOIL_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define CHILD_WORDS_MAX 32
#define CHILD_PAIRS_MAX 12
#define CHILD_TEXT_MAX  16384

struct child {
    const char *words[CHILD_WORDS_MAX]; /* the command, NULL at the end */
    const char *names[CHILD_PAIRS_MAX]; /* of environment variables */
    const char *values[CHILD_PAIRS_MAX];
    int word_count, pair_count;
    double limit_s; /* killed after this time */

    int status;    /* of wait4 */
    double used_s; /* processor time of all its processes */
    /* Clock where it was started, and where the process had ended; what it left
     * behind may live on. */
    double started_s, ended_s;
    bool in_time;
    char out[CHILD_TEXT_MAX], err[CHILD_TEXT_MAX]; /* the beginning of each */
};

/** Set by the caller's signal handler: ends the child that runs. */
extern volatile sig_atomic_t child_interrupted;

void child_word(struct child *child, const char *word);
void child_variable(struct child *child, const char *name, const char *value);

/**
 * Run the command.
 *
 * Return: true when it ended by itself with status 0; otherwise `why` has one
 *         line, from the program's stderr where there is one
 */
bool child_run(struct child *child, char *why, size_t why_bytes);

#endif

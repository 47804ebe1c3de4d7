/*
 * Processes that repeat something in turns: all are set up first, then one after
 * the other does it once, and so on, so that what a machine does meanwhile falls
 * on all of them alike. Each is this program again, and prints a number for each
 * turn.
 *
 * One thread, no locks.
 */
#ifndef BENCH_ACCESS_TURNS_H
#define BENCH_ACCESS_TURNS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct turns {
    pid_t pid;
    FILE *to, *from;
};

/**
 * Start one, and wait until it is set up.
 *
 * @settings  of its environment, "NAME=value" words; @words  its arguments
 * Return: whether it is; else it has ended
 */
bool turns_start(struct turns *child, const char *settings, const char *words);

/** One turn. Return: whether *value is what it has printed */
bool turns_take(struct turns *child, double *value);

/** No more turns. Return: whether it printed `count` numbers and ended well */
bool turns_end(struct turns *child, double *values, int count);

/** In the child: it is set up. */
void turns_ready(void);

/** In the child: wait for the next turn, if there is somebody to give it. */
void turns_await(void);

#endif

/*
 * Command line of adsm-run: what was asked for, checked.
 */
#ifndef ADSM_RUN_ARGS_H
#define ADSM_RUN_ARGS_H

#include <stdbool.h>

/** What to do with the command line. */
enum args_verdict {
    ARGS_RUN,     /* run args->program           */
    ARGS_HELP,    /* print the help, exit 0      */
    ARGS_VERSION, /* print the version, exit 0   */
    ARGS_WRONG    /* already said why, exit 2    */
};

/** One variable for the program's environment. */
struct args_setting {
    const char *name;
    const char *value;
};

#define ARGS_MOST_SETTINGS 64

struct args {
    bool soft;      /* run on the software device              */
    bool mpi;       /* of a program that loads MPI by itself   */
    bool gdb;       /* in the debugger                         */
    char **program; /* program and its arguments, NULL at the end */
    int settings;
    struct args_setting setting[ARGS_MOST_SETTINGS];
};

/**
 * Read the command line of `main`.
 *
 * @argv  ends with NULL and outlives `args`, which points into it
 * Return: what to do; ARGS_WRONG after one message on stderr
 */
enum args_verdict args_parse(struct args *args, char **argv);

/** Print the help text on stdout. */
void args_help(void);

#endif

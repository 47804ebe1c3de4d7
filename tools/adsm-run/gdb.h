/*
 * Running a program in gdb, with commands for shared memory (adsm-gdb.py).
 */
#ifndef ADSM_RUN_GDB_H
#define ADSM_RUN_GDB_H

#include "args.h"

/**
 * Become gdb.
 *
 * @argv  of main, from which `args` was read
 * Return: an exit status, after one message on stderr
 */
int gdb_run(char **argv, const struct args *args);

#endif

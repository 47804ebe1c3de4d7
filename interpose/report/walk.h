/*
 * Who calls: the return addresses on the stack, innermost first.
 *
 * The way up is found by what compilers write down for it (libgcc), which takes
 * some microseconds. So each thread keeps a few ways it has found: one that begins
 * at the same place of the stack, and whose return addresses all lie where they
 * did, is the same.
 */
#ifndef INTERPOSE_REPORT_WALK_H
#define INTERPOSE_REPORT_WALK_H

#include <stdbool.h>
#include <stdint.h>

enum { REPORT_WALK_MOST = 16 };

/** Once, before the other. Return: false: nobody can find the way */
bool report_walk_start(void);

/**
 * The return addresses above the caller.
 *
 * Return: how many, at most REPORT_WALK_MOST
 * Thread: any, no lock held. Signal: never
 */
unsigned report_walk(uintptr_t at[REPORT_WALK_MOST]);

#endif

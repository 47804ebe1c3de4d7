/*
 * How many processors this process may use: those it is bound to, and no more
 * than its control groups pay for.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_EXEC_PROCESSORS_H
#define SOFTCUDA_EXEC_PROCESSORS_H

#include <stdint.h>

/** Return: at least 1. Thread: any. Signal: never. */
uint32_t sc_processors(void);

/**
 * Processors that the control group of a process, and those above it, allow
 * (version 2, cpu.max).
 *
 * @of   file that says which group, as /proc/self/cgroup
 * @root folder of the groups, as /sys/fs/cgroup
 * Return: rounded up; UINT32_MAX = as many as there are
 * Thread: any
 * Signal: never
 */
uint32_t sc_processors_paid(const char *of, const char *root);

#endif

/*
 * Counters of SOFTCUDA_STATS=1 and of softcudaStats().
 */
#ifndef SOFTCUDA_DRIVER_STATS_H
#define SOFTCUDA_DRIVER_STATS_H

#include <stdint.h>

struct sc_kernel_stats;
struct sc_result;

/** Counters of all kernels of one name; live for ever.
 *  Return: NULL when memory ran out. Thread: any. */
struct sc_kernel_stats *sc_stats_kernel(const char *name);

/** A launch ended. @why not native; "" = no reason given.
 *  Thread: any; one at a time for a kernel. */
void sc_stats_kernel_ran(struct sc_kernel_stats *stats,
                         const struct sc_result *result, const char *why);

#endif

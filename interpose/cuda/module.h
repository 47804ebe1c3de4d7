/*
 * What kernels may write, for launches: modules whose PTX the program gave to
 * the driver, and the kernels it took out of them.
 *
 * A kernel that is not known here (machine code, a library, a graph's) may
 * write to everything.
 */
#ifndef INTERPOSE_CUDA_MODULE_H
#define INTERPOSE_CUDA_MODULE_H

#include "interpose/cuda/types.h"
#include "tools/softcuda/ptx/access.h"

#include <stdbool.h>

/** Copy what is known of a kernel, whose module is read when the first of its
 *  kernels is asked for. Return: false: nothing. Thread: any. */
bool cuda_module_reach(CUfunction function, struct sc_reach *reach);

/** Contexts end, and with them modules: forget them all. Thread: any. */
void cuda_module_forget(void);

#endif

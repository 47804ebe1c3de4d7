/*
 * What kernels may touch, for launches: images whose PTX the program gave to
 * the driver, and the kernels it took out of them.
 *
 * A kernel that is not known here (machine code, a graph's, one that was found
 * in another way) may touch everything. Handles of modules, libraries, kernels
 * and functions are the driver's.
 */
#ifndef INTERPOSE_CUDA_MODULE_H
#define INTERPOSE_CUDA_MODULE_H

#include "interpose/cuda/arguments.h"
#include "ptx/access.h"

#include <stdbool.h>

/** The driver loaded an image (NULL: nobody knows which). Thread: any. */
void cuda_module_loaded(const void *handle, const void *image);

/** A library was asked for its module. Thread: any. */
void cuda_module_of_library(const void *module, const void *library);

/** A module or a library is gone, with all that is of it. Thread: any. */
void cuda_module_unloaded(const void *handle);

/** A function or kernel of that name was asked for. Thread: any. */
void cuda_module_kernel(const void *handle, const void *image,
                        const char *name);

/** A kernel was asked for its function. Thread: any. */
void cuda_module_function_of(const void *function, const void *kernel);

/** Copy what is known of a kernel, whose image is read when the first of its
 *  kernels is asked for. Return: false: nothing. Thread: any. */
bool cuda_module_reach(CUfunction function, struct sc_reach *reach);

/**
 * What a launch of a kernel touches, if its parameters are to be had.
 *
 * Return: false: nothing is known but cuda_module_reach. Thread: any
 */
bool cuda_module_touched(CUfunction function,
                         const struct sc_geometry *geometry,
                         const struct cuda_arguments *a,
                         struct sc_touched *touched);

/** Contexts end, and with them modules: forget them all. Thread: any. */
void cuda_module_forget(void);

#endif

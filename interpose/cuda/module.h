/*
 * The records of the program's kernels (code/code.h), by the handles that the
 * driver gave for them: of images with PTX, and of the kernels taken out of them.
 *
 * A kernel that is not known here (machine code, a graph's, one that was found
 * in another way) may touch everything. Handles of modules, libraries, kernels
 * and functions are the driver's.
 */
#ifndef INTERPOSE_CUDA_MODULE_H
#define INTERPOSE_CUDA_MODULE_H

#include "code/code.h"
#include "interpose/cuda/types.h"

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

/** The record of what is launched as `function`, held until it is released;
 *  NULL: there is none. Inside of hook_enter. Thread: any. */
struct adsm_code *cuda_module_hold(CUfunction function);
void cuda_module_release(struct adsm_code *code);

/** Contexts end, and with them modules: forget them all. Thread: any. */
void cuda_module_forget(void);

#endif

/*
 * The argument list of a launch as cuLaunchKernel has it: a pointer to each
 * value, or `extra`, where the driver may read it (device/arguments.h).
 */
#ifndef INTERPOSE_CUDA_ARGUMENTS_H
#define INTERPOSE_CUDA_ARGUMENTS_H

#include "interpose/cuda/types.h"
#include "interpose/device/arguments.h"

enum { CUDA_EXTRA_MOST = 8 };

/** What the driver is given, and copies of what lies in shared memory. */
struct cuda_arguments {
    uint64_t age; /* of the kernel's handle: cuda_params_age              */
    void **params;
    void **extra;
    struct device_arguments list;
    void *copied_extra[CUDA_EXTRA_MOST];
};

/**
 * Fill in `a` for a launch of the kernel with `params` or `extra`, as
 * cuLaunchKernel has them. May wait for the device, whose the memory may be.
 *
 * Return: an error is the launch's
 */
CUresult cuda_arguments_resolve(struct cuda_arguments *a, CUfunction kernel,
                                void **params, void **extra);

/** Bytes [from, +bytes) of the program, which may be shared, to plain memory. */
CUresult cuda_arguments_fetch(void *to, const void *from, size_t bytes);

#endif

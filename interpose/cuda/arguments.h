/*
 * The argument list of a launch, where the driver may read it.
 *
 * The driver reads the values of a kernel's parameters, which may lie in shared
 * memory that the launch closes to the CPU. Those are copied before; all else
 * is passed on as it is. Does not know what a launch is, nor what kernels do
 * with their arguments.
 */
#ifndef INTERPOSE_CUDA_ARGUMENTS_H
#define INTERPOSE_CUDA_ARGUMENTS_H

#include "interpose/cuda/params.h"
#include "ptx/access.h"

enum { CUDA_ARGUMENT_BYTES_MOST = 4096, CUDA_EXTRA_MOST = 8 };

/** What the driver is given, and copies of what lies in shared memory. */
struct cuda_arguments {
    void **params;
    void **extra;
    const char *buffer; /* that `extra` gives, or NULL                      */
    size_t extra_bytes;
    struct cuda_params known; /* of the kernel                              */
    void *copied_params[ADSM_PARAMETERS_MOST];
    void *copied_extra[CUDA_EXTRA_MOST];
    char values[CUDA_ARGUMENT_BYTES_MOST];
};

/**
 * Fill in `a` for a launch of the kernel with `params` or `extra`, as
 * cuLaunchKernel has them. May wait for the device, whose the memory may be.
 *
 * Return: an error is the launch's
 */
CUresult cuda_arguments_resolve(struct cuda_arguments *a, CUfunction kernel,
                                void **params, void **extra);

/** Where eight bytes of the arguments are; NULL: nobody can tell. */
const char *cuda_arguments_at(const struct cuda_arguments *a,
                              const struct sc_place *place);

/** The values of all parameters, in one piece, as the kernel has them. Return:
 *  how many bytes; 0: nobody can tell, or they have no room */
size_t cuda_arguments_gather(const struct cuda_arguments *a, uint8_t *to,
                             size_t room);

/** Bytes [from, +bytes) of the program, which may be shared, to plain memory. */
CUresult cuda_arguments_fetch(void *to, const void *from, size_t bytes);

#endif

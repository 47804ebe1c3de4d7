/*
 * Where the parameters of a kernel lie, for launches.
 *
 * What the driver said of a function is kept under its handle. Handles return:
 * whatever ends modules, libraries or contexts must forget everything first.
 * No lock: a place that is being written, or has been for another function, is
 * as good as empty, and the driver is asked again.
 */
#ifndef INTERPOSE_CUDA_PARAMS_H
#define INTERPOSE_CUDA_PARAMS_H

#include "interpose/cuda/types.h"

enum { CUDA_PARAMS_MOST = 256 };

struct cuda_params {
    unsigned count; /* 0 also when the driver cannot tell, or refuses to    */
    struct cuda_param {
        uint16_t offset, bytes; /* in the list of all of them               */
    } at[CUDA_PARAMS_MOST];
};

/** The parameters of a kernel; CUDA_PARAMS_MOST at most. Thread: any. */
void cuda_params_of(CUfunction kernel, struct cuda_params *params);

/**
 * Functions are about to end. Before the driver's call that ends them: behind
 * it another thread may have one of their handles already, for another.
 *
 * Thread: any
 */
void cuda_params_forget(void);

#endif

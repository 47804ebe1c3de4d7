/*
 * Where the parameters of a kernel lie, for launches.
 *
 * What its record says (module.h), or the driver of a function that has none, is
 * kept under its handle. Handles return: whatever ends modules, libraries or
 * contexts must forget everything first. No lock: a place that is being written, or has been for another function, is
 * as good as empty, and is filled again.
 */
#ifndef INTERPOSE_CUDA_PARAMS_H
#define INTERPOSE_CUDA_PARAMS_H

#include "interpose/cuda/types.h"
#include "interpose/device/arguments.h"

/** The parameters of a kernel. Thread: any. */
void cuda_params_of(CUfunction kernel, struct device_params *params);

/**
 * Functions are about to end. Before the driver's call that ends them: behind
 * it another thread may have one of their handles already, for another.
 *
 * Thread: any
 */
void cuda_params_forget(void);

#endif

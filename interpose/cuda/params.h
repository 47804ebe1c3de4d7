/*
 * Where the parameters of a kernel lie, for launches.
 *
 * What its record says (module.h), or the driver of a function that has none, is
 * kept under its handle. Handles return: whatever ends modules, libraries or
 * contexts must forget everything first. No lock (base/cell.h).
 */
#ifndef INTERPOSE_CUDA_PARAMS_H
#define INTERPOSE_CUDA_PARAMS_H

#include "interpose/cuda/types.h"
#include "interpose/device/arguments.h"

/** Grows when functions have ended: who remembers something under a handle
 *  remembers this with it. Thread: any. Signal: any handler */
uint64_t cuda_params_age(void);

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

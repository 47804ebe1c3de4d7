/*
 * Contexts of the program, and the accelerators that are theirs.
 */
#ifndef INTERPOSE_CUDA_CONTEXT_H
#define INTERPOSE_CUDA_CONTEXT_H

#include "interpose/cuda/resolve.h"
#include "interpose/device/adopt.h"
#include "interpose/device/serve.h"

/**
 * The accel of the calling thread's context, for an allocation: brings the
 * runtime up at the first call. NULL: hand the call to the driver (no context,
 * no runtime, or a strategy that cannot share addresses; said once).
 *
 * Return: CUDA_ERROR_OUT_OF_MEMORY: the host has no memory or no mappings for
 *         it just now, and memory of the driver's own would not be shared
 */
CUresult cuda_accel_serving(struct adsm_accel **accel);

/** The accel of the calling thread's context, made if it has none, whatever there
 *  is of shared memory. NULL: no context, or no runtime. */
struct adsm_accel *cuda_accel_made(void);

/** The accel of the calling thread's context when it has one, else NULL. */
struct adsm_accel *cuda_accel_current(void);

/**
 * A call of the program that destroys a context: first cuda_context_part, then
 * the real call, then cuda_context_parted. The objects go last: the driver
 * stops the kernels and transfers that use them, and nobody else can.
 */
struct cuda_parting {
    struct adsm_accel *accel; /* NULL: nothing of ours in the context */
    CUcontext context;
    struct device_going going;
};

struct cuda_parting cuda_context_part(CUcontext context);

/** The real call answered `result`. Return: `result` */
CUresult cuda_context_parted(struct cuda_parting parting, CUresult result);

#endif

/*
 * Calls in the sense of the paper, as hooks make them: everything that a kernel
 * may reach is released to the device before the driver is called.
 *
 * cuda_call_of, then cuda_release, the driver's call, cuda_called. Between the
 * two middle ones the program's memory is not touched: gates are closed.
 */
#ifndef INTERPOSE_CUDA_RELEASE_H
#define INTERPOSE_CUDA_RELEASE_H

#include "interpose/cuda/work.h"

/** A call that may read and write every object; its accel is NULL where there
 *  is nothing to keep coherent, and then the driver is called right away. */
struct adsm_call cuda_call_of(struct cuda_order order);

/** Return: an error is the call's; the driver is not called */
CUresult cuda_release(struct adsm_call *call);

/** The driver answered `result`. Return: what the program is answered */
CUresult cuda_called(const struct adsm_call *call, CUresult result);

#endif

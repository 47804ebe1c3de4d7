/*
 * Copies of three dimensions in the driver's terms, for graph nodes too.
 */
#ifndef SOFTCUDA_CUDART_SHAPED_H
#define SOFTCUDA_CUDART_SHAPED_H

#include "cudart/rt.h"

/**
 * A copy as the driver describes it.
 *
 * @p what the program asks; @c receives it
 * Return: cudaSuccess, cudaErrorInvalidValue,
 *         cudaErrorInvalidMemcpyDirection, what the driver said of an array
 * Thread: any
 */
cudaError_t sc_rt_shape(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c);

#endif

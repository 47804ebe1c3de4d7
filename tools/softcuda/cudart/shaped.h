/*
 * Copies of two and three dimensions in the driver's terms, for graph nodes
 * too.
 */
#ifndef SOFTCUDA_CUDART_SHAPED_H
#define SOFTCUDA_CUDART_SHAPED_H

#include "cudart/copy.h"
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

/**
 * Copy a rectangle into an array, out of one, or between two.
 *
 * @x, @dx, @sx, @width in bytes; @y, @dy, @sy, @height in rows
 * Return: cudaSuccess, cudaErrorInvalidMemcpyDirection,
 *         cudaErrorInvalidPitchValue, what the driver said
 * Thread: any
 */
cudaError_t sc_rt_to_array(cudaArray_t dst, size_t x, size_t y, const void *src,
                           size_t spitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind, struct sc_rt_when when);
cudaError_t sc_rt_from_array(void *dst, size_t dpitch, cudaArray_const_t src,
                             size_t x, size_t y, size_t width, size_t height,
                             enum cudaMemcpyKind kind, struct sc_rt_when when);
cudaError_t sc_rt_between_arrays(cudaArray_t dst, size_t dx, size_t dy,
                                 cudaArray_const_t src, size_t sx, size_t sy,
                                 size_t width, size_t height,
                                 struct sc_rt_when when);

#endif

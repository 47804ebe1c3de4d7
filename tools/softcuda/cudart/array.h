/*
 * Arrays and their channel formats in the driver's terms.
 */
#ifndef SOFTCUDA_CUDART_ARRAY_H
#define SOFTCUDA_CUDART_ARRAY_H

#include "cudart/rt.h"

/**
 * Size of an array's element, all channels together.
 *
 * @bytes receives it
 * Return: cudaSuccess, what the driver said of the array
 * Thread: any, after sc_rt_enter
 */
cudaError_t sc_rt_array_element(cudaArray_const_t array, size_t *bytes);

/**
 * Shape of an array without depth.
 *
 * @row receives the bytes of a row, @rows how many there are
 * Return: cudaSuccess, what the driver said of the array
 * Thread: any
 */
cudaError_t sc_rt_array_rows(cudaArray_const_t array, size_t *row,
                             size_t *rows);

/**
 * The driver's format for a channel description.
 *
 * @channels receives how many there are
 * Return: cudaSuccess, cudaErrorInvalidChannelDescriptor
 * Thread: any
 */
cudaError_t sc_rt_format(const struct cudaChannelFormatDesc *desc,
                         CUarray_format *format, unsigned *channels);

/**
 * The reverse.
 *
 * Thread: any
 */
struct cudaChannelFormatDesc sc_rt_channels(CUarray_format format,
                                            unsigned channels);

#endif

/*
 * PTX out of what a program gives the driver, in the driver's terms.
 */
#ifndef SOFTCUDA_DRIVER_IMAGE_H
#define SOFTCUDA_DRIVER_IMAGE_H

#include "driver/driver.h"
#include "ptx/fatbin.h"

/**
 * sc_fatbin_find for this device.
 *
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_IMAGE (damaged),
 *         CUDA_ERROR_NO_BINARY_FOR_GPU (no usable PTX),
 *         CUDA_ERROR_OUT_OF_MEMORY
 * Thread: any
 */
static inline CUresult sc_image_find(const void *image, struct sc_text *text,
                                     char *why, size_t why_bytes)
{
    static const CUresult results[] = {
        [SC_IMAGE_FOUND] = CUDA_SUCCESS,
        [SC_IMAGE_DAMAGED] = CUDA_ERROR_INVALID_IMAGE,
        [SC_IMAGE_NO_CODE] = CUDA_ERROR_NO_BINARY_FOR_GPU,
        [SC_IMAGE_NO_MEMORY] = CUDA_ERROR_OUT_OF_MEMORY};
    return results[sc_fatbin_find(image, SC_SM, text, why, why_bytes)];
}

#endif

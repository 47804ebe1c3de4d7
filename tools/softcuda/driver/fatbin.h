/*
 * PTX text out of images: text itself, fat binaries, their wrappers.
 */
#ifndef SOFTCUDA_DRIVER_FATBIN_H
#define SOFTCUDA_DRIVER_FATBIN_H

#include <stddef.h>

#include "driver/driver.h"

/** PTX text of one module; ends in a NUL that `bytes` does not count. */
struct sc_text {
    char *text; /* malloc'ed */
    size_t bytes;
};

/**
 * Find the PTX that suits the device best in an image, decompress it, and
 * join the parts of a relocatable program into one text.
 *
 * Sizes and offsets inside the image are not trusted: one that leads out of
 * readable memory or expands without end is refused.  Plain text must end in
 * a NUL, as cuModuleLoadData demands.
 *
 * @image as given to cuModuleLoadData; @text receives the PTX, to be freed
 * @why   receives one sentence when there is none
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_IMAGE (damaged),
 *         CUDA_ERROR_NO_BINARY_FOR_GPU (no usable PTX),
 *         CUDA_ERROR_OUT_OF_MEMORY
 * Thread: any
 */
CUresult sc_fatbin_find(const void *image, struct sc_text *text, char *why,
                        size_t why_bytes);

#endif

/*
 * CUDA arrays: texels in device memory that only copies, textures and
 * surfaces reach.
 */
#ifndef SOFTCUDA_DRIVER_ARRAY_H
#define SOFTCUDA_DRIVER_ARRAY_H

#include "driver/copy.h"
#include "driver/driver.h"

/** Fixed from its creation on, but for the list. */
struct CUarray_st {
    CUarray next; /* array lock */
    CUcontext ctx;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    uint64_t address, pitch, slice; /* bytes from row to row, slice to slice */
    unsigned texel_bytes;
};

/** Bytes of one texel; 0: no such format, or not this many channels. */
unsigned sc_array_texel(CUarray_format format, unsigned channels);

/** Rows and slices (or layers) of an array, where a copy counts them. */
uint64_t sc_array_rows(CUarray array);
uint64_t sc_array_slices(CUarray array);

/**
 * One side of a copy that is part of an array.
 *
 * @array may be anything; @x in bytes, @y in rows, @z in slices
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_VALUE
 *         (outside of the array)
 * Thread: any
 */
CUresult sc_array_side(CUarray array, size_t x, size_t y, size_t z,
                       const struct sc_copy *copy, struct sc_copy_side *side);

/** Forget the arrays of a context that ends; their memory goes with it. */
void sc_array_free_context(CUcontext ctx);

/** Forget its texture and surface objects. */
void sc_texture_free_context(CUcontext ctx);

#endif

/*
 * A shaped copy between host memory and device memories, and how its bytes
 * are moved by the host side.
 */
#ifndef SOFTCUDA_DRIVER_COPY_H
#define SOFTCUDA_DRIVER_COPY_H

#include "driver/driver.h"

struct sc_device;

/** One side: rows at base + y * pitch + z * slice. */
struct sc_copy_side {
    uint64_t base;
    uint64_t pitch, slice;
    struct sc_device *device; /* NULL: host memory */
};

struct sc_copy {
    struct sc_copy_side dst, src;
    uint64_t width, height, depth; /* bytes, rows, slices */
};

/** A plain copy of `bytes`; sides are classified by sc_copy_classify. */
void sc_copy_linear(struct sc_copy *copy, uint64_t dst, uint64_t src,
                    uint64_t bytes);

/**
 * Decide by the value of each address whether it is device or host memory,
 * as unified addressing does, and check that device ranges are allocated.
 *
 * @ctx whose device must have access
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE
 * Thread: any; takes the memory lock
 */
CUresult sc_copy_classify(struct sc_copy *copy, CUcontext ctx);

/** Bytes the copy moves. */
uint64_t sc_copy_bytes(const struct sc_copy *copy);

/** Is every host side page-locked, so the copy may outlive the call? */
bool sc_copy_is_pinned(const struct sc_copy *copy);

/** Does the copy take no longer than waking another thread for it? */
bool sc_copy_is_short(const struct sc_copy *copy);

/**
 * Move the bytes from the host process: upload, download, between devices,
 * or between host buffers.  Not for copies within one device.
 *
 * Return: CUDA_SUCCESS; CUDA_ERROR_INVALID_VALUE when a host buffer is not
 *         readable or writable (part may have been moved)
 * Thread: any, no lock held
 */
CUresult sc_copy_run(const struct sc_copy *copy);

#endif

/*
 * Copies and sets of objects that have no device memory just now (see
 * mm/residence.h): made by the CPU, on the host part, in place of the driver.
 *
 * They wait for their stream first and are done when they return, whether the
 * program called them asynchronous or not. What cannot be made here (rows with a
 * pitch, memory of the driver's own on the other side) is left to the driver,
 * after the object has become resident.
 */
#ifndef INTERPOSE_CUDA_AWAY_H
#define INTERPOSE_CUDA_AWAY_H

#include "interpose/cuda/work.h"

/** One side of a copy. */
struct cuda_side {
    CUdeviceptr at;
    bool on_host; /* plain memory there is the host's                     */
};

/**
 * Make the copy here if a side of it is away. Sides without an address are none.
 *
 * @result  the program's answer, where it was
 * Return: whether it was made, or failed
 * Thread: any. Signal: never
 */
bool cuda_away_copy(struct cuda_order order, struct cuda_side to,
                    struct cuda_side from, size_t bytes, CUresult *result);

/** The same for `bytes` set to copies of `value`, `element` bytes each, 4 at
 *  most. */
bool cuda_away_set(struct cuda_order order, CUdeviceptr to, const void *value,
                   size_t element, size_t bytes, CUresult *result);

#endif

/*
 * Functions of the driver that the hooks call for themselves.
 *
 * They are not hooked, or are called behind their hooks; resolved with the
 * driver. All return the driver's own result.
 */
#ifndef INTERPOSE_CUDA_DRIVER_H
#define INTERPOSE_CUDA_DRIVER_H

#include "interpose/cuda/resolve.h"

/** The calling thread's context; NULL when there is none, or no driver. */
CUcontext cuda_driver_context(void);

/** Make a context current in place of the thread's own until the pop.
 *  Return: whether it is. */
bool cuda_driver_push(CUcontext context);
void cuda_driver_pop(void);

/** The device of a context. */
CUresult cuda_driver_device(CUcontext context, CUdevice *device);

/** Wait for the current context; its first error. */
CUresult cuda_driver_synchronize(void);

/** Wait for one stream (handles of cuda_order). */
CUresult cuda_driver_wait(CUstream stream);

/**
 * Wait for what a stream (handles of cuda_order) has so far, or for an event,
 * in slices between which handlers of the program run (base/slices.h).
 *
 * Return: the driver's answer when it is over; CUDA_ERROR_NOT_READY: nobody
 *         minds if the driver waits
 */
CUresult cuda_driver_await_stream(CUstream stream);
CUresult cuda_driver_await_event(CUevent event);

/** Whether the stream is capturing. */
bool cuda_driver_is_capturing(CUstream stream);

/** Compute capability of the devices, 90 for 9.0; 0: they differ, or nobody can
 *  tell. */
unsigned cuda_driver_capability(void);

/**
 * Where parameter `index` of a kernel lies in its list, in bytes.
 *
 * Return: CUDA_ERROR_INVALID_VALUE past the last one, CUDA_ERROR_NOT_FOUND
 *         when the driver has no function that could tell
 */
CUresult cuda_driver_parameter(CUfunction kernel, unsigned index,
                               size_t *offset, size_t *bytes);

#endif

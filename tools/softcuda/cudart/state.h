/*
 * Changes of the calling thread's device and of primary contexts, for the
 * entry points about devices.
 */
#ifndef SOFTCUDA_CUDART_STATE_H
#define SOFTCUDA_CUDART_STATE_H

#include "cudart/rt.h"

#define SC_RT_DEVICES 64

/**
 * Make a device the calling thread's and its primary context current.
 *
 * @device ordinal
 * Return: cudaSuccess, cudaErrorInvalidDevice, what the driver said
 * Thread: any
 */
cudaError_t sc_rt_bind(int device);

/**
 * End a device's primary context with everything in it; the next call that
 * needs it makes a fresh one.
 *
 * @device ordinal, valid
 * Return: cudaSuccess, what the driver said
 * Thread: any; other threads must not be using the device
 */
cudaError_t sc_rt_reset(int device);

#endif

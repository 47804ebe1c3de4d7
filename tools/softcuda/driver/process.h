/*
 * Starting a device process and noticing its end.
 */
#ifndef SOFTCUDA_DRIVER_PROCESS_H
#define SOFTCUDA_DRIVER_PROCESS_H

#include "driver/driver.h"

struct sc_device;

/**
 * Start the process of a device, connect its channel, watch for its end.
 *
 * @device with its memory file and channel memory in place
 * Return: CUDA_SUCCESS, CUDA_ERROR_OPERATING_SYSTEM (said why on stderr)
 * Thread: holds the start lock
 */
CUresult sc_process_start(struct sc_device *device);

/** Path of the device program, found once. NULL when there is none. */
const char *sc_process_program(void);

#endif

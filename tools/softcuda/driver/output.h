/*
 * What kernels print, on its way to the program's stdout.
 */
#ifndef SOFTCUDA_DRIVER_OUTPUT_H
#define SOFTCUDA_DRIVER_OUTPUT_H

#include "driver/device.h"

/** As sc_output_drain, when there is something. */
void sc_output_pass_on(struct sc_device *device);

/**
 * Write what a device's kernels have printed so far to stdout.  Where CUDA
 * does so: launches, waits for a context, stream or event, blocking copies,
 * loading and unloading modules, the end of a context.
 *
 * Thread: any, no lock held
 * Signal: inside a fault handler it leaves the output for the next call
 */
static inline void sc_output_drain(struct sc_device *device)
{
    const struct sc_shared *shared = device->channel.shared;
    if (shared &&
        atomic_load_explicit(&shared->printed, memory_order_relaxed) !=
            atomic_load_explicit(&device->print_taken, memory_order_relaxed))
        sc_output_pass_on(device);
}

/** Set CU_LIMIT_PRINTF_FIFO_SIZE. Return: the size it became, in bytes. */
size_t sc_output_limit(struct sc_device *device, size_t bytes);

#endif
